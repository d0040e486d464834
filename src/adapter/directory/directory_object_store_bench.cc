// What a durable object costs: creations a second by one caller and by several at once, beside the
// least that a log on the same disk can cost, which is a write and a sync of a file that is there.
#include <atomic>
#include <benchmark/benchmark.h>
#include <cstdlib>
#include <fcntl.h>
#include <future>
#include <string>
#include <unistd.h>

#include "adapter/directory/directory_object_store.h"
#include "adapter/system/system_clock.h"
#include "tests/bench_folder.h"

namespace pawl {
namespace {

// Callers who each create an object, and when that is answered the next.
class Callers {
 public:
  Callers(ObjectStore& store, std::size_t bytes) : store_(store), body_(bytes, 'b') {}

  void run(std::int64_t callers, std::int64_t objects) {
    std::promise<void> finished;
    finished_ = &finished;
    left_ = objects;
    open_ = objects;
    for (std::int64_t i = 0; i < callers; ++i) go_on();
    finished.get_future().wait();
  }

 private:
  void go_on() {
    if (left_-- <= 0) return;
    store_.put(
        {.name = "log/0/" + std::to_string(next_++), .body = body_, .only = PutObject::If::absent},
        [this](const Result<PutAnswer>& answer) {
          if (!answer || answer->verdict != PutAnswer::Verdict::stored) std::abort();
          if (--open_ == 0) return finished_->set_value();
          go_on();
        });
  }

  ObjectStore& store_;
  const std::string body_;
  std::atomic<std::int64_t> next_ = 0;
  std::atomic<std::int64_t> left_ = 0;
  std::atomic<std::int64_t> open_ = 0;
  std::promise<void>* finished_ = nullptr;
};

void bench_create(benchmark::State& state) {
  const BenchFolder folder;
  SystemClock clock;
  const auto store = DirectoryObjectStore::open({.path = folder / "store"}, clock).value();
  constexpr std::int64_t objects = 100;
  Callers callers(*store, static_cast<std::size_t>(state.range(1)));
  for (auto _ : state) callers.run(state.range(0), objects);
  state.SetItemsProcessed(state.iterations() * objects);
}
BENCHMARK(bench_create)
    ->Name("directory/create")
    ->ArgNames({"callers", "bytes"})
    ->Args({1, 4096})
    ->Args({8, 4096})
    ->Args({1, 262'144})
    ->UseRealTime();

void bench_write_and_sync(benchmark::State& state) {
  const BenchFolder folder;
  const int fd = ::open((folder / "log").c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
  const std::string body(static_cast<std::size_t>(state.range(0)), 'b');
  for (auto _ : state) {
    if (::write(fd, body.data(), body.size()) < 0 || ::fdatasync(fd) != 0) std::abort();
  }
  ::close(fd);
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(bench_write_and_sync)
    ->Name("directory/plain_write_and_sync")
    ->ArgNames({"bytes"})
    ->Arg(4096)
    ->Arg(262'144)
    ->UseRealTime();

}  // namespace
}  // namespace pawl
