#include "adapter/memory/memory_object_store.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "base/bounds_queue.h"
#include "port/object_name.h"

namespace pawl {
namespace {

using Call = MemoryObjectStore::Call;
using Fault = MemoryObjectStore::Fault;
using Verdict = PutAnswer::Verdict;

constexpr Duration busy_for = Duration::milliseconds(100);

Error error_of(Call call, Fault fault) {
  const bool is_read = call == Call::get || call == Call::list;
  const bool is_sure = is_read || fault == Fault::failed || fault == Fault::busy;
  Error error(Code::unavailable, is_sure ? Outcome::not_applied : Outcome::unknown,
              is_sure ? "the store does not answer" : "the store's answer got lost");
  if (fault == Fault::busy) error.retry_after = busy_for;
  return error;
}

// What `busy` is for a put; anything else has no verdict, and fails.
template <class T>
Result<T> answer_of_fault(Call call, Fault fault) {
  if constexpr (std::is_same_v<T, PutAnswer>) {
    if (fault == Fault::busy) return PutAnswer{.verdict = Verdict::busy};
  }
  return std::unexpected(error_of(call, fault));
}

}  // namespace

PutAnswer MemoryObjects::put(const PutObject& put) {
  const std::lock_guard lock(mutex_);
  const auto found = kept_.find(put.name);
  if (put.only == PutObject::If::absent && found != kept_.end()) {
    return {.verdict = Verdict::exists};
  }
  if (put.only == PutObject::If::match) {
    if (found == kept_.end()) return {.verdict = Verdict::gone};
    if (found->second.tag != put.tag) return {.verdict = Verdict::exists};
  }
  Kept kept{.body = put.body, .tag = std::to_string(++last_tag_), .modified = clock_.wall_now()};
  PutAnswer answer{.verdict = Verdict::stored, .tag = kept.tag};
  kept_.insert_or_assign(put.name, std::move(kept));
  return answer;
}

Result<Object> MemoryObjects::get(const GetObject& get) const {
  const std::lock_guard lock(mutex_);
  const auto found = kept_.find(get.name);
  if (found == kept_.end()) {
    return failure(Code::not_found, "there is no object '" + get.name + "'");
  }
  const std::string& body = found->second.body;
  const std::uint64_t start = std::min<std::uint64_t>(get.offset, body.size());
  const std::uint64_t bytes = get.bytes == 0 ? body.size() : get.bytes;
  return Object{.body = body.substr(start, bytes), .tag = found->second.tag};
}

Listing MemoryObjects::list(const ListObjects& list) const {
  const std::size_t limit = list.limit == 0 ? bounds::objects_listed_max
                                            : std::min(list.limit, bounds::objects_listed_max);
  const std::lock_guard lock(mutex_);
  Listing found;
  auto at = list.after < list.under ? kept_.lower_bound(list.under) : kept_.upper_bound(list.after);
  for (; at != kept_.end() && at->first.starts_with(list.under); ++at) {
    found.more = found.entries.size() == limit;
    if (found.more) break;
    found.entries.push_back(
        {.name = at->first, .bytes = at->second.body.size(), .modified = at->second.modified});
  }
  return found;
}

void MemoryObjects::remove(const std::vector<std::string>& names) {
  const std::lock_guard lock(mutex_);
  for (const std::string& name : names) kept_.erase(name);
}

template <class T>
void MemoryObjectStore::run(Task<T> task) {
  const Call call = task.call;
  const Fault fault = fault_of(call, task.name);
  switch (fault) {
    case Fault::held:
      return hold(std::move(task));
    case Fault::held_answer: {
      Result<T> result = task.work();
      task.work = [result = std::move(result)] { return result; };
      return hold(std::move(task));
    }
    case Fault::late: {
      Done<T> done = std::exchange(task.done, [](const Result<T>&) {});
      hold(std::move(task));
      return done(answer_of_fault<T>(call, fault));
    }
    case Fault::lost_answer:
      (void)task.work();
      return task.done(answer_of_fault<T>(call, fault));
    case Fault::failed:
    case Fault::lost_request:
    case Fault::busy:
      return task.done(answer_of_fault<T>(call, fault));
    case Fault::none:
      break;
  }
  Result<T> result = task.work();
  sample_time();
  task.done(std::move(result));
}

template <class T>
void MemoryObjectStore::hold(Task<T> task) {
  const std::lock_guard lock(mutex_);
  held_.emplace_back([this, task = std::move(task)]() mutable {
    Result<T> result = task.work();
    sample_time();
    task.done(std::move(result));
  });
}

void MemoryObjectStore::put(PutObject put, Done<PutAnswer> done) {
  if (auto checked = check_object_name(put.name); !checked) {
    return done(std::unexpected(std::move(checked).error()));
  }
  {
    const std::lock_guard lock(mutex_);
    ++counts_.puts;
    counts_.bytes_up += put.body.size();
  }
  std::string name = put.name;
  run<PutAnswer>({.call = Call::put,
                  .name = std::move(name),
                  .done = std::move(done),
                  .work = [objects = objects_, put = std::move(put)]() -> Result<PutAnswer> {
                    return objects->put(put);
                  }});
}

void MemoryObjectStore::get(GetObject get, Done<Object> done) {
  if (auto checked = check_object_name(get.name); !checked) {
    return done(std::unexpected(std::move(checked).error()));
  }
  {
    const std::lock_guard lock(mutex_);
    ++counts_.gets;
  }
  const auto work = [this, get]() -> Result<Object> {
    Result<Object> found = objects_->get(get);
    const std::lock_guard lock(mutex_);
    if (found) counts_.bytes_down += found->body.size();
    return found;
  };
  run<Object>({.call = Call::get, .name = get.name, .done = std::move(done), .work = work});
}

void MemoryObjectStore::list(ListObjects list, Done<Listing> done) {
  for (const std::string& text : {list.under, list.after}) {
    if (auto checked = check_object_prefix(text); !checked) {
      return done(std::unexpected(std::move(checked).error()));
    }
  }
  {
    const std::lock_guard lock(mutex_);
    ++counts_.lists;
  }
  const auto work = [objects = objects_, list]() -> Result<Listing> { return objects->list(list); };
  run<Listing>({.call = Call::list, .name = list.under, .done = std::move(done), .work = work});
}

void MemoryObjectStore::remove(std::vector<std::string> names, Done<void> done) {
  if (auto checked = check_removal(names); !checked) return done(std::move(checked));
  if (names.empty()) return done({});
  {
    const std::lock_guard lock(mutex_);
    ++counts_.deletes;
  }
  const auto work = [objects = objects_, names]() -> Result<void> {
    objects->remove(names);
    return {};
  };
  run<void>({.call = Call::remove, .name = names.front(), .done = std::move(done), .work = work});
}

std::optional<TimeSample> MemoryObjectStore::time_sample() const {
  const std::lock_guard lock(mutex_);
  return sample_;
}

RequestCounts MemoryObjectStore::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

void MemoryObjectStore::set_faults(Hook hook) {
  const std::lock_guard lock(mutex_);
  hook_ = hook ? std::make_shared<const Hook>(std::move(hook)) : nullptr;
}

std::size_t MemoryObjectStore::held() const {
  const std::lock_guard lock(mutex_);
  return held_.size();
}

void MemoryObjectStore::release(std::size_t number) {
  std::unique_lock lock(mutex_);
  if (number >= held_.size()) return;
  const auto at = held_.begin() + static_cast<std::ptrdiff_t>(number);
  auto call = std::move(*at);
  held_.erase(at);
  lock.unlock();
  call();
}

MemoryObjectStore::Fault MemoryObjectStore::fault_of(Call call, const std::string& name) {
  std::unique_lock lock(mutex_);
  const std::shared_ptr<const Hook> hook = hook_;
  lock.unlock();
  return hook ? (*hook)(call, name) : Fault::none;
}

void MemoryObjectStore::sample_time() {
  const Instant now = clock_.wall_now();
  const std::lock_guard lock(mutex_);
  sample_ = {.store = objects_->now(), .resolution = {}, .asked = now, .answered = now};
}

}  // namespace pawl
