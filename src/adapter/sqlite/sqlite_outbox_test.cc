// Goal: the outbox conforms, what it took survives, and trouble with the disk loses nothing.
// Method: the conformance suite on a real file, with a second opening beside it; reopened files; a
//         disk that fails at each step of a change.
#include "adapter/sqlite/sqlite_outbox.h"

#include <gtest/gtest.h>

#include "adapter/sqlite/sqlite_fixture.h"
#include "adapter/sqlite/sqlite_record_store.h"
#include "port/outbox_conformance.h"
#include "runtime/manual_clock.h"
#include "tests/temp_folder.h"

namespace pawl {
namespace {

using outbox_suite::Client;
using webhook::State;

std::unique_ptr<SqliteOutbox> open(const TempFolder& folder, Clock& clock) {
  auto outbox =
      SqliteOutbox::open({.path = folder / "outbox.db", .pending_max = 8, .ended_max = 4}, clock);
  EXPECT_TRUE(outbox.has_value()) << (outbox ? "" : outbox.error().message);
  return outbox ? std::move(*outbox) : nullptr;
}

TEST(SqliteOutbox, Conforms) {
  expect_outbox_conforms([](const auto& part) {
    const TempFolder folder;
    ManualClock clock;
    const auto outbox = open(folder, clock);
    const auto beside = open(folder, clock);
    part({.outbox = *outbox,
          .advance = [&](Duration by) { clock.advance(by); },
          .beside = beside.get()});
  });
}

TEST(SqliteOutbox, GoesOnAfterARestart) {
  const TempFolder folder;
  ManualClock clock;
  {
    const auto outbox = open(folder, clock);
    const Client client(*outbox);
    client.add("e1");
    client.add("e2");
    ASSERT_TRUE(client.save("e1", {.state = State::acknowledged}));
    ASSERT_TRUE(
        client.save("e2", {.attempts = 3, .wait = Duration::hours(1), .trail = "the rest"}));
  }
  const auto outbox = open(folder, clock);
  const Client client(*outbox);
  EXPECT_TRUE(client.due().items.empty());
  EXPECT_EQ(client.add("e1"), 0u);
  clock.advance(Duration::hours(1));
  ASSERT_EQ(client.due_ids(), (outbox_suite::Ids{"e2"}));
  EXPECT_EQ(client.due().items[0].trail, "the rest");
  EXPECT_EQ(client.due().items[0].body, "body of e2");
}

TEST(SqliteOutbox, IsOnTheDiskBeforeItSaysSoAndLooksForNothing) {
  const TempFolder folder;
  ManualClock clock;
  const auto outbox = open(folder, clock);
  const Client client(*outbox);
  const int before = Disk::syncs;
  client.add("e1");
  EXPECT_GE(Disk::syncs - before, 2);
  EXPECT_TRUE(Disk::ended_synced);
  const int added = Disk::syncs;
  (void)client.due();
  (void)client.list();
  EXPECT_EQ(client.add("e1"), 0u);
  EXPECT_EQ(Disk::syncs, added) << "looking costs no sync";
}

// Whatever step of the write fails: the caller hears so, or the delivery is there.
TEST(SqliteOutbox, TellsWhenTheDiskFails) {
  for (int step = 1; step <= 12; ++step) {
    const TempFolder folder;
    ManualClock clock;
    const auto outbox = open(folder, clock);
    const Client client(*outbox);
    client.add("before");
    Disk::fail(step, 100);
    const auto added = client.try_add({Client::fresh("e1")});
    Disk::heal();
    const auto again = client.try_add({Client::fresh("e1")});
    ASSERT_TRUE(again.has_value()) << again.error().message;
    const bool unknown = !added && added.error().outcome == Outcome::unknown;
    EXPECT_TRUE(unknown || *again == (added ? 0u : 1u)) << step;
    EXPECT_EQ(client.due_ids(), (outbox_suite::Ids{"before", "e1"})) << step;
    EXPECT_EQ(client.due().pending, 2u) << step;
  }
}

TEST(SqliteOutbox, RefusesTheFileOfAnotherStore) {
  const TempFolder folder;
  ManualClock clock;
  (void)SqliteRecordStore::open({.path = folder / "outbox.db"}, clock);
  const auto outbox = SqliteOutbox::open({.path = folder / "outbox.db"}, clock);
  ASSERT_FALSE(outbox);
  EXPECT_EQ(outbox.error().code, Code::invalid);
}

}  // namespace
}  // namespace pawl
