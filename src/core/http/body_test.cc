// Goal: a body ends exactly where its framing says, however the bytes were cut on the way; what is
// ambiguous is refused. Method: pinned messages, each fed whole and byte by byte; random chunkings.
#include "core/http/body.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/http/hostile_fixture.h"

namespace pawl::http {
namespace {

struct Read {
  std::string content;
  std::string rest;
  bool done = false;
  std::string refused;
  bool operator==(const Read&) const = default;
};

// Feeds `bytes` in pieces of `step`.
Read read(Framing framing, std::string_view bytes, std::size_t step) {
  BodyReader reader(framing);
  Read result;
  while (!bytes.empty() && !reader.done()) {
    std::string_view piece = bytes.substr(0, step);
    bytes.remove_prefix(piece.size());
    while (!piece.empty() && !reader.done()) {
      const auto content = reader.feed(piece);
      if (!content) {
        result.refused = content.error().reason;
        return result;
      }
      result.content += *content;
    }
    result.rest = piece;
  }
  result.rest += bytes;
  result.done = reader.done();
  return result;
}

Read read_both_ways(Framing framing, std::string_view bytes) {
  const Read whole = read(framing, bytes, bytes.size());
  EXPECT_EQ(whole, read(framing, bytes, 1)) << "depends on where the bytes were cut";
  return whole;
}

constexpr Framing chunked{.kind = Framing::Kind::chunked};

TEST(BodyReader, TakesExactlyTheLengthAndLeavesTheNextMessage) {
  const Read result = read_both_ways({.kind = Framing::Kind::length, .length = 4}, "bodyGET /");
  EXPECT_EQ(result, (Read{.content = "body", .rest = "GET /", .done = true, .refused = ""}));
}

TEST(BodyReader, HasNothingToReadWithoutABody) {
  EXPECT_TRUE(BodyReader().done());
  EXPECT_TRUE(BodyReader({.kind = Framing::Kind::length, .length = 0}).done());
}

TEST(BodyReader, JoinsChunksAndTellsThemFromTrailers) {
  const Read result = read_both_ways(
      chunked, "4\r\nWiki\r\nA\r\npedia, 012\r\n0\r\nExpires: never\r\nX: 1\r\n\r\nNEXT");
  EXPECT_EQ(result,
            (Read{.content = "Wikipedia, 012", .rest = "NEXT", .done = true, .refused = ""}));
}

TEST(BodyReader, ReadsUntilTheCloseOnlyWhereThatIsTheFraming) {
  BodyReader open({.kind = Framing::Kind::until_close});
  std::string_view input = "abc";
  EXPECT_EQ(open.feed(input).value(), "abc");
  EXPECT_TRUE(open.complete_on_close());
  BodyReader fixed({.kind = Framing::Kind::length, .length = 4});
  EXPECT_FALSE(fixed.complete_on_close());
}

TEST(BodyReader, RefusesChunksThatCanBeReadInTwoWays) {
  for (const auto& [bytes, reason] : hostile_bodies()) {
    EXPECT_EQ(read_both_ways(chunked, bytes).refused, reason) << bytes;
  }
}

TEST(BodyReader, KeepsTheTrailersOfOneBodyOnly) {
  BodyReader reader(chunked);
  std::string_view input = "0\r\nDigest:  abc \r\nX: 1\r\n\r\nNEXT";
  EXPECT_EQ(reader.feed(input).value(), "");
  ASSERT_TRUE(reader.done());
  EXPECT_EQ(reader.trailers(), "Digest:  abc \r\nX: 1\r\n");
  reader = BodyReader(chunked);
  input = "0\r\n\r\n";
  EXPECT_EQ(reader.feed(input).value(), "");
  EXPECT_EQ(reader.trailers(), "");
}

TEST(BodyReader, RefusesTrailersWithoutEnd) {
  const std::string flood = "0\r\n" + std::string(bounds::http_trailer_bytes_max + 1, 'a');
  EXPECT_EQ(read_both_ways(chunked, flood).refused, "trailers are too large");
}

RC_GTEST_PROP(BodyReader, ReadsBackWhateverWasChunked, ()) {
  std::string wire;
  std::string content;
  for (const auto& piece : *rc::gen::arbitrary<std::vector<std::string>>()) {
    if (piece.empty()) continue;
    append_chunk(wire, piece);
    content += piece;
  }
  wire += last_chunk;
  const auto step = *rc::gen::inRange<std::size_t>(1, wire.size() + 1);
  const Read result = read(chunked, wire + "NEXT", step);
  RC_ASSERT(result.content == content);
  RC_ASSERT(result.rest == "NEXT");
}

}  // namespace
}  // namespace pawl::http
