// What S3's answers mean.
//
//   put     200 stored          412, 304 exists (another's bytes, or ours of an earlier send)
//           409 busy            404 gone, where If-Match asked
//   any     429, 5xx, 408, RequestTimeout: unavailable, with the wait that was named; of what
//           changes something the outcome is unknown
//           301, 307, 400, 403, 501: refused, with S3's code and what to do
//           404 NoSuchBucket: refused. It is no not_found: whoever reads a log takes that for the
//           log's end
//           anything that S3 does not say (a page of a proxy, a 404 without its code, an error in
//           a 200, half an answer): unavailable
//
// Contract: pure. Errors have S3's code and message, cut and made visible; neither holds a key of
//           ours, for S3 sends none in these two.
#pragma once

#include <string>
#include <string_view>

#include "port/http_client.h"
#include "port/object_store.h"

namespace pawl {

// What was asked, for the words of an error.
struct S3Asked {
  std::string what = {};  // "put log/0/17"
  std::string store = {};
  Instant now = {};      // when the answer came
  bool changes = false;  // then an answer that was lost leaves the outcome unknown
};

Result<PutAnswer> read_put(const S3Asked& asked, const HttpAnswer& answer, PutObject::If only);
Result<Object> read_object(const S3Asked& asked, HttpAnswer answer, const GetObject& get);
// Names without `prefix`, which all keys begin with.
Result<Listing> read_listing(const S3Asked& asked, const HttpAnswer& answer,
                             std::string_view prefix);
Result<void> read_removal(const S3Asked& asked, const HttpAnswer& answer);

// Whether S3 itself said this, and not something on the way: then its Date is S3's clock.
bool is_own(const HttpAnswer& answer);

// Of that name, in lower case; empty when there is none.
std::string_view field_of(const HttpAnswer& answer, std::string_view name);

// Of a call that was not answered.
Error unanswered(const S3Asked& asked, const Error& error);

}  // namespace pawl
