// Goal: whatever happens to a log's bytes is found, in the right line and under the right name.
// Method: one example a fault with its message, then random logs with random damage.
#include "core/audit/verifier.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <vector>

#include "base/bounds.h"

namespace pawl::audit {
namespace {

// Records with their line feeds.
std::vector<std::string> records(std::size_t count) {
  Chain chain;
  std::vector<std::string> lines(count);
  for (std::size_t i = 0; i < count; ++i) {
    const Event event = {.type = EventType::limit,
                         .timestamp = Instant(),
                         .operation = "operation-" + std::to_string(i),
                         .correlation = {},
                         .details = {}};
    chain.link(draft(event).value(), lines[i]);
  }
  return lines;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line;
  return text;
}

std::optional<Flaw> flaw_of(std::string_view text) {
  Verifier verifier;
  verifier.take(text);
  return verifier.finish();
}

void expect_flaw(const std::vector<std::string>& lines, std::string_view fault, std::uint64_t line,
                 std::string_view message) {
  const std::optional<Flaw> flaw = flaw_of(joined(lines));
  ASSERT_TRUE(flaw.has_value());
  EXPECT_EQ(to_string(flaw->fault), fault);
  EXPECT_EQ(flaw->line, line);
  EXPECT_EQ(flaw->message, message);
}

TEST(Verifier, FindsNoFlawInAWholeLog) {
  const std::vector<std::string> lines = records(5);
  Verifier verifier;
  verifier.take(joined(lines));
  EXPECT_FALSE(verifier.finish().has_value());
  EXPECT_EQ(verifier.head().seq, 5u);
  EXPECT_EQ(verifier.head(), read_link(lines[4].substr(0, lines[4].size() - 1)).value());
}

TEST(Verifier, FindsNoFlawInAnEmptyLog) {
  EXPECT_FALSE(flaw_of("").has_value());
}

TEST(Verifier, NamesAChangedRecord) {
  std::vector<std::string> lines = records(5);
  lines[2].replace(lines[2].find("operation-2"), 11, "operation-9");
  expect_flaw(lines, "changed", 3,
              "line 3: record 3 was changed: the hash of record 3 does not fit its text");
}

TEST(Verifier, NamesARecordThatWasChangedAndHashedAnew) {
  std::vector<std::string> lines = records(5);
  Chain forged(read_link(std::string_view(lines[0]).substr(0, lines[0].size() - 1)).value());
  lines[1].clear();
  forged.link(draft({.type = EventType::config,
                     .timestamp = Instant(),
                     .operation = "forged",
                     .correlation = {},
                     .details = {}})
                  .value(),
              lines[1]);
  expect_flaw(lines, "changed", 3,
              "line 3: record 3 does not follow the record before it, whose hash is " +
                  forged.head().hash + ": one of the two was replaced");
}

TEST(Verifier, NamesAMissingRecord) {
  std::vector<std::string> lines = records(5);
  lines.erase(lines.begin() + 1, lines.begin() + 3);
  expect_flaw(lines, "missing", 2, "line 2: record 4 stands in the place of record 2");
}

TEST(Verifier, NamesAMissingBeginning) {
  std::vector<std::string> lines = records(5);
  lines.erase(lines.begin());
  expect_flaw(lines, "missing", 1, "line 1: record 2 stands in the place of record 1");
}

TEST(Verifier, NamesSwappedRecords) {
  std::vector<std::string> lines = records(5);
  std::swap(lines[1], lines[3]);
  expect_flaw(lines, "swapped", 2,
              "line 2: record 4 stands in the place of record 2; it comes later, in line 4");
}

TEST(Verifier, NamesARepeatedRecord) {
  std::vector<std::string> lines = records(5);
  lines.insert(lines.begin() + 3, lines[2]);
  expect_flaw(lines, "repeated", 4, "line 4: record 3 stands here a second time");
}

TEST(Verifier, NamesACutEnd) {
  std::vector<std::string> lines = records(5);
  lines[4].pop_back();
  expect_flaw(lines, "cut", 5, "line 5: the log ends in the middle of record 5");
}

TEST(Verifier, NamesALineThatIsNoRecord) {
  std::vector<std::string> lines = records(2);
  lines.insert(lines.begin() + 1, "\n");
  expect_flaw(lines, "changed", 2,
              "line 2: record 2 was changed: this is no audit record: line 1, column 1: expected a "
              "value, found the end of the text");
}

TEST(Verifier, NamesALineThatNeverEnds) {
  Verifier verifier;
  verifier.take(joined(records(1)));
  const std::string piece(bounds::audit_event_bytes_max, 'x');
  for (int i = 0; i < 10; ++i) verifier.take(piece);
  verifier.take("\n");
  const std::optional<Flaw> flaw = verifier.finish();
  ASSERT_TRUE(flaw.has_value());
  EXPECT_EQ(flaw->fault, Fault::changed);
  EXPECT_EQ(flaw->line, 2u);
}

std::optional<Flaw> flaw_of_parts(const std::vector<std::vector<std::string>>& parts) {
  Verifier verifier;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) verifier.next_part();
    verifier.take(joined(parts[i]));
  }
  return verifier.finish();
}

TEST(Verifier, ReadsALogOfSeveralFilesAsOne) {
  const std::vector<std::string> lines = records(5);
  EXPECT_FALSE(flaw_of_parts({{lines[0], lines[1]}, {}, {lines[2]}, {lines[3], lines[4]}}));
}

TEST(Verifier, NamesTheFileAndItsLine) {
  const std::vector<std::string> lines = records(5);
  const auto swapped = flaw_of_parts({{lines[0], lines[3]}, {lines[2], lines[1]}, {lines[4]}});
  ASSERT_TRUE(swapped.has_value());
  EXPECT_EQ(swapped->part, 0u);
  EXPECT_EQ(swapped->message,
            "line 2: record 4 stands in the place of record 2; it comes later, in line 2 of a "
            "later file");

  const auto missing = flaw_of_parts({{lines[0]}, {lines[1], lines[3]}, {lines[4]}});
  ASSERT_TRUE(missing.has_value());
  EXPECT_EQ(missing->part, 1u);
  EXPECT_EQ(missing->line, 2u);

  const auto cut = flaw_of_parts({{lines[0], lines[1].substr(0, 20)}, {lines[2]}});
  ASSERT_TRUE(cut.has_value());
  EXPECT_EQ(cut->fault, Fault::cut);
  EXPECT_EQ(cut->part, 0u);
  EXPECT_EQ(cut->line, 2u);
}

TEST(Verifier, OfALaterFileBeginsWithAnyRecord) {
  std::vector<std::string> lines = records(5);
  lines.erase(lines.begin(), lines.begin() + 2);
  Verifier good(Verifier::From::any_record);
  good.take(joined(lines));
  EXPECT_FALSE(good.finish().has_value());
  EXPECT_EQ(good.head().seq, 5u);
  EXPECT_EQ(good.verified(), 3u);

  lines.erase(lines.begin() + 1);
  Verifier bad(Verifier::From::any_record);
  bad.take(joined(lines));
  ASSERT_TRUE(bad.finish().has_value());
  EXPECT_EQ(bad.finish()->message, "line 2: record 5 stands in the place of record 4");
}

Anchor anchor_at(std::string_view line) {
  const Link link = read_link(line.substr(0, line.size() - 1)).value();
  return {.seq = link.seq, .hash = link.hash};
}

std::optional<Flaw> flaw_of(const std::vector<std::string>& lines, const Anchor& anchor) {
  Verifier verifier;
  verifier.expect(anchor);
  verifier.take(joined(lines));
  return verifier.finish();
}

TEST(Verifier, FindsACutEndByTheAnchor) {
  std::vector<std::string> lines = records(5);
  const Anchor anchor = anchor_at(lines[4]);
  EXPECT_FALSE(flaw_of(lines, anchor).has_value());
  while (!lines.empty()) {
    lines.pop_back();
    const auto flaw = flaw_of(lines, anchor);
    ASSERT_TRUE(flaw.has_value());
    EXPECT_EQ(flaw->fault, Fault::missing);
    const std::string next = std::to_string(lines.size() + 1);
    EXPECT_EQ(flaw->message, "line " + next + ": record " + next +
                                 " is missing: the log ends before it, and its anchor names "
                                 "record 5");
  }
}

TEST(Verifier, ACutWithinAnAcknowledgedRecordIsALossAndNoTornWrite) {
  std::vector<std::string> lines = records(3);
  const Anchor last = anchor_at(lines[2]);
  const Anchor lagging = anchor_at(lines[1]);
  lines[2].resize(20);
  EXPECT_EQ(flaw_of(lines, last)->fault, Fault::missing);
  EXPECT_EQ(flaw_of(lines, last)->line, 3u);
  EXPECT_EQ(flaw_of(lines, lagging)->fault, Fault::cut);
}

TEST(Verifier, AnAnchorMayLag) {
  const std::vector<std::string> lines = records(5);
  for (const std::string& line : lines) EXPECT_FALSE(flaw_of(lines, anchor_at(line)).has_value());
}

TEST(Verifier, FindsALogWrittenAnewByTheAnchor) {
  const std::vector<std::string> lines = records(5);
  Anchor other = anchor_at(lines[3]);
  other.hash = std::string(64, 'a');
  const auto flaw = flaw_of(lines, other);
  ASSERT_TRUE(flaw.has_value());
  EXPECT_EQ(flaw->fault, Fault::changed);
  EXPECT_EQ(flaw->message, "line 4: record 4 is not the one that the anchor names, whose hash is " +
                               other.hash + ": it was written anew");
}

RC_GTEST_PROP(Verifier, FindsAnySingleChangedByte, ()) {
  const auto lines = records(*rc::gen::inRange<std::size_t>(1, 6));
  std::string text = joined(lines);
  const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
  text[at] = static_cast<char>(text[at] ^ *rc::gen::inRange(1, 256));

  Verifier verifier;
  verifier.take(text);
  const std::optional<Flaw> flaw = verifier.finish();
  RC_ASSERT(flaw.has_value());
  const auto good = static_cast<std::ptrdiff_t>(verifier.head().seq);
  const std::size_t whole = joined({lines.begin(), lines.begin() + good}).size();
  RC_ASSERT(whole <= at);
  RC_ASSERT(at < whole + lines[verifier.head().seq].size());
}

RC_GTEST_PROP(Verifier, FindsAnyRemovedLineButTheLast, ()) {
  auto lines = records(*rc::gen::inRange<std::size_t>(2, 8));
  const auto at = *rc::gen::inRange<std::size_t>(0, lines.size() - 1);
  lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(at));
  const std::optional<Flaw> flaw = flaw_of(joined(lines));
  RC_ASSERT(flaw.has_value());
  RC_ASSERT(flaw->fault == Fault::missing);
  RC_ASSERT(flaw->line == at + 1);
}

RC_GTEST_PROP(Verifier, FindsAnyTwoSwappedLines, ()) {
  auto lines = records(*rc::gen::inRange<std::size_t>(2, 8));
  const auto first = *rc::gen::inRange<std::size_t>(0, lines.size() - 1);
  const auto second = *rc::gen::inRange<std::size_t>(first + 1, lines.size());
  std::swap(lines[first], lines[second]);
  const std::optional<Flaw> flaw = flaw_of(joined(lines));
  RC_ASSERT(flaw.has_value());
  RC_ASSERT(flaw->fault == Fault::swapped);
  RC_ASSERT(flaw->line == first + 1);
}

RC_GTEST_PROP(Verifier, TheHeadShowsWhereALogWasCut, ()) {
  const auto lines = records(*rc::gen::inRange<std::size_t>(1, 6));
  const std::string text =
      joined(lines).substr(0, *rc::gen::inRange<std::size_t>(0, joined(lines).size()));
  Verifier verifier;
  verifier.take(text);
  const std::optional<Flaw> flaw = verifier.finish();
  const bool between_records = text.empty() || text.back() == '\n';
  RC_ASSERT(flaw.has_value() != between_records);
  RC_ASSERT((!flaw || flaw->fault == Fault::cut));
  RC_ASSERT(verifier.head().seq < lines.size());
}

RC_GTEST_PROP(Verifier, HowTheBytesArriveMakesNoDifference, ()) {
  auto lines = records(5);
  if (*rc::gen::arbitrary<bool>()) lines.erase(lines.begin() + *rc::gen::inRange(0, 4));
  if (*rc::gen::arbitrary<bool>()) std::swap(lines[0], lines[1]);
  const std::string text =
      joined(lines).substr(0, *rc::gen::inRange<std::size_t>(0, joined(lines).size() + 1));
  Verifier at_once;
  at_once.take(text);
  Verifier in_pieces;
  std::string_view rest = text;
  while (!rest.empty()) {
    const auto size = std::min(rest.size(), *rc::gen::inRange<std::size_t>(1, 300));
    in_pieces.take(rest.substr(0, size));
    rest.remove_prefix(size);
  }
  const std::optional<Flaw> expected = at_once.finish();
  const std::optional<Flaw> found = in_pieces.finish();
  RC_ASSERT(found.has_value() == expected.has_value());
  RC_ASSERT((!found || found->message == expected->message));
  RC_ASSERT(in_pieces.head() == at_once.head());
}

}  // namespace
}  // namespace pawl::audit
