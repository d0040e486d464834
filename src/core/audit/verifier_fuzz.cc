// Goal: no bytes, however cut, make the verifier crash, hang or change its mind.
// Method: the same input at once and in two pieces.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/assert.h"
#include "core/audit/verifier.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pawl::audit;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Verifier at_once;
  at_once.take(text);
  Verifier in_pieces;
  in_pieces.take(text.substr(0, size / 2));
  in_pieces.take(text.substr(size / 2));
  const auto expected = at_once.finish();
  const auto found = in_pieces.finish();
  PAWL_ASSERT(found.has_value() == expected.has_value());
  PAWL_ASSERT(!found || found->message == expected->message);
  PAWL_ASSERT(in_pieces.head() == at_once.head());
  return 0;
}
