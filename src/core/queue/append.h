// Append: how a batch of commands becomes the next segment, though others append too and answers
// get lost. One for each shard and process.
//
// Contract: pure: calls in, steps out. At most one step is under way; its answer names its number,
//           and an answer to another number is nobody's. Segments are told (Apply) in the order of
//           the log, each once, our own as well: what a batch led to is known when its segment was
//           applied.
// Place:    a number is decided before the next one is tried. While ours may still land at a
//           number, the same bytes go there again; only another's bytes at it let us move on.
//             stored            ours
//             exists            read it: our nonce: ours; another's: applied, then the next number
//             busy              again, after a moment; when it stays so, longer and longer
//             unknown, 5xx      read it, after the wait that the store names: ours, another's, or
//                               nothing there: the same bytes again
//             not applied       the same bytes again, after a wait
//           A batch that is dropped is let go of; should it land later, it is another's to us.
// Stale:    segments that a snapshot has covered for longer than the grace time may be collected.
//           So whoever has not seen the end of the log (nothing at the next number, or our own
//           segment stored) for longer than half of it may take an old number for a free one: then
//           no answer is believed, and Reopen finds the newest snapshot. If that is not beyond what
//           was applied here, all goes on where it was. If it is, a batch that was never sent is
//           still to be committed, and one that may have landed is Lost: nobody can tell whether
//           the snapshot has it.
//           By the store's clock (heard()) as well: a machine that was paused as a whole has a
//           clock that knows nothing of it.
// Chain:    each segment names the one before (its nonce). One that names another is Forked: a
//           segment before it was lost, and its number given away again.
// End:      nothing at the next number is the end only if nothing is beyond it. That is looked at
//           when the log was opened, or opened again; what is appended later names what is before.
// Others:   while others append too, a place is looked at before a batch goes there: to read that
//           nothing is there costs less than a put in vain.
// Fair:     who lost a place tries the next at once, and then waits longer and longer before it
//           reads to the end and tries again. Who wins among others waits a moment before its next
//           one; else the one with the shortest way to the store would keep all others out.
// Time:     comes in: it never goes back, and counts while the machine sleeps.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "core/queue/segment.h"
#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl::queue {

struct AppendTerms {
  Nonce first_nonce = {};  // random; those that follow are counted from it
  Duration grace = Duration::hours(1);
  Duration wait_min = Duration::milliseconds(20);  // after trouble, growing …
  Duration wait_max = Duration::seconds(5);        // … up to this
  Duration pushback_max = Duration::minutes(1);    // of a wait that the store names
};

// Answers to steps.
struct PutAnswered {
  enum class How : std::uint8_t { stored, exists, busy, unknown, not_applied };
  How how = How::stored;
  Duration retry_after = {};
};
struct Got {
  Nonce nonce = {};
  Nonce before = {};
};
struct GotNothing {};
struct GetFailed {
  Duration retry_after = {};
};
struct Waited {};
// Asked behind the step: there is no snapshot newer than `newest`. What is applied now is
// `sequence`: the snapshot's, or that of what was held already; `last` is that segment's.
struct Reopened {
  std::uint64_t sequence = 0;
  std::uint64_t newest = 0;
  Nonce last = {};
};
struct ReopenFailed {
  Duration retry_after = {};
};
struct LookedBeyond {
  std::uint64_t found = 0;  // the first one there; zero: none
};
using AppendAnswer = std::variant<PutAnswered, Got, GotNothing, GetFailed, Waited, Reopened,
                                  ReopenFailed, LookedBeyond>;

// Steps. The first two have no answer.
struct Apply {  // what was got from this number, or what was put there
  std::uint64_t number = 0;
  bool ours = false;
};
struct Lost {};  // of the batch nobody knows whether it is in the log; it is no longer wanted
struct Put {     // only if absent
  std::uint64_t number = 0;
  Nonce nonce = {};
  Nonce before = {};
  bool fresh = true;  // false: the same bytes as before
};
struct Get {
  std::uint64_t number = 0;
};
struct Wait {
  Duration wait = {};
};
struct Reopen {};
struct LookBeyond {  // is anything behind this number? A failure is ReopenFailed
  std::uint64_t number = 0;
};
struct Missing {  // a segment that must be there is not; nothing can be done here any more
  std::uint64_t number = 0;
};
struct Forked {  // what was got from this number follows on another than what was applied; likewise
  std::uint64_t number = 0;
};
using AppendStep = std::variant<Apply, Lost, Put, Get, Wait, Reopen, LookBeyond, Missing, Forked>;

struct AppendSteps {
  std::vector<AppendStep> steps = {};
  std::uint64_t number = 0;  // of the last step, where it has an answer
};

class Append {
 public:
  explicit Append(const AppendTerms& terms);

  AppendSteps open(SteadyInstant now);
  // There is a batch. Precondition: !wanted().
  AppendSteps want(SteadyInstant now);
  // Nobody waits for the batch any more.
  AppendSteps drop(SteadyInstant now);
  // The batch need not be written. Precondition: the step under way is a fresh Put, not done yet.
  AppendSteps withdraw(SteadyInstant now);
  // Is there a new segment? Nothing, if a step is under way.
  AppendSteps look(SteadyInstant now);
  AppendSteps answered(std::uint64_t number, const AppendAnswer& answer, SteadyInstant now);
  // What the store's clock shows, as far as is known; before each call of the others.
  void heard(Instant store) { store_now_ = store; }
  // A damaged segment or snapshot: nothing more is done.
  void stop() { phase_ = Phase::stopped; }

  bool wanted() const { return wanted_; }
  // Whether the batch may be in the log already, or come to be.
  bool may_have_landed() const {
    return may_have_landed_ || (phase_ == Phase::putting && !orphan_);
  }
  bool resting() const { return phase_ == Phase::resting; }
  bool at_end() const { return at_end_; }  // as far as was seen
  std::uint64_t next() const { return next_; }
  std::uint64_t conflicts() const { return conflicts_; }

 private:
  enum class Phase : std::uint8_t {
    unopened,
    resting,
    putting,
    reading,
    waiting,
    reopening,
    looking_beyond,
    stopped
  };
  enum class Then : std::uint8_t { put, get, reopen };  // after a wait

  AppendSteps on(const PutAnswered& answer, SteadyInstant now);
  AppendSteps on(const Got& answer, SteadyInstant now);
  AppendSteps on(const GotNothing& answer, SteadyInstant now);
  AppendSteps on(const GetFailed& answer, SteadyInstant now);
  AppendSteps on(const Waited& answer, SteadyInstant now);
  AppendSteps on(const Reopened& answer, SteadyInstant now);
  AppendSteps on(const ReopenFailed& answer, SteadyInstant now);
  AppendSteps on(const LookedBeyond& answer, SteadyInstant now);
  AppendSteps on_orphan(const PutAnswered& answer, SteadyInstant now);

  AppendSteps put(SteadyInstant now);
  AppendSteps get(SteadyInstant now);
  AppendSteps wait(Duration wait, Then then, SteadyInstant now);
  AppendSteps wait_out_trouble(Duration at_least, Then then, SteadyInstant now);
  AppendSteps reopen(SteadyInstant now);
  AppendSteps vanished(SteadyInstant now);
  AppendSteps rest();
  AppendSteps go_on(SteadyInstant now);
  AppendSteps under_way(Phase phase, AppendStep step, SteadyInstant now);
  AppendSteps applied_ours(SteadyInstant now);
  AppendSteps applied_anothers(const Got& got, SteadyInstant now);
  void forget_sending();
  void believe();
  bool others_write(SteadyInstant now) const;
  bool stale(SteadyInstant now) const;
  Duration part_of(Duration whole);  // a random part

  const AppendTerms terms_;
  Phase phase_ = Phase::unopened;
  Then then_ = Then::get;
  std::uint64_t step_ = 0;
  SteadyInstant asked_ = {};     // when the step under way began
  SteadyInstant believed_ = {};  // when the end of the log was seen, or the newest snapshot listed
  std::optional<Instant> store_now_ = {};
  std::optional<Instant> asked_store_ = {};     // both as above, by the store's clock
  std::optional<Instant> believed_store_ = {};  //
  std::uint64_t next_ = 1;
  Nonce last_ = {};          // of the segment before next_
  std::uint64_t floor_ = 0;  // the log is at least so long

  bool wanted_ = false;
  std::optional<Nonce> nonce_ = {};  // of the bytes that went to next_
  bool may_have_landed_ = false;
  bool orphan_ = false;   // the put under way is of a batch that was dropped
  bool existed_ = false;  // the last put found something at next_

  bool at_end_ = false;
  bool nothing_beyond_ = false;  // as was seen since it was opened
  int troubles_ = 0;
  int busies_ = 0;  // in a row
  int losses_ = 0;
  int vanished_ = 0;
  Duration put_took_ = {};
  SteadyInstant yields_until_ = {};
  std::uint64_t contended_until_ = 0;
  std::uint64_t conflicts_ = 0;
  std::uint64_t nonces_ = 0;
  std::uint64_t dice_ = 0;
};

}  // namespace pawl::queue
