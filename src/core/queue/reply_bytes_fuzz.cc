// Bytes of anybody as the answers of a broker: nothing is read past the end, and what is read
// whole is written again as the same thing.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/assert.h"
#include "core/queue/reply_bytes.h"

namespace {

template <class T>
void look_at(std::string_view bytes) {
  pawl::ByteReader in(bytes);
  T thing;
  read_answer(in, thing);
  if (!in.good()) return;
  pawl::ByteWriter out;
  write_answer(out, thing);
  pawl::ByteReader again(out.text());
  T same;
  read_answer(again, same);
  pawl::ByteWriter once_more;
  write_answer(once_more, same);
  PAWL_ASSERT(again.good() && once_more.text() == out.text());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  look_at<std::vector<pawl::queue::Reply>>(bytes);
  look_at<pawl::queue::History>(bytes);
  look_at<pawl::queue::Stats>(bytes);
  look_at<std::vector<pawl::queue::Schedule>>(bytes);
  look_at<pawl::queue::Why>(bytes);
  return 0;
}
