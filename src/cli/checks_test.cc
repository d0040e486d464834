// Goal: each check says ok where things are well, and otherwise what is wrong and what to do.
// Method: the pure ones by their arguments; those that look at the machine against a folder and
//         sockets of the test's own.
#include "cli/checks.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adapter/system/system_clock.h"
#include "core/audit/chain.h"
#include "net/loop.h"
#include "runtime/manual_clock.h"

namespace pawl::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::Field;
using ::testing::HasSubstr;

constexpr Instant well_set = Instant::from_ns(1'800'000'000'000'000'000);

// A log of this many records.
std::string log_of(int records) {
  audit::Chain chain;
  std::string text;
  for (int i = 0; i < records; ++i) {
    const auto draft = audit::draft({.type = audit::EventType::config,
                                     .timestamp = well_set,
                                     .operation = "test",
                                     .correlation = {},
                                     .details = {{"number", i}}});
    chain.link(draft.value(), text);
  }
  return text;
}

// A chain that goes on from the end of log_of(1), and says that it is further on than it is.
std::string forged_gap() {
  const std::string first = log_of(1);
  audit::Link head = audit::read_link(first.substr(0, first.size() - 1)).value();
  head.seq += 7;
  audit::Chain chain(head);
  std::string text = first;
  chain.link(audit::draft({.type = audit::EventType::config,
                           .timestamp = well_set,
                           .operation = "test",
                           .correlation = {},
                           .details = {}})
                 .value(),
             text);
  return text;
}

std::string without_first_line(const std::string& text) {
  return text.substr(text.find('\n') + 1);
}

TEST(CheckConfiguration, TellsWhichOneIsInForce) {
  EXPECT_THAT(check_configuration("", config::Config()).found, HasSubstr("built-in defaults"));
  EXPECT_EQ(check_configuration("a.yaml", config::Config()).found, "a.yaml is valid");
}

TEST(CheckConfiguration, TellsTheFirstProblemAndHowManyFollow) {
  const config::Problem first{.file = "a.yaml", .line = 3, .path = "log.level", .message = "bad"};
  const Finding one = check_configuration("a.yaml", std::unexpected(std::vector{first}));
  EXPECT_EQ(one.health, Health::fail);
  EXPECT_EQ(one.check, configuration_check);
  EXPECT_EQ(one.found, "a.yaml:3: log.level: bad");
  EXPECT_THAT(one.advice, HasSubstr("'pawl config check a.yaml'"));
  const Finding three =
      check_configuration("a.yaml", std::unexpected(std::vector{first, first, first}));
  EXPECT_THAT(three.found, EndsWith("bad (and 2 more)"));
}

TEST(CheckDescriptors, WarnsBelowTwoAConnection) {
  EXPECT_EQ(check_descriptors(20'000, 10'000).health, Health::ok);
  const Finding few = check_descriptors(19'999, 10'000);
  EXPECT_EQ(few.health, Health::warn);
  EXPECT_THAT(few.advice, HasSubstr("raise the hard limit to 20000"));
  EXPECT_THAT(check_descriptors(1024, 10'000).found, HasSubstr("about 512 connections"));
}

TEST(CheckClock, AcceptsTheMachines) {
  SystemClock clock;
  EXPECT_EQ(check_clock(clock).health, Health::ok);
}

TEST(CheckClock, RefusesAPastThatCannotBe) {
  ManualClock clock(Instant::from_ns(0));
  const Finding finding = check_clock(clock);
  EXPECT_EQ(finding.health, Health::fail);
  EXPECT_THAT(finding.found, HasSubstr("1970-01-01"));
}

TEST(CheckClock, RefusesASteadyClockThatStandsStill) {
  ManualClock clock(well_set);
  const Finding finding = check_clock(clock);
  EXPECT_EQ(finding.health, Health::fail);
  EXPECT_THAT(finding.found, HasSubstr("stands still"));
}

TEST(CheckSpace, WarnsEarlyAndFailsLate) {
  constexpr std::uint64_t mebibyte = 1024 * 1024;
  EXPECT_EQ(check_space(1024 * mebibyte).health, Health::ok);
  EXPECT_EQ(check_space(1023 * mebibyte).health, Health::warn);
  EXPECT_EQ(check_space(16 * mebibyte).health, Health::warn);
  EXPECT_EQ(check_space(15 * mebibyte).health, Health::fail);
  EXPECT_THAT(check_space(15 * mebibyte).found, HasSubstr("15 MiB"));
}

TEST(CheckAuditTail, VerifiesAWholeLogAndTheEndOfOne) {
  EXPECT_EQ(check_audit_tail({.path = "a", .text = "", .is_whole = true}).health, Health::ok);
  const Finding whole = check_audit_tail({.path = "a", .text = log_of(5), .is_whole = true});
  EXPECT_EQ(whole.health, Health::ok);
  EXPECT_THAT(whole.found, HasSubstr("last 5 records"));
  const Finding end =
      check_audit_tail({.path = "a", .text = log_of(5).substr(10), .is_whole = false});
  EXPECT_EQ(end.health, Health::ok);
  EXPECT_THAT(end.found, HasSubstr("last 4 records"));
}

TEST(CheckAuditTail, SeesDamage) {
  const std::string log = log_of(5);
  std::string changed = log;
  changed.replace(changed.find("\"number\":3"), 10, "\"number\":8");
  const std::string gap =
      log_of(2) + without_first_line(without_first_line(without_first_line(log)));
  for (const std::string& text : {changed, gap, without_first_line(log), std::string("\n"),
                                  std::string("no log"), forged_gap()}) {
    EXPECT_EQ(check_audit_tail({.path = "a", .text = text, .is_whole = true}).health, Health::fail)
        << text;
  }
  for (const std::string& text : {changed, "x\n" + gap, std::string(1000, 'x')}) {
    EXPECT_EQ(check_audit_tail({.path = "a", .text = text, .is_whole = false}).health, Health::fail)
        << text;
  }
}

TEST(CheckAuditTail, WarnsOfATornEnd) {
  const Finding torn =
      check_audit_tail({.path = "a", .text = log_of(2) + "{\"seq\":3", .is_whole = true});
  EXPECT_EQ(torn.health, Health::warn);
  EXPECT_EQ(check_audit_tail({.path = "a", .text = "{\"seq\":1", .is_whole = true}).health,
            Health::warn);
  EXPECT_EQ(
      check_audit_tail({.path = "a", .text = log_of(1) + std::string(4096, '\0'), .is_whole = true})
          .health,
      Health::warn);
  EXPECT_THAT(torn.found, HasSubstr("last 2 records verified, and half a record"));
}

TEST(CheckAuditTail, OfALaterFileBeginsWithAnyRecord) {
  const std::string log = log_of(3);
  const std::string later = log.substr(log.find('\n') + 1);
  EXPECT_EQ(check_audit_tail({.path = "a", .text = later}).health, Health::fail);
  const Finding found = check_audit_tail({.path = "a", .text = later, .is_first = false});
  EXPECT_EQ(found.health, Health::ok);
  EXPECT_THAT(found.found, HasSubstr("last 2 records"));
  EXPECT_EQ(check_audit_tail({.path = "a", .text = "", .is_first = false}).health, Health::ok);
}

TEST(CheckAuditTail, SeesALogThatEndsBeforeItsAnchor) {
  const std::string log = log_of(3);
  const auto health = [&](std::uint64_t seq) {
    return check_audit_tail(
               {.path = "a", .text = log, .anchor = audit::Anchor{.seq = seq, .hash = {}}})
        .health;
  };
  EXPECT_EQ(health(2), Health::ok);
  EXPECT_EQ(health(3), Health::ok);
  EXPECT_EQ(health(4), Health::fail);
  EXPECT_EQ(
      check_audit_tail({.path = "a", .text = "", .anchor = audit::Anchor{.seq = 1, .hash = {}}})
          .health,
      Health::fail);
}

class CheckAudit : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "pawl_checks_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::vector<Finding> findings(const std::string& name) {
    return check_audit(
        {.sinks = {{.kind = StoreSetting::Kind::file, .path = (folder_ / name).string()}}});
  }

  std::filesystem::path folder_;
};

TEST_F(CheckAudit, IsContentWithWhatCanBeMade) {
  const auto found = findings("a/b/audit.jsonl");
  EXPECT_THAT(found,
              ElementsAre(Field(&Finding::health, Health::ok), Field(&Finding::health, Health::ok),
                          Field(&Finding::check, "disk space")));
  EXPECT_THAT(found[0].found, HasSubstr("a/b will be made in " + folder_.string()));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "a")) << "a check changes nothing";
}

TEST_F(CheckAudit, ReadsTheLogThatIsThere) {
  std::ofstream(folder_ / "audit.jsonl") << log_of(3);
  EXPECT_THAT(findings("audit.jsonl")[1].found, HasSubstr("last 3 records verified"));
  std::ofstream(folder_ / "audit.jsonl") << "no log\n";
  EXPECT_EQ(findings("audit.jsonl")[1].health, Health::fail);
}

TEST_F(CheckAudit, ReadsTheEndOfALongLog) {
  std::ofstream(folder_ / "audit.jsonl") << log_of(5000);
  const Finding found = findings("audit.jsonl")[1];
  EXPECT_EQ(found.health, Health::ok) << found.found;
  EXPECT_GT(std::filesystem::file_size(folder_ / "audit.jsonl"), 1024U * 1024U);
  EXPECT_THAT(found.found, ::testing::Not(HasSubstr("last 5000")));
}

TEST_F(CheckAudit, RefusesAFolderThatIsAFileAndALogThatIsAFolder) {
  std::ofstream(folder_ / "file") << "x";
  const auto below_a_file = findings("file/audit.jsonl");
  EXPECT_EQ(below_a_file[0].health, Health::fail);
  EXPECT_THAT(below_a_file[0].found, EndsWith("file is not a folder"));
  std::filesystem::create_directory(folder_ / "folder");
  EXPECT_EQ(findings("folder")[1].health, Health::fail);
}

TEST(CheckRecordStore, ComparesWhatIsGivenWithWhatIsAsked) {
  SystemClock clock;
  config::Idempotency settings;
  settings.store = {.kind = StoreSetting::Kind::memory};
  EXPECT_EQ(check_record_store(settings, clock).health, Health::ok);
  EXPECT_THAT(check_record_store(settings, clock).found, EndsWith("the process that keeps them"));
  settings.durability = Durability::process;
  const Finding finding = check_record_store(settings, clock);
  EXPECT_EQ(finding.health, Health::fail);
  EXPECT_THAT(finding.found, HasSubstr("asked for durability 'process' and gives 'none'"));
  EXPECT_THAT(finding.advice, HasSubstr("idempotency.durability"));
}

TEST(CheckRecordStore, MakesNoFile) {
  SystemClock clock;
  config::Idempotency settings;
  settings.store = {.kind = StoreSetting::Kind::sqlite, .path = "/nowhere/records.db"};
  EXPECT_THAT(check_record_store(settings, clock).found, HasSubstr("not there yet"));
}

TEST(CheckAddress, AcceptsAFreeOne) {
  config::Server server;
  server.listen = parse_endpoint("127.0.0.1:0").value();
  server.admin.listen = server.listen;
  EXPECT_EQ(check_guarded_address(server).health, Health::ok);
  EXPECT_EQ(check_admin_address(server.admin).health, Health::ok);
}

TEST(CheckAddress, RefusesOneThatAnotherProgramHas) {
  const std::unique_ptr<net::Loop> loop = net::Loop::make();
  config::Server server;
  server.listen = parse_endpoint("127.0.0.1:0").value();
  // It accepts nothing, so nobody answers /healthz.
  server.listen = loop->listen(server.listen, [](net::StreamPtr) {}).value();
  server.admin.listen = parse_endpoint("127.0.0.1:0").value();
  const Finding finding = check_guarded_address(server);
  EXPECT_EQ(finding.health, Health::fail);
  EXPECT_THAT(finding.found, HasSubstr("another program listens on " + to_string(server.listen)));
  EXPECT_THAT(finding.advice, HasSubstr("server.listen"));
}

TEST(CheckAddress, RefusesOneThatIsNotOfThisMachine) {
  const Finding finding = check_admin_address(
      {.listen = parse_endpoint("192.0.2.1:9").value(), .token = {}, .hosts = {}, .panel = {}});
  EXPECT_EQ(finding.health, Health::fail);
  EXPECT_THAT(finding.found, HasSubstr("choose an address that this machine has"));
}

TEST(CheckUpstream, SaysWhetherItCanBeReached) {
  std::uint16_t port = 0;
  {
    const std::unique_ptr<net::Loop> loop = net::Loop::make();
    port = loop->listen(parse_endpoint("127.0.0.1:0").value(), [](net::StreamPtr) {})->port;
    EXPECT_EQ(check_upstream({.host = "127.0.0.1", .port = port}, false).health, Health::ok);
  }
  const Finding finding = check_upstream({.host = "127.0.0.1", .port = port}, false);
  EXPECT_EQ(finding.health, Health::fail);
  EXPECT_THAT(finding.advice, HasSubstr("server.upstream"));
  const Finding default_one = check_upstream({.host = "127.0.0.1", .port = port}, true);
  EXPECT_EQ(default_one.health, Health::warn) << "who has only a queue needs none";
}

}  // namespace
}  // namespace pawl::cli
