// Signature: shows a receiver that a message comes from here, is unchanged, and is fresh.
//
//   webhook-id         the event's
//   webhook-timestamp  when it was sent: whole seconds since 1970
//   webhook-signature  "v1," and the base64 of HMAC-SHA256(key, "ID.TIMESTAMP.BODY"); receivers
//                      take a list of them, with blanks between
//
// Why:      this is the form of the Standard Webhooks specification (1.0.0), for which receivers
//           find libraries in their language.
// Contract: pure. A secret "whsec_…" is base64 of the key; any other text is the key itself. A key
//           is never printed. verify() compares in constant time.
#pragma once

#include <string>
#include <string_view>

#include "base/secret.h"
#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl::webhook {

// Of a secret as it is configured. The error says what a secret must look like, never what it is.
Result<Secret<std::string>> key_of(const Secret<std::string>& secret);

// What is signed.
struct Message {
  std::string_view id;
  std::string_view timestamp;
  std::string_view body;
};

// As a field's value.
std::string timestamp_of(Instant now);
std::string sign(const Secret<std::string>& key, const Message& message);

// For receivers: whether one of the signatures is right, and the message not older than `tolerance`
// nor as far ahead. Errors: refused.
struct Freshness {
  Instant now;
  Duration tolerance = Duration::minutes(5);
};
Result<void> verify(const Secret<std::string>& key, const Message& message,
                    std::string_view signatures, const Freshness& freshness);

}  // namespace pawl::webhook
