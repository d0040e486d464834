#include "runtime/order_store.h"

#include <utility>

namespace pawl {
namespace {

using What = desk::StoreFailed::What;

}  // namespace

// One call, as often as it is made.
template <class T>
struct PatientIntentStore::Trying : std::enable_shared_from_this<Trying<T>> {
  Trying(std::shared_ptr<Shared> shared_, About about_, Ask<T> ask_, Done<T> done_)
      : shared(std::move(shared_)),
        about(std::move(about_)),
        ask(std::move(ask_)),
        done(std::move(done_)) {}

  void begin() {
    ask(shared->store,
        [self = this->shared_from_this()](Result<T> result) { self->ended(std::move(result)); });
  }

  void ended(Result<T> result) {
    if (result || result.error().code != Code::unavailable) return done(std::move(result));
    const bool is_last = failures == store_waits.size();
    const Duration wait = is_last ? Duration() : store_waits[failures];
    ++failures;
    shared->tell(desk::StoreFailed{.what = about.what,
                                   .ids = about.ids,
                                   .attempt = static_cast<int>(failures),
                                   .max_attempts = static_cast<int>(store_waits.size()) + 1,
                                   .delay = wait,
                                   .error = result.error()});
    if (is_last) return done(std::move(result));
    shared->timers.after(
        wait, [self = this->shared_from_this(), result = std::move(result)](bool over) mutable {
          if (over) return self->done(std::move(result));
          self->begin();
        });
  }

  std::shared_ptr<Shared> shared;
  About about;
  Ask<T> ask;
  Done<T> done;
  std::size_t failures = 0;
};

PatientIntentStore::PatientIntentStore(IntentStore& store, Timers& timers, desk::Tell tell)
    : shared_(std::make_shared<Shared>(store, timers, std::move(tell))) {}

template <class T>
void PatientIntentStore::run(About about, Ask<T> ask, Done<T> done) {
  std::make_shared<Trying<T>>(shared_, std::move(about), std::move(ask), std::move(done))->begin();
}

void PatientIntentStore::open(NewIntent intent, Done<Opening> done) {
  About about{.what = What::check,
              .ids = {.request_id = intent.request_id, .external_reference = intent.reference}};
  run<Opening>(
      std::move(about),
      [intent = std::move(intent)](IntentStore& store, Done<Opening> told) {
        store.open(intent, std::move(told));
      },
      std::move(done));
}

void PatientIntentStore::take(std::string reference, Done<TakenIntent> done) {
  run<TakenIntent>(
      {.ids = {.external_reference = reference}},
      [reference](IntentStore& store, Done<TakenIntent> told) {
        store.take(reference, std::move(told));
      },
      std::move(done));
}

void PatientIntentStore::save(std::int64_t id, order::Progress progress, Done<void> done) {
  shared_->store.save(id, std::move(progress), std::move(done));
}

void PatientIntentStore::release(std::int64_t id) {
  shared_->store.release(id);
}

void PatientIntentStore::get(std::string reference, Done<order::Intent> done) {
  run<order::Intent>(
      {.ids = {.external_reference = reference}},
      [reference](IntentStore& store, Done<order::Intent> told) {
        store.get(reference, std::move(told));
      },
      std::move(done));
}

void PatientIntentStore::list(IntentFilter filter, Done<std::vector<order::Intent>> done) {
  run<std::vector<order::Intent>>(
      {},
      [filter = std::move(filter)](IntentStore& store, Done<std::vector<order::Intent>> told) {
        store.list(filter, std::move(told));
      },
      std::move(done));
}

void PatientIntentStore::quota(order::FrequencyLimit limit, Instant now, Done<order::Quota> done) {
  run<order::Quota>(
      {},
      [limit, now](IntentStore& store, Done<order::Quota> told) {
        store.quota(limit, now, std::move(told));
      },
      std::move(done));
}

void PatientIntentStore::backfill(std::vector<HistoryRow> rows, Done<std::size_t> done) {
  run<std::size_t>(
      {.what = What::record},
      [rows = std::move(rows)](IntentStore& store, Done<std::size_t> told) {
        store.backfill(rows, std::move(told));
      },
      std::move(done));
}

void PatientIntentStore::set_life(std::string venue, std::string order_id, order::Life life,
                                  Done<bool> done) {
  run<bool>(
      {.what = What::record},
      [venue = std::move(venue), order_id = std::move(order_id), life](IntentStore& store,
                                                                       Done<bool> told) {
        store.set_life(venue, order_id, life, std::move(told));
      },
      std::move(done));
}

void PatientIntentStore::unfinished(std::string venue, std::int64_t after, std::size_t limit,
                                    Done<std::vector<order::Intent>> done) {
  run<std::vector<order::Intent>>(
      {},
      [venue = std::move(venue), after, limit](IntentStore& store,
                                               Done<std::vector<order::Intent>> told) {
        store.unfinished(venue, after, limit, std::move(told));
      },
      std::move(done));
}

void PatientIntentStore::history_is_empty(Done<bool> done) {
  run<bool>(
      {}, [](IntentStore& store, Done<bool> told) { store.history_is_empty(std::move(told)); },
      std::move(done));
}

}  // namespace pawl
