// Percent-encoding (RFC 3986, section 2.1) of texts that go into a URL.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace pawl {

// Letters, digits, '-', '.', '_' and '~' as they are, and what is in `kept`; all else as %XX.
std::string percent_encoded(std::string_view text, std::string_view kept = {});
// None where a % is not followed by two hex digits. A '+' stays one.
std::optional<std::string> percent_decoded(std::string_view text);

}  // namespace pawl
