#include "runtime/broker_bytes.h"

#include "base/bounds_queue.h"
#include "core/queue/command_bytes.h"

namespace pawl {

void write_answer(ByteWriter& out, const ClaimedTasks& claimed) {
  queue::write_duration(out, claimed.waited);
  queue::write_answer(out, claimed.tasks);
}

void read_answer(ByteReader& in, ClaimedTasks& claimed) {
  claimed.waited = queue::read_duration(in);
  queue::read_answer(in, claimed.tasks);
}

}  // namespace pawl

namespace pawl::broker {
namespace {

using queue::read_duration;
using queue::read_id;
using queue::read_name;
using queue::write_duration;
using queue::write_id;

constexpr std::uint8_t version = 1;
constexpr std::uint8_t is_good = 1;
constexpr std::uint8_t is_error = 2;

void begin(ByteWriter& out) {
  out.u8(version);
}

void read_version(ByteReader& in) {
  const std::uint8_t found = in.u8();
  if (in.good() && found != version) {
    in.fail("version " + std::to_string(found) + " is spoken, and " + std::to_string(version) +
                " understood: update the older pawl; found",
            0);
  }
}

// Of a request: all was read, and it was good.
template <class T>
Result<T> whole(ByteReader& in, T value) {
  if (in.good() && in.left() > 0) in.fail("something is left over");
  if (!in.good()) return failure(Code::invalid, "the body is wrong: " + in.error());
  return value;
}

void write_filter(ByteWriter& out, const queue::TaskFilter& filter) {
  out.u8(filter.status ? static_cast<std::uint8_t>(*filter.status) : std::uint8_t{0});
  out.bytes(filter.type);
  out.bytes(filter.key);
  queue::write_bool(out, filter.after.has_value());
  if (filter.after) write_id(out, *filter.after);
  queue::write_optional_instant(out, filter.updated_after);
  out.varint(filter.limit);
}

queue::TaskFilter read_filter(ByteReader& in) {
  queue::TaskFilter filter;
  const std::uint8_t status = in.u8();
  if (status > static_cast<std::uint8_t>(queue::Status::expired)) in.fail("a status is unknown");
  if (status > 0) filter.status = static_cast<queue::Status>(status);
  filter.type = read_name(in);
  filter.key = read_name(in);
  if (queue::read_bool(in)) filter.after = read_id(in);
  filter.updated_after = queue::read_optional_instant(in);
  filter.limit = in.varint();
  return filter;
}

bool is_of_a_task(Look::Kind kind) {
  return kind == Look::Kind::task || kind == Look::Kind::history || kind == Look::Kind::why;
}

Error read_error(ByteReader& in) {
  const Code code = queue::read_code(in);
  const std::uint8_t outcome = in.u8();
  if (outcome < static_cast<std::uint8_t>(Outcome::not_applied) ||
      outcome > static_cast<std::uint8_t>(Outcome::unknown)) {
    in.fail("an outcome is unknown");
  }
  const Duration wait = read_duration(in);
  Error error(code, static_cast<Outcome>(outcome), std::string(in.bytes(in.left())));
  error.retry_after = wait;
  return error;
}

}  // namespace

std::string write_commands(std::span<const queue::Command> commands) {
  ByteWriter out;
  begin(out);
  for (const queue::Command& command : commands) write_command(out, command);
  return out.take();
}

Result<std::vector<queue::Command>> read_commands(std::string_view bytes) {
  ByteReader in(bytes);
  read_version(in);
  std::vector<queue::Command> commands;
  while (in.left() > 0) {
    if (commands.size() == bounds::segment_commands_max) in.fail("there are too many commands");
    commands.push_back(queue::read_command(in));
  }
  if (in.good() && commands.empty()) in.fail("there is no command");
  return whole(in, std::move(commands));
}

std::string write_claim(const ClaimAsk& ask) {
  ByteWriter out;
  begin(out);
  write_command(out, ask.claim);
  write_duration(out, ask.wait);
  return out.take();
}

Result<ClaimAsk> read_claim(std::string_view bytes) {
  ByteReader in(bytes);
  read_version(in);
  queue::Command command = queue::read_command(in);
  ClaimAsk ask;
  if (auto* claim = std::get_if<queue::Claim>(&command)) {
    ask.claim = std::move(*claim);
  } else if (in.good()) {
    in.fail("there is another command where a claim was expected", 1);
  }
  ask.wait = read_duration(in);
  return whole(in, std::move(ask));
}

std::string write_look(const Look& look) {
  ByteWriter out;
  begin(out);
  out.u8(static_cast<std::uint8_t>(look.kind));
  if (is_of_a_task(look.kind)) write_id(out, look.id);
  if (look.kind == Look::Kind::list) write_filter(out, look.filter);
  return out.take();
}

Result<Look> read_look(std::string_view bytes) {
  ByteReader in(bytes);
  read_version(in);
  Look look;
  const std::uint8_t kind = in.u8();
  if (kind < 1 || kind > static_cast<std::uint8_t>(Look::Kind::limits)) {
    in.fail("a look is of an unknown kind", 1);
  }
  look.kind = static_cast<Look::Kind>(kind);
  if (is_of_a_task(look.kind)) look.id = read_id(in);
  if (look.kind == Look::Kind::list) look.filter = read_filter(in);
  return whole(in, std::move(look));
}

std::size_t bytes_of(const queue::Command& command) {
  ByteWriter out;
  write_command(out, command);
  return out.size();
}

void write_answer(ByteWriter& out, const Hello& hello) {
  const QueueView& view = hello.view;
  out.varint(view.settings.shards);
  write_duration(out, view.settings.kept);
  out.bytes(view.store);
  for (const std::uint64_t number :
       {view.requests.puts, view.requests.gets, view.requests.lists, view.requests.deletes,
        view.requests.bytes_up, view.requests.bytes_down, view.commits, view.commands,
        view.segments}) {
    out.varint(number);
  }
  write_duration(out, view.commit_time);
  queue::write_instant(out, view.now);
  out.bytes(hello.mark);
}

void read_answer(ByteReader& in, Hello& hello) {
  QueueView& view = hello.view;
  view.settings.shards = queue::read_u32(in);
  view.settings.kept = read_duration(in);
  view.store = in.bytes(in.left());
  for (std::uint64_t* number :
       {&view.requests.puts, &view.requests.gets, &view.requests.lists, &view.requests.deletes,
        &view.requests.bytes_up, &view.requests.bytes_down, &view.commits, &view.commands,
        &view.segments}) {
    *number = in.varint();
  }
  view.commit_time = read_duration(in);
  view.now = queue::read_instant(in);
  hello.mark = in.bytes(in.left());
}

void begin_answer(ByteWriter& out, bool good) {
  begin(out);
  out.u8(good ? is_good : is_error);
}

void write_error(ByteWriter& out, const Error& error) {
  out.u8(static_cast<std::uint8_t>(error.code));
  out.u8(static_cast<std::uint8_t>(error.outcome));
  write_duration(out, error.retry_after);
  out.bytes(error.message);
}

Result<void> read_head(ByteReader& in) {
  read_version(in);
  const std::uint8_t how = in.u8();
  if (in.good() && how != is_good && how != is_error) in.fail("it is neither good nor an error");
  if (in.good() && how == is_error) {
    Error error = read_error(in);
    if (in.good()) return std::unexpected(std::move(error));
  }
  if (!in.good()) return unreadable(in);
  return {};
}

std::unexpected<Error> unreadable(const ByteReader& in) {
  return std::unexpected(Error(Code::unavailable, Outcome::unknown,
                               "the broker's answer cannot be read: " + in.error()));
}

}  // namespace pawl::broker
