// Goal: a history is read as it was told, in few bytes, and a damaged one is known as such.
// Method: one version of each reason, there and back; bytes cut and changed.
#include "core/queue/past.h"

#include <algorithm>
#include <gtest/gtest.h>

#include "base/bounds_queue.h"

namespace pawl::queue {
namespace {

constexpr Instant created = Instant::from_ns(1'700'000'000'000'000'000);

Version one_of_each(Reason reason) {
  Version version = {
      .at = created + Duration::seconds(3), .status = status_after(reason), .reason = reason};
  if (reason == Reason::claimed) version.worker = "worker-1";
  if (reason == Reason::retried || reason == Reason::timed_out || reason == Reason::rescheduled) {
    version.delay = Duration::seconds(60);
    version.count = 2;
  }
  const bool has_detail = reason == Reason::retried || reason == Reason::timed_out ||
                          reason == Reason::failed || reason == Reason::cancelled ||
                          reason == Reason::cancel_asked;
  if (has_detail) version.detail = "why";
  return version;
}

Past full() {
  Past past;
  for (auto reason = static_cast<int>(Reason::claimed);
       reason <= static_cast<int>(Reason::cancel_asked); ++reason) {
    past.add(one_of_each(static_cast<Reason>(reason)), created);
  }
  return past;
}

TEST(Past, TellsEveryReasonAsItWasTold) {
  const History history = full().read(created);
  ASSERT_EQ(history.versions.size(), 11U);
  EXPECT_EQ(history.versions[0], Version{.at = created});
  for (std::size_t i = 1; i < history.versions.size(); ++i) {
    EXPECT_EQ(history.versions[i], one_of_each(static_cast<Reason>(i + 1)));
  }
}

TEST(Past, CountsReplaysHoweverLongItGetsAndWhoeverReadsIt) {
  Past past;
  const auto add = [&](Reason reason) { past.add(one_of_each(reason), created); };
  for (std::size_t i = 0; i < bounds::task_versions_max; ++i) {
    add(Reason::rescheduled);
    if (i % 1'000 == 600) add(Reason::replayed);
  }
  EXPECT_EQ(past.replays(), 10U);
  const History history = past.read(created);
  EXPECT_GT(history.left_out, 0U);
  EXPECT_EQ(std::ranges::count(history.versions, Reason::replayed, &Version::reason), 10);
  ByteWriter out;
  past.save(out);
  Past again;
  ByteReader in(out.text());
  again.load(in);
  ASSERT_TRUE(in.good()) << in.error();
  EXPECT_EQ(again.replays(), 10U);
}

TEST(Past, HasRoomAfterNothingButReplaysToo) {
  Past past;
  for (std::size_t i = 0; i < 3 * bounds::task_versions_max; ++i) {
    past.add(one_of_each(Reason::replayed), created);
  }
  EXPECT_LT(past.read(created).versions.size(), bounds::task_versions_max);
}

TEST(Past, CutsALongDetail) {
  Past past;
  past.add({.at = created, .reason = Reason::failed, .detail = std::string(1000, 'e')}, created);
  EXPECT_LE(past.read(created).versions[1].detail.size(), bounds::task_version_detail_bytes_max);
}

TEST(Past, IsReadBackAndKnowsDamage) {
  ByteWriter out;
  full().save(out);
  Past again;
  ByteReader in(out.text());
  again.load(in);
  ASSERT_TRUE(in.good()) << in.error();
  EXPECT_EQ(again.read(created).versions, full().read(created).versions);

  std::string damaged = out.text();
  damaged[3] = '\x7f';  // the first reason
  ByteReader bad(damaged);
  Past().load(bad);
  EXPECT_FALSE(bad.good());
  damaged = out.text();
  damaged[0] = '\x05';  // the number of versions
  ByteReader wrong(damaged);
  Past().load(wrong);
  EXPECT_FALSE(wrong.good());
}

}  // namespace
}  // namespace pawl::queue
