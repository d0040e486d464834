#include "core/queue/past.h"

#include <array>

#include "base/bounds_queue.h"
#include "core/queue/command_bytes.h"
#include "core/queue/cut.h"

namespace pawl::queue {
namespace {

struct Parts {  // what a version has besides its time
  Status status = Status::pending;
  bool worker = false;
  bool delay = false;  // and count
  bool detail = false;
};

constexpr std::array<Parts, 12> parts_of = {{
    {},                                                          // no reason
    {.status = Status::pending},                                 // created
    {.status = Status::running, .worker = true},                 // claimed
    {.status = Status::completed},                               // completed
    {.status = Status::pending, .delay = true, .detail = true},  // retried
    {.status = Status::pending, .delay = true, .detail = true},  // rescheduled
    {.status = Status::pending, .delay = true, .detail = true},  // timed_out
    {.status = Status::failed, .detail = true},                  // failed
    {.status = Status::cancelled, .detail = true},               // cancelled
    {.status = Status::expired},                                 // expired
    {.status = Status::pending},                                 // replayed
    {.status = Status::running, .detail = true},                 // cancel_asked
}};

constexpr std::size_t kept_first = bounds::task_versions_max / 2 - 1;  // and the one left out

const Parts& parts(Reason reason) {
  return parts_of[static_cast<std::size_t>(reason)];
}

Version read_version(ByteReader& in, Instant created) {
  Version version;
  const std::uint8_t reason = in.u8();
  if (reason <= static_cast<std::uint8_t>(Reason::created) || reason >= parts_of.size()) {
    in.fail("a version of a task without a known reason");
    return version;
  }
  version.reason = static_cast<Reason>(reason);
  version.at = created + Duration::nanoseconds(in.zigzag());
  const Parts& has = parts(version.reason);
  version.status = has.status;
  if (has.worker) version.worker = in.bytes(bounds::task_name_bytes_max);
  if (has.delay) {
    version.delay = read_duration(in);
    version.count = read_u32(in);
  }
  if (has.detail) version.detail = in.bytes(bounds::task_version_detail_bytes_max);
  return version;
}

std::uint32_t replays_in(const Version& version) {
  return version.reason == Reason::replayed ? 1 : 0;
}

}  // namespace

Status status_after(Reason reason) {
  return parts(reason).status;
}

void Past::add(const Version& version, Instant created) {
  if (count_ + 1 >= bounds::task_versions_max) shorten();
  ByteWriter out;
  out.u8(static_cast<std::uint8_t>(version.reason));
  out.zigzag((version.at - created).ns());
  const Parts& has = parts(version.reason);
  if (has.worker) out.bytes(version.worker);
  if (has.delay) {
    write_duration(out, version.delay);
    out.varint(version.count);
  }
  if (has.detail) out.bytes(cut(version.detail, bounds::task_version_detail_bytes_max));
  bytes_ += out.text();
  ++count_;
  replays_ += replays_in(version);
}

// Replays stay, as long as anything else can go: what is called on knows the task by their number,
// which is not to change between two attempts.
void Past::shorten() {
  const std::uint32_t most = bounds::task_versions_max / 4;
  ByteReader in(bytes_);
  for (std::size_t i = 0; i < kept_first; ++i) read_version(in, {});
  const std::size_t begin = in.at();
  std::string stay;
  std::uint32_t gone = 0, kept = 0;
  while (gone < most && in.left() > 0) {
    const std::size_t from = in.at();
    if (read_version(in, {}).reason == Reason::replayed) {
      stay.append(bytes_, from, in.at() - from);
      ++kept;
    } else {
      ++gone;
    }
  }
  if (gone == 0) {  // there is nothing else
    gone = kept;
    replays_ -= kept;
    stay.clear();
  }
  bytes_.replace(begin, in.at() - begin, stay);
  count_ -= gone;
  left_out_ += gone;
}

History Past::read(Instant created) const {
  History history = history_of_new(created);
  history.versions.reserve(count_ + 1);
  history.left_out = left_out_;
  ByteReader in(bytes_);
  for (std::uint32_t i = 0; i < count_; ++i) history.versions.push_back(read_version(in, created));
  return history;
}

void Past::save(ByteWriter& out) const {
  out.varint(count_);
  out.varint(left_out_);
  out.bytes(bytes_);
}

void Past::load(ByteReader& in) {
  count_ = read_u32(in);
  left_out_ = read_u32(in);
  bytes_ = in.bytes(bounds::task_history_bytes_max);
  ByteReader versions(bytes_);
  std::uint32_t found = 0;
  for (; versions.good() && versions.left() > 0; ++found) {
    replays_ += replays_in(read_version(versions, {}));
  }
  if (!versions.good()) in.fail("the history of a task: " + versions.error());
  if (found != count_ || count_ == 0 || count_ >= bounds::task_versions_max) {
    in.fail("a history with another number of versions than it says");
  }
}

History history_of_new(Instant created) {
  return {.versions = {Version{.at = created}}};
}

}  // namespace pawl::queue
