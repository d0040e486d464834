// What a million tasks cost in memory, how long their state takes to write and read, and what a
// task costs from its submission to its end. It stands here and not beside the machine, because it
// asks the system for what the heap has.
#include <benchmark/benchmark.h>
#include <malloc.h>

#include "core/queue/machine.h"

namespace pawl::queue {
namespace {

constexpr Instant begin = Instant::from_ns(1'700'000'000'000'000'000);

TaskId id_of(std::uint64_t number) {
  TaskId id;
  number *= 0x9E37'79B9'7F4A'7C15;
  for (std::size_t i = 1; i <= 8; ++i) {
    id.bytes[i] = static_cast<std::uint8_t>(number >> (8 * (8 - i)));
  }
  return id;
}

Submit submit_of(std::uint64_t number, Duration delay, std::uint64_t keys = 1000) {
  return {.id = id_of(number),
          .terms = {.type = "send_mail",
                    .input = R"({"to":"someone@example.com"})",
                    .key = "account-" + std::to_string(number % keys)},
          .delay = delay};
}

Machine filled(std::uint64_t tasks, Duration delay, std::uint64_t keys = 1000) {
  Machine machine(0, {});
  std::vector<Command> commands;
  for (std::uint64_t i = 0; i < tasks; ++i) {
    commands.push_back(submit_of(i, delay, keys));
    if (commands.size() < 1000) continue;
    machine.apply(begin, commands);
    commands.clear();
  }
  return machine;
}

std::size_t in_use() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

// Besides the input: what the heap takes for that is taken off.
void BM_QueueMemory(benchmark::State& state) {
  const auto tasks = static_cast<std::uint64_t>(state.range(0));
  const Duration delay = Duration::seconds(state.range(1));
  const auto keys = static_cast<std::uint64_t>(state.range(2));
  for (auto _ : state) {
    malloc_trim(0);
    const std::size_t before = in_use();
    const Machine machine = filled(tasks, delay, keys);
    const std::size_t used = in_use() - before;
    const std::size_t input = submit_of(0, delay).terms.input.size();
    state.counters["bytes_a_task"] =
        static_cast<double>(used) / static_cast<double>(tasks) - static_cast<double>(input);
  }
}
BENCHMARK(BM_QueueMemory)
    ->ArgNames({"tasks", "delay_s", "keys"})
    ->Args({1'000'000, 0, 1'000})
    ->Args({1'000'000, 60, 1'000})
    ->Args({1'000'000, 60, 1'000'000})
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);

void BM_QueueSave(benchmark::State& state) {
  const Machine machine = filled(1'000'000, Duration::seconds(60));
  std::size_t bytes = 0;
  for (auto _ : state) {
    ByteWriter out;
    machine.save(out);
    bytes = out.size();
  }
  state.counters["bytes"] = static_cast<double>(bytes);
}
BENCHMARK(BM_QueueSave)->Unit(benchmark::kMillisecond)->Iterations(3);

void BM_QueueLoad(benchmark::State& state) {
  ByteWriter out;
  filled(1'000'000, Duration::seconds(state.range(0))).save(out);
  for (auto _ : state) {
    ByteReader in(out.text());
    const auto machine = Machine::load(in, 0, {});
    if (!machine || machine->tasks() != 1'000'000) state.SkipWithError("not what was saved");
  }
}
BENCHMARK(BM_QueueLoad)
    ->ArgName("delay_s")
    ->Arg(0)
    ->Arg(60)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(3);

// Beside `waiting` others that are not due: submit, claim and complete, a hundred of each a
// segment.
void BM_QueueTask(benchmark::State& state) {
  Machine machine = filled(static_cast<std::uint64_t>(state.range(0)), Duration::hours(24));
  std::uint64_t number = std::uint64_t{1} << 40;
  Instant now = begin;
  std::vector<Command> commands;
  for (auto _ : state) {
    commands.clear();
    for (int i = 0; i < 100; ++i) commands.push_back(submit_of(++number, {}));
    now = now + Duration::milliseconds(1);
    machine.apply(now, commands);
    commands = {Claim{.worker = "worker-1", .count = 100}};
    const auto replies = machine.apply(now, commands);
    commands.clear();
    for (const Task& task : std::get<Claimed>(replies[0]).tasks) {
      commands.push_back(Complete{.id = task.id, .fence = task.fence, .output = "{}"});
    }
    machine.apply(now, commands);
  }
  state.SetItemsProcessed(state.iterations() * 100);
}
BENCHMARK(BM_QueueTask)->ArgName("waiting")->Arg(0)->Arg(1'000'000);

// One token at a time, and a hundred thousand that wait for it.
void BM_QueueToken(benchmark::State& state) {
  Machine machine(0, {});
  std::vector<Command> commands = {
      SetLimit{.limited = Limited::key, .name = "api", .rate = 10, .period = Duration::seconds(1)}};
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(state.range(0)); ++i) {
    commands.push_back(submit_of(i, {}));
    std::get<Submit>(commands.back()).terms.key = "api";
  }
  Instant now = begin;
  machine.apply(now, commands);
  for (auto _ : state) {
    now = now + Duration::milliseconds(100);
    commands = {Claim{.worker = "worker-1", .count = 100}};
    const auto replies = machine.apply(now, commands);
    commands.clear();
    for (const Task& task : std::get<Claimed>(replies[0]).tasks) {
      commands.push_back(Reschedule{.id = task.id, .fence = task.fence});
    }
    machine.apply(now, commands);
  }
}
BENCHMARK(BM_QueueToken)->ArgName("waiting")->Arg(1'000)->Arg(100'000);

}  // namespace
}  // namespace pawl::queue
