#include "adapter/directory/directory_object_store.h"

#include <algorithm>
#include <utility>

#include "port/object_name.h"

namespace pawl {
namespace {

// Nobody writes a draft for that long without touching it.
constexpr Duration draft_life = Duration::hours(1);

// File systems take the kernel's time of its last tick, at a hundred a second or more; some keep
// whole seconds.
Duration resolution_of(Instant written) {
  const bool is_whole = written.ns() % 1'000'000'000 == 0;
  return is_whole ? Duration::seconds(1) : Duration::milliseconds(10);
}

}  // namespace

Result<std::unique_ptr<DirectoryObjectStore>> DirectoryObjectStore::open(DirectoryOptions options,
                                                                         Clock& clock) {
  if (options.threads == 0 || options.threads > bounds::directory_threads_max) {
    return failure(Code::invalid, std::to_string(options.threads) +
                                      " threads cannot serve a folder: take 1 to " +
                                      std::to_string(bounds::directory_threads_max));
  }
  auto files = PAWL_TRY(ObjectFiles::open(options.path));
  const Instant asked = clock.wall_now();
  const Result<Instant> time = files->time();
  files->sweep(time.value_or(asked) - draft_life);
  std::unique_ptr<DirectoryObjectStore> store(
      new DirectoryObjectStore(std::move(options), std::move(files), clock));
  if (time) store->sample(*time, asked);
  return store;
}

DirectoryObjectStore::DirectoryObjectStore(DirectoryOptions options,
                                           std::unique_ptr<ObjectFiles> files, Clock& clock)
    : options_(std::move(options)),
      files_(std::move(files)),
      clock_(clock),
      threads_(options_.threads, options_.calls_max) {}

template <class T, class Work>
void DirectoryObjectStore::run(Done<T> done, Work work) {
  // Shared, so that it is still here when the call is not taken.
  const auto answer = std::make_shared<Done<T>>(std::move(done));
  IoThreads::Work call = [answer, work = std::move(work)]() mutable { (*answer)(work()); };
  if (threads_.run(call)) return;
  (*answer)(failure(Code::unavailable, "the disk of " + name() +
                                           " is too slow: " + std::to_string(options_.calls_max) +
                                           " calls wait for it; try again"));
}

void DirectoryObjectStore::put(PutObject put, Done<PutAnswer> done) {
  if (auto checked = check_object_name(put.name); !checked) {
    return done(std::unexpected(std::move(checked).error()));
  }
  run<PutAnswer>(std::move(done), [this, put = std::move(put)]() -> Result<PutAnswer> {
    const Instant asked = clock_.wall_now();
    {
      const std::lock_guard lock(mutex_);
      ++counts_.puts;
      counts_.bytes_up += put.body.size();
    }
    ObjectFiles::Stored stored = PAWL_TRY(files_->put(put));
    if (stored.written) sample(*stored.written, asked);
    return std::move(stored.answer);
  });
}

void DirectoryObjectStore::get(GetObject get, Done<Object> done) {
  if (auto checked = check_object_name(get.name); !checked) {
    return done(std::unexpected(std::move(checked).error()));
  }
  run<Object>(std::move(done), [this, get = std::move(get)]() -> Result<Object> {
    Result<Object> found = files_->get(get);
    const std::lock_guard lock(mutex_);
    ++counts_.gets;
    if (found) counts_.bytes_down += found->body.size();
    return found;
  });
}

void DirectoryObjectStore::list(ListObjects list, Done<Listing> done) {
  for (const std::string& text : {list.under, list.after}) {
    if (auto checked = check_object_prefix(text); !checked) {
      return done(std::unexpected(std::move(checked).error()));
    }
  }
  run<Listing>(std::move(done), [this, list = std::move(list)] {
    {
      const std::lock_guard lock(mutex_);
      ++counts_.lists;
    }
    return files_->list(list);
  });
}

void DirectoryObjectStore::remove(std::vector<std::string> names, Done<void> done) {
  if (auto checked = check_removal(names); !checked) return done(std::move(checked));
  if (names.empty()) return done({});
  run<void>(std::move(done), [this, names = std::move(names)] {
    {
      const std::lock_guard lock(mutex_);
      ++counts_.deletes;
    }
    return files_->remove(names);
  });
}

std::unique_ptr<ObjectWatch> DirectoryObjectStore::watch(std::string folder,
                                                         std::function<void()> changed) {
  if (!check_object_name(folder)) return nullptr;
  const Result<std::string> path = files_->path_of(folder);
  return path ? watch_.watch(*path, std::move(changed)) : nullptr;
}

std::optional<TimeSample> DirectoryObjectStore::time_sample() const {
  const std::lock_guard lock(mutex_);
  return sample_;
}

RequestCounts DirectoryObjectStore::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

void DirectoryObjectStore::sample(Instant written, Instant asked) {
  const Instant answered = std::max(asked, clock_.wall_now());
  const std::lock_guard lock(mutex_);
  sample_ = {
      .store = written, .resolution = resolution_of(written), .asked = asked, .answered = answered};
}

}  // namespace pawl
