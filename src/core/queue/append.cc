#include "core/queue/append.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/hash.h"

namespace pawl::queue {

namespace {

constexpr int doublings_max = 16;
constexpr int losses_counted_max = 3;
// So often in a row a place may be busy before that is trouble.
constexpr int busies_max = 3;
// How often in vain a log is opened again that has less than it must have.
constexpr int vanished_max = 3;
// For so many numbers after another's segment we are not alone.
constexpr std::uint64_t contended_numbers = 16;
constexpr Duration put_took_max = Duration::seconds(1);

Duration nth(Duration whole, std::int64_t n) {
  return Duration::nanoseconds(whole.ns() / n);
}

AppendSteps joined(AppendStep first, AppendSteps rest) {
  rest.steps.insert(rest.steps.begin(), std::move(first));
  return rest;
}

}  // namespace

Append::Append(const AppendTerms& terms)
    : terms_(terms), dice_(terms.first_nonce.high ^ terms.first_nonce.low) {}

AppendSteps Append::open(SteadyInstant now) {
  return reopen(now);
}

AppendSteps Append::want(SteadyInstant now) {
  if (phase_ == Phase::stopped) return {};
  wanted_ = true;
  if (phase_ == Phase::resting) return others_write(now) ? get(now) : go_on(now);
  // A look for news is let go: the put says the same. Not while there is more to be read.
  const bool looking = phase_ == Phase::reading && at_end_ && !nonce_ && !existed_;
  return looking && !others_write(now) ? go_on(now) : AppendSteps();
}

AppendSteps Append::drop(SteadyInstant now) {
  if (!wanted_) return {};
  wanted_ = false;
  const bool sent = nonce_.has_value();
  if (phase_ == Phase::putting) orphan_ = true;
  forget_sending();
  if (phase_ != Phase::waiting) return {};
  if (then_ == Then::reopen) return reopen(now);
  // What was sent may be there: to follow the log is to find out.
  return sent || !at_end_ ? get(now) : rest();
}

// Where another was first the log may go on, and nobody will say so.
AppendSteps Append::withdraw(SteadyInstant now) {
  PAWL_ASSERT(phase_ == Phase::putting && !may_have_landed_);
  wanted_ = false;
  forget_sending();
  if (std::exchange(losses_, 0) == 0) return rest();
  at_end_ = false;
  return get(now);
}

AppendSteps Append::look(SteadyInstant now) {
  if (phase_ != Phase::resting) return {};
  return get(now);
}

AppendSteps Append::answered(std::uint64_t number, const AppendAnswer& answer, SteadyInstant now) {
  if (number != step_ || phase_ == Phase::stopped || phase_ == Phase::resting) return {};
  return std::visit([&](const auto& a) { return on(a, now); }, answer);
}

AppendSteps Append::on(const PutAnswered& answer, SteadyInstant now) {
  using How = PutAnswered::How;
  put_took_ = std::min(now - asked_, put_took_max);
  if (std::exchange(orphan_, false)) return on_orphan(answer, now);
  // Busy and not applied say nothing of an earlier send.
  if (answer.how != How::busy && answer.how != How::not_applied) may_have_landed_ = true;
  if (stale(now)) return reopen(now);
  switch (answer.how) {
    case How::stored:
      believe();
      at_end_ = true;
      return applied_ours(now);
    case How::exists:
      existed_ = true;
      return get(now);
    case How::unknown:
      if (answer.retry_after <= Duration()) return get(now);
      return wait(std::min(answer.retry_after, terms_.pushback_max), Then::get, now);
    case How::busy:
      if (busies_++ >= busies_max) break;
      return wait(std::max(std::min(answer.retry_after, terms_.pushback_max),
                           nth(terms_.wait_min, 4) + part_of(put_took_)),
                  Then::put, now);
    case How::not_applied:
      break;
  }
  return wait_out_trouble(answer.retry_after, Then::put, now);
}

// Whatever became of it, it is found by reading.
AppendSteps Append::on_orphan(const PutAnswered& answer, SteadyInstant now) {
  using How = PutAnswered::How;
  if (answer.how == How::busy || answer.how == How::not_applied) return go_on(now);
  return get(now);
}

AppendSteps Append::on(const Got& answer, SteadyInstant now) {
  if (stale(now)) return reopen(now);
  if (nonce_ && answer.nonce == *nonce_) return applied_ours(now);
  if (answer.before != last_) {
    phase_ = Phase::stopped;
    return {.steps = {Forked{.number = next_}}};
  }
  return applied_anothers(answer, now);
}

AppendSteps Append::applied_ours(SteadyInstant now) {
  const Apply apply = {.number = next_++, .ours = true};
  last_ = *nonce_;
  wanted_ = false;
  forget_sending();
  troubles_ = busies_ = losses_ = vanished_ = 0;
  if (next_ < contended_until_) yields_until_ = now + part_of(put_took_ + put_took_);
  return joined(apply, rest());
}

AppendSteps Append::applied_anothers(const Got& got, SteadyInstant now) {
  const Apply apply = {.number = next_++};
  last_ = got.nonce;
  const bool lost = wanted_ && nonce_;
  forget_sending();
  troubles_ = busies_ = vanished_ = 0;
  contended_until_ = next_ + contended_numbers;
  if (lost) ++conflicts_;
  if (lost && losses_++ == 0) return joined(apply, put(now));
  at_end_ = false;
  if (!lost) return joined(apply, get(now));
  const int times = 1 << std::min(losses_ - 1, losses_counted_max);
  return joined(apply, wait(part_of(put_took_ * times), Then::get, now));
}

AppendSteps Append::on(const GotNothing&, SteadyInstant now) {
  if (stale(now)) return reopen(now);
  if (existed_ || next_ <= floor_) return vanished(now);
  if (!nothing_beyond_) return under_way(Phase::looking_beyond, LookBeyond{.number = next_}, now);
  believe();
  at_end_ = true;
  vanished_ = 0;
  // Ours may be on its way still. The same bytes again, but not at once.
  if (wanted_ && nonce_) return wait_out_trouble({}, Then::put, now);
  troubles_ = 0;
  return go_on(now);
}

AppendSteps Append::on(const GetFailed& answer, SteadyInstant now) {
  // Whoever only looked for news looks again when the time has come.
  if (!wanted_ && at_end_) return rest();
  return wait_out_trouble(answer.retry_after, Then::get, now);
}

AppendSteps Append::on(const Waited&, SteadyInstant now) {
  if (then_ == Then::reopen || stale(now)) return reopen(now);
  return then_ == Then::put && wanted_ ? put(now) : get(now);
}

AppendSteps Append::on(const Reopened& answer, SteadyInstant now) {
  believe();
  floor_ = std::max(floor_, answer.newest);
  if (!nonce_) troubles_ = 0;  // else what led here is not over
  existed_ = false;
  nothing_beyond_ = false;
  if (answer.sequence + 1 == next_) return get(now);
  next_ = answer.sequence + 1;
  last_ = answer.last;
  const bool lost = wanted_ && may_have_landed_;
  forget_sending();
  if (!lost) return get(now);
  wanted_ = false;
  return joined(Lost{}, get(now));
}

AppendSteps Append::on(const ReopenFailed& answer, SteadyInstant now) {
  return wait_out_trouble(answer.retry_after, Then::reopen, now);
}

// Somebody may have appended since we looked: the next number is read once more.
AppendSteps Append::on(const LookedBeyond& answer, SteadyInstant now) {
  if (stale(now)) return reopen(now);
  nothing_beyond_ = answer.found == 0;
  floor_ = std::max(floor_, answer.found);
  return answer.found == 0 ? on(GotNothing{}, now) : get(now);
}

AppendSteps Append::put(SteadyInstant now) {
  if (stale(now)) return reopen(now);
  const bool fresh = !nonce_;
  if (fresh) {
    nonce_ = Nonce{.high = terms_.first_nonce.high, .low = terms_.first_nonce.low + nonces_++};
  }
  return under_way(Phase::putting,
                   Put{.number = next_, .nonce = *nonce_, .before = last_, .fresh = fresh}, now);
}

AppendSteps Append::get(SteadyInstant now) {
  if (stale(now)) return reopen(now);
  return under_way(Phase::reading, Get{.number = next_}, now);
}

AppendSteps Append::wait(Duration wait, Then then, SteadyInstant now) {
  then_ = then;
  return under_way(Phase::waiting, Wait{.wait = wait}, now);
}

AppendSteps Append::wait_out_trouble(Duration at_least, Then then, SteadyInstant now) {
  Duration most = terms_.wait_min;
  for (int i = 0; i < troubles_ && most < terms_.wait_max; ++i) most = most + most;
  troubles_ = std::min(troubles_ + 1, doublings_max);
  most = std::min(most, terms_.wait_max);
  return wait(
      std::max(std::min(at_least, terms_.pushback_max), nth(most, 2) + part_of(nth(most, 2))), then,
      now);
}

AppendSteps Append::reopen(SteadyInstant now) {
  at_end_ = false;
  return under_way(Phase::reopening, Reopen{}, now);
}

// What must be there is not. Somebody may have collected it while we read: then there is a newer
// snapshot.
AppendSteps Append::vanished(SteadyInstant now) {
  if (++vanished_ <= vanished_max) return reopen(now);
  phase_ = Phase::stopped;
  return {.steps = {Missing{.number = next_}}};
}

AppendSteps Append::rest() {
  phase_ = Phase::resting;
  return {};
}

AppendSteps Append::go_on(SteadyInstant now) {
  if (!wanted_) return rest();
  if (now < yields_until_) {
    return wait(std::exchange(yields_until_, {}) - now, Then::put, now);
  }
  return put(now);
}

AppendSteps Append::under_way(Phase phase, AppendStep step, SteadyInstant now) {
  phase_ = phase;
  asked_ = now;
  asked_store_ = store_now_;
  return {.steps = {std::move(step)}, .number = ++step_};
}

// As of when it was asked: the answer may have been under way for long.
void Append::believe() {
  believed_ = asked_;
  believed_store_ = asked_store_ ? asked_store_ : store_now_;  // the first answer is the first time
}

void Append::forget_sending() {
  nonce_.reset();
  may_have_landed_ = false;
  existed_ = false;
}

// They may have put something at our number since we looked.
bool Append::others_write(SteadyInstant now) const {
  return next_ < contended_until_ && now - believed_ > put_took_;
}

bool Append::stale(SteadyInstant now) const {
  const Duration most = nth(terms_.grace, 2);
  if (now - believed_ > most) return true;
  return believed_store_ && store_now_ && *store_now_ - *believed_store_ > most;
}

Duration Append::part_of(Duration whole) {
  constexpr std::int64_t parts = 1024;
  dice_ = hash_of(Hash128{.high = dice_, .low = step_}, nonces_).low;
  return nth(whole, parts) * static_cast<std::int64_t>(dice_ % parts);
}

}  // namespace pawl::queue
