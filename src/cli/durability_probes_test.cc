// Goal: what is said of a store's durability is what was found, with the instant of that. Method:
// folders on a disk and in memory, and probes that are made up.
#include "cli/durability_probes.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <unistd.h>

#include "runtime/manual_clock.h"

namespace pawl::cli {
namespace {

using Found = DurabilityProbes::Found;

TEST(DurabilityProbes, TellWhatWasFoundAndWhen) {
  ManualClock clock;
  DurabilityProbes probes(clock);
  Result<Found> answer = Found{.durability = Durability::process, .seen = "everysec"};
  probes.add("Limits", [&] { return answer; });
  EXPECT_EQ(probes.found("Limits").durability, std::nullopt) << "nobody has asked";
  probes.probe();
  const Instant first = clock.wall_now();
  clock.advance(Duration::minutes(1));
  answer = failure(Code::unavailable, "it is away");
  probes.probe();
  EXPECT_EQ(probes.found("Limits").durability, Durability::process);
  EXPECT_EQ(probes.found("Limits").seen, "everysec");
  EXPECT_EQ(probes.found("Limits").at, first) << "it was not found anew";
  answer = Found{.durability = Durability::none};
  probes.probe();
  EXPECT_EQ(probes.found("Limits").durability, Durability::none);
  EXPECT_EQ(probes.found("Limits").at, clock.wall_now());
}

TEST(DurabilityProbes, KnowMemoryFromADisk) {
  const std::string folder = "/dev/shm/pawl-test-" + std::to_string(::getpid());
  std::filesystem::create_directory(folder);
  EXPECT_EQ(disk_probe(folder)()->durability, Durability::process);
  EXPECT_EQ(queue_probe("dir:" + folder)()->durability, Durability::process);
  std::filesystem::remove(folder);
  EXPECT_EQ(disk_probe(PAWL_SOURCE_DIR)()->durability, Durability::fsync);
}

TEST(DurabilityProbes, SayNothingOfABucket) {
  const Found found = queue_probe("s3://bucket/prefix")().value();
  EXPECT_EQ(found.durability, std::nullopt);
  EXPECT_NE(found.seen, "");
}

TEST(DurabilityProbes, KnowThatMemoryEndsWithTheProcess) {
  ManualClock clock;
  const StoreSetting memory{.kind = StoreSetting::Kind::memory};
  EXPECT_EQ(counts_probe(memory, clock)()->durability, Durability::none);
}

}  // namespace
}  // namespace pawl::cli
