#include "core/queue/frame.h"

#include <utility>

#include "base/assert.h"
#include "base/crc32c.h"

namespace pawl::queue {
namespace {

constexpr std::size_t letters_bytes = 8;
constexpr std::size_t length_at = letters_bytes + sizeof(std::uint32_t);
constexpr std::size_t head_bytes = length_at + sizeof(std::uint64_t);
constexpr std::size_t sum_bytes = sizeof(std::uint32_t);

std::unexpected<Error> damaged(const std::string& why) {
  return failure(Code::invalid, "is damaged: " + why);
}

std::string number(std::uint64_t value) {
  return std::to_string(value);
}

}  // namespace

void Frame::begin(ByteWriter& out) const {
  PAWL_ASSERT(letters.size() == letters_bytes && out.size() == 0);
  out.raw(letters);
  out.fixed32(queue_format);
  out.fixed64(0);  // finish() knows it
}

Result<std::string> Frame::finish(ByteWriter out) const {
  const std::size_t length = out.size() + sum_bytes;
  if (length > bytes_max) {
    return failure(Code::invalid, "would have " + number(length) + " bytes, and " +
                                      number(bytes_max) + " are the most");
  }
  ByteWriter length_bytes;
  length_bytes.fixed64(length);
  std::string bytes = out.take();
  bytes.replace(length_at, length_bytes.size(), length_bytes.text());
  ByteWriter sum;
  sum.fixed32(crc32c(bytes));
  bytes.append(sum.text());
  return bytes;
}

Result<ByteReader> Frame::open(std::string_view bytes) const {
  if (bytes.size() > bytes_max) {
    return damaged("it has " + number(bytes.size()) + " bytes, and " + number(bytes_max) +
                   " are the most");
  }
  if (bytes.size() < head_bytes + sum_bytes) {
    return damaged("it ends too early at byte " + number(bytes.size()));
  }
  ByteReader in(bytes.substr(0, bytes.size() - sum_bytes));
  if (in.raw(letters_bytes) != letters) {
    return damaged("it does not begin with " + std::string(letters) + " at byte 0");
  }
  const std::uint32_t version = in.fixed32();
  if (const std::uint64_t length = in.fixed64(); length != bytes.size()) {
    return damaged("it should have " + number(length) + " bytes, and has " + number(bytes.size()));
  }
  if (crc32c(bytes.substr(0, bytes.size() - sum_bytes)) !=
      ByteReader(bytes.substr(bytes.size() - sum_bytes)).fixed32()) {
    return damaged("its checksum does not fit its " + number(bytes.size()) + " bytes");
  }
  if (version > queue_format) return written_by_newer(version, queue_format);
  if (version < queue_format) return damaged("there is no format " + number(version));
  return in;
}

std::unexpected<Error> written_by_newer(std::uint64_t format, std::uint64_t known) {
  return failure(Code::refused, "was written by a newer pawl (format " + number(format) +
                                    "); this one reads format " + number(known) + ": update pawl");
}

}  // namespace pawl::queue
