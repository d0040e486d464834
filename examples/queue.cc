// Submits tasks and runs them: one sleeps once, one fails for good.
//
//   queue URL    dir:PATH, s3://BUCKET/PREFIX or http://HOST:PORT of a `pawl serve`
#include <iostream>
#include <string>

#include <pawl/pawl.h>

namespace {

int fail(const pawl::Error& error) {
  std::cerr << error.message << "\n";
  return static_cast<int>(error.code);
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) {
    std::cerr << "queue URL\n";
    return 2;
  }
  auto queue = pawl::Queue::open(arguments[1]);
  if (!queue) return fail(queue.error());
  const auto task = queue->submit("call_api", R"({"url":"https://example.org"})",
                                  {.key = "example.org", .max_reschedules = 100});
  if (!task) return fail(task.error());
  const auto broken = queue->submit("call_api", R"({"url":"none"})", {.priority = -1});
  if (!broken) return fail(broken.error());

  pawl::Worker worker(*queue, {.name = "worker-1", .concurrency = 2});
  worker.on("call_api", [](pawl::TaskRun& run) {
    if (run.input().find("https://") == std::string::npos) {
      return pawl::TaskEnd::fail("that is no address");
    }
    if (run.attempt() == 1) return pawl::TaskEnd::reschedule(pawl::Duration());  // "not now"
    return pawl::TaskEnd::completed(R"({"status":200})");
  });
  const auto ended = worker.run_once();
  if (!ended) return fail(ended.error());
  std::cout << ended->completed << " completed, " << ended->failed << " failed\n";

  const auto history = queue->history(task->id);
  if (!history) return fail(history.error());
  for (const pawl::TaskVersion& version : *history) std::cout << version.text << "\n";
  const auto end = queue->get(broken->id);
  if (!end) return fail(end.error());
  std::cout << to_string(end->status) << ": " << end->last_error << "\n";
}
