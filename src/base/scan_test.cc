// Goal: the first byte of a kind is found wherever it stands, and none where there is none.
// Method: every length up to where sixteen at a time come twice, every place and every beginning,
//         beside a loop that looks at one byte after the other.
#include "base/scan.h"

#include <gtest/gtest.h>
#include <string>

namespace pawl {
namespace {

struct Dash {
  template <class Bytes>
  Bytes operator()(const char* at) const {
    return equal(bytes_at<Bytes>(at), '-');
  }
};

// A dash behind an x: what looks at the byte before.
struct DashBehindX {
  template <class Bytes>
  Bytes operator()(const char* at) const {
    return static_cast<Bytes>(equal(bytes_at<Bytes>(at), '-') &
                              equal(bytes_at<Bytes>(at - 1), 'x'));
  }
};

constexpr std::size_t sizes = 50;

TEST(Scan, FindsTheFirstByteOfAKindAtEveryPlace) {
  for (std::size_t size = 0; size < sizes; ++size) {
    for (std::size_t from = 0; from <= size; ++from) {
      // On the heap and no longer than it is, so that a sanitizer sees who looks behind it.
      const std::string none(size, 'b');
      EXPECT_EQ(find_byte(none, from, Dash()), size) << size << " from " << from;
      for (std::size_t place = 0; place < size; ++place) {
        std::string text = none;
        text[place] = '-';
        text.back() = '-';
        const std::size_t first = place >= from ? place : (from < size ? size - 1 : size);
        EXPECT_EQ(find_byte(text, from, Dash()), first) << text << " from " << from;
      }
    }
  }
}

TEST(Scan, AKindMayLookAtTheByteBefore) {
  for (std::size_t size = 1; size < sizes; ++size) {
    for (std::size_t place = 1; place < size; ++place) {
      std::string text(size, '-');
      text[place - 1] = 'x';
      EXPECT_EQ(find_byte(text, 1, DashBehindX()), place) << text;
    }
  }
}

TEST(Scan, TellsWhatAJsonStringCannotHaveAsItIs) {
  for (int byte = 0; byte < 256; ++byte) {
    const bool stands = byte >= 0x20 && byte < 0x7F && byte != '"' && byte != '\\';
    for (const std::size_t size : {1u, 8u, 16u, 20u}) {
      std::string text(size, 'b');
      text.back() = static_cast<char>(byte);
      EXPECT_EQ(find_byte(text, 0, Escaped()), stands ? size : size - 1) << byte;
    }
  }
}

}  // namespace
}  // namespace pawl
