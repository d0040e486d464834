// Any bytes: the normal form of a path is its own normal form, a path matches a pattern exactly if
// its normal form does, and every path that is a pattern matches itself.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/request/match.h"

using namespace pawl::request;

static void require(bool condition) {
  if (!condition) std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t cut = bytes.find('\n');
  const std::string_view path = bytes.substr(0, cut);
  std::string room;
  const std::string normal(normal_path(path, room));
  require(normal.starts_with('/'));
  std::string untouched;
  require(normal_path(normal, untouched).data() == normal.data());

  if (const auto itself = PathPattern::parse(normal); itself) require(itself->matches(path));
  if (cut == std::string_view::npos) return 0;
  if (const auto pattern = PathPattern::parse(bytes.substr(cut + 1)); pattern) {
    require(pattern->matches(path) == pattern->matches(normal));
  }
  return 0;
}
