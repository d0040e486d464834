// Goal: every command is read back as it was written; what is none is refused, where it stands.
// Method: random commands of every kind there and back; bytes by hand that are almost right.
#include "core/queue/command_bytes.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/bounds_queue.h"
#include "core/queue/queue_generators_fixture.h"

namespace pawl::queue {
namespace {

std::string bytes_of(const Command& command) {
  ByteWriter out;
  write_command(out, command);
  return out.take();
}

std::string error_of(std::string_view bytes) {
  ByteReader in(bytes);
  read_command(in);
  return in.error();
}

TEST(CommandBytes, HaveEveryKindOfCommand) {
  for (std::size_t kind = 0; kind < std::variant_size_v<Command>; ++kind) {
    EXPECT_TRUE(rc::check([kind] {
      const Command command = any::command_of_kind(kind);
      RC_ASSERT(command.index() == kind);
      const std::string bytes = bytes_of(command);
      ByteReader in(bytes);
      RC_ASSERT(read_command(in) == command);
      RC_ASSERT(in.good());
      RC_ASSERT(in.left() == 0U);
    })) << kind;
  }
}

RC_GTEST_PROP(CommandBytes, ACutAnywhereIsNoticed, ()) {
  const std::string bytes = bytes_of(*any::command());
  RC_ASSERT(error_of(bytes.substr(0, *rc::gen::inRange(std::size_t{0}, bytes.size()))) != "");
}

RC_GTEST_PROP(CommandBytes, TermsAreReadBack, ()) {
  const TaskTerms terms = *any::terms();
  ByteWriter out;
  write_terms(out, terms);
  ByteReader in(out.text());
  RC_ASSERT(read_terms(in) == terms);
  RC_ASSERT(in.good());
}

TEST(CommandBytes, AKindThatThereIsNotIsRefused) {
  EXPECT_EQ(error_of(std::string(1, '\0')), "a command is of an unknown kind at byte 0");
  EXPECT_EQ(error_of("\x0d"), "a command is of an unknown kind at byte 0");
}

TEST(CommandBytes, SayWhereTheyAreWrong) {
  EXPECT_EQ(error_of("\x08"
                     "12345678901"),
            "it ends too early at byte 1");
  EXPECT_EQ(error_of(bytes_of(Claim{.worker = "\xff"})), "a name cannot be printed at byte 1");
  EXPECT_EQ(error_of(bytes_of(Close{.scope = Scope{5}})), "a scope is unknown at byte 1");
  EXPECT_EQ(error_of(bytes_of(Close{.scope = Scope{0}})), "a scope is unknown at byte 1");
  std::string fail = bytes_of(Fail{});
  fail[fail.size() - 2] = 2;  // `permanent`
  EXPECT_EQ(error_of(fail), "neither yes nor no stands at byte 15");

  ByteWriter claim;
  claim.u8(2);
  claim.bytes("w");
  claim.varint(0);
  claim.varint(std::uint64_t{1} << 32);
  EXPECT_EQ(error_of(claim.text()), "a number is too large at byte 4");
  ByteWriter submit;
  submit.u8(1);
  submit.raw("123456789012");
  for (int i = 0; i < 4; ++i) submit.bytes("");
  submit.zigzag(std::int64_t{1} << 31);
  EXPECT_EQ(error_of(submit.text()), "a number is too large at byte 17");
}

TEST(CommandBytes, TextsAndListsAreBounded) {
  EXPECT_EQ(error_of(bytes_of(Claim{.worker = std::string(bounds::task_name_bytes_max + 1, 'a')})),
            "a text is longer than it may be at byte 1");
  const std::vector<std::string> types(bounds::claim_types_max + 1, "a");
  EXPECT_EQ(error_of(bytes_of(Claim{.worker = "w", .types = types})),
            "a list is longer than it may be at byte 3");
  EXPECT_EQ(error_of("\x02\x01w\x05"), "a list goes past the end at byte 3");
  const std::string input(bounds::task_input_bytes_max + 1, ' ');
  EXPECT_NE(error_of(bytes_of(Submit{.terms = {.input = input}})), "");
  EXPECT_NE(error_of(bytes_of(Complete{.output = input})), "");
  const std::string error(bounds::task_error_bytes_max + 1, ' ');
  EXPECT_NE(error_of(bytes_of(Fail{.error = error})), "");
  EXPECT_NE(error_of(bytes_of(Cancel{.why = error})), "");
  TaskTerms terms;
  terms.retry.delays.resize(bounds::task_delays_max + 1);
  EXPECT_NE(error_of(bytes_of(Submit{.terms = terms})), "");
}

// A segment with them must be read, or the queue stands still: the machine refuses the command.
TEST(CommandBytes, AmountsAreNotTheReadersToJudge) {
  EXPECT_EQ(error_of(bytes_of(Submit{.terms = {.priority = 1'000'000}})), "");
  EXPECT_EQ(error_of(bytes_of(Renew{.lease = Duration::nanoseconds(-1)})), "");
}

}  // namespace
}  // namespace pawl::queue
