#include "base/hmac.h"

#include <cstddef>
#include <string>

namespace pawl {
namespace {

constexpr std::size_t block_bytes = 64;

std::string_view text_of(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

std::string with_each(std::string block, char mask) {
  for (char& c : block) c = static_cast<char>(c ^ mask);
  return block;
}

}  // namespace

Digest hmac_sha256(std::string_view key, std::string_view message) {
  const Digest hashed = sha256(key);
  std::string block(key.size() > block_bytes ? text_of(hashed) : key);
  block.resize(block_bytes, '\0');
  Sha256 inner;
  inner.update(with_each(block, 0x36));
  inner.update(message);
  const Digest inside = inner.finish();
  Sha256 outer;
  outer.update(with_each(block, 0x5c));
  outer.update(text_of(inside));
  return outer.finish();
}

}  // namespace pawl
