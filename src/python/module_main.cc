// _pawl: what pawl's Python package (python/pawl) is written on: Queue and Worker of include/pawl,
// without their waiting.
//
// Contract: a call takes a ticket and returns at once. Its answer is a letter with that ticket:
//           (ticket, value, error), of which take() gives all there are once fileno() is readable.
//           Values are plain Python; times and lengths of time are whole nanoseconds.
// Why:      nothing here runs Python on a thread of the queue, or waits with the interpreter's lock
//           held (mailbox.h). Whose future belongs to a ticket is known in Python alone.
// Threads:  all of it is for the loop's thread, but for Run, which any may use.
#include <exception>
#include <memory>
#include <optional>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <string>
#include <string_view>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "pawl/queue.h"
#include "pawl/version.h"
#include "pawl/worker.h"
#include "python/mailbox.h"
#include "python/manual_clock.h"
#include "python/opening.h"

namespace pawl::python {
namespace {

namespace py = pybind11;
using namespace pybind11::literals;

using Ticket = std::uint64_t;
// Made where the interpreter's lock is held; until then nothing in it is Python's.
using Making = std::move_only_function<py::object()>;

struct Letter {
  Ticket ticket = 0;
  Making value = {};
  std::optional<Error> error = {};
};
using Box = Mailbox<Letter>;
using Boxed = std::shared_ptr<Box>;

Duration length_of(std::int64_t ns) {
  return Duration::nanoseconds(ns);
}

// What commands and services say last is kept as it came, and need not be UTF-8.
py::str text_of(std::string_view text) {
  PyObject* const made =
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
  if (made == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::str>(made);
}

py::object object_of(const std::optional<Instant>& instant) {
  return instant ? py::cast(instant->ns()) : py::none();
}
// An empty text is none.
py::object object_of(const std::string& text) {
  return text.empty() ? py::object(py::none()) : text_of(text);
}

py::dict object_of(const TaskInfo& task) {
  return py::dict(
      "id"_a = text_of(task.id), "task_type"_a = text_of(task.type),
      "input_json"_a = text_of(task.input), "key"_a = object_of(task.key),
      "unique"_a = object_of(task.unique), "status"_a = to_string(task.status),
      "priority"_a = task.priority, "attempt"_a = task.attempt, "retry_count"_a = task.retry_count,
      "max_retries"_a = task.max_retries, "reschedule_count"_a = task.reschedule_count,
      "max_reschedules"_a = task.max_reschedules, "timeout"_a = task.timeout.ns(),
      "created_at"_a = task.created_at.ns(), "available_at"_a = task.available_at.ns(),
      "updated_at"_a = task.updated_at.ns(), "expires_at"_a = object_of(task.expires_at),
      "lease_expires_at"_a = object_of(task.lease_expires_at),
      "completed_at"_a = object_of(task.completed_at), "fence"_a = task.fence,
      "worker_id"_a = object_of(task.worker), "output_json"_a = object_of(task.output),
      "last_error"_a = object_of(task.last_error), "cancel_requested"_a = task.cancel_requested,
      "cancelled_by"_a = object_of(task.cancelled_by));
}

py::tuple object_of(const SubmittedTask& task) {
  return py::make_tuple(text_of(task.id), task.fresh);
}

py::tuple object_of(const TaskVersion& version) {
  return py::make_tuple(version.at.ns(), to_string(version.status), text_of(version.text));
}

py::str object_of(TaskStatus status) {
  return text_of(to_string(status));
}

py::int_ object_of(Instant instant) {
  return py::int_(instant.ns());
}

py::tuple object_of(const Error& error) {
  return py::make_tuple(to_string(error.code), to_string(error.outcome), text_of(error.message),
                        error.retry_after.ns());
}

py::dict object_of(const TaskWhy& why) {
  return py::dict("hold"_a = static_cast<int>(why.hold), "scope"_a = object_of(why.scope),
                  "name"_a = object_of(why.name), "until"_a = object_of(why.until),
                  "ahead"_a = why.ahead, "worker"_a = object_of(why.worker));
}

py::dict object_of(const TypeStats& stats) {
  return py::dict("task_type"_a = text_of(stats.type), "pending"_a = stats.pending,
                  "due"_a = stats.due, "running"_a = stats.running, "completed"_a = stats.completed,
                  "failed"_a = stats.failed, "cancelled"_a = stats.cancelled,
                  "expired"_a = stats.expired, "oldest_due"_a = object_of(stats.oldest_due));
}

// (value, error), one of which is None.
template <class T>
py::tuple object_of(const Result<T>& result) {
  if (!result) return py::make_tuple(py::none(), object_of(result.error()));
  return py::make_tuple(object_of(*result), py::none());
}

template <class T>
py::list object_of(const std::vector<T>& all) {
  py::list out;
  for (const T& each : all) out.append(object_of(each));
  return out;
}

py::dict object_of(const QueueStats& stats) {
  return py::dict("types"_a = object_of(stats.types), "submitted"_a = stats.submitted,
                  "completed"_a = stats.completed, "failed"_a = stats.failed,
                  "retried"_a = stats.retried, "rescheduled"_a = stats.rescheduled,
                  "commits"_a = stats.commits, "puts"_a = stats.puts, "gets"_a = stats.gets,
                  "store"_a = text_of(stats.store));
}

py::dict object_of(const WorkerStats& stats) {
  return py::dict("claimed"_a = stats.claimed, "completed"_a = stats.completed,
                  "retried"_a = stats.retried, "rescheduled"_a = stats.rescheduled,
                  "failed"_a = stats.failed, "cancelled"_a = stats.cancelled,
                  "timed_out"_a = stats.timed_out, "given_back"_a = stats.given_back,
                  "refused"_a = stats.refused);
}

// A `done` that posts the answer.
template <class T>
auto posts(Boxed box, Ticket ticket) {
  return [box = std::move(box), ticket](Result<T>&& result) {
    Letter letter{.ticket = ticket};
    if (!result) {
      letter.error = result.error();
    } else if constexpr (!std::is_void_v<T>) {
      letter.value = [value = *std::move(result)]() -> py::object { return object_of(value); };
    }
    box->put(std::move(letter));
  };
}

void post_text(const Boxed& box, Ticket ticket, std::string_view text) {
  box->put({.ticket = ticket,
            .value = [kept = std::string(text)]() -> py::object { return text_of(kept); }});
}

// One whose value cannot be made is an error of its own ticket: the others have left the box too.
py::tuple opened(Letter& letter) {
  try {
    py::object value = letter.value ? letter.value() : py::none();
    py::object error = letter.error ? py::object(object_of(*letter.error)) : py::none();
    return py::make_tuple(letter.ticket, std::move(value), std::move(error));
  } catch (const std::exception& thrown) {
    const Error error(Code::internal, Outcome::unknown,
                      std::string("the answer cannot be told in Python: ") + thrown.what());
    return py::make_tuple(letter.ticket, py::none(), object_of(error));
  }
}

// A task that a handler has; it ends once.
class Run {
 public:
  Run(Boxed box, std::shared_ptr<TaskRun> run, Worker::Ended done)
      : box_(std::move(box)), run_(std::move(run)), done_(std::move(done)) {}

  py::dict info() const { return object_of(run_->info()); }
  py::str task_type() const { return text_of(run_->info().type); }
  bool stop_asked() const { return run_->stop_asked(); }
  py::str stop_reason() const { return text_of(run_->stop_reason()); }
  bool cancel_requested() const { return run_->cancel_requested(); }
  void on_stop(Ticket ticket) {
    run_->on_stop([box = box_, ticket] { box->put({.ticket = ticket}); });
  }
  void extend(Ticket ticket, std::int64_t lease_ns) {
    run_->extend(length_of(lease_ns), posts<Instant>(box_, ticket));
  }
  void complete(std::string output) { end(TaskEnd::completed(std::move(output))); }
  void retry(std::string error, std::int64_t not_before_ns) {
    end(TaskEnd::retry(std::move(error), length_of(not_before_ns)));
  }
  void reschedule(std::int64_t delay_ns, int scope, std::optional<std::string> input) {
    TaskEnd later = TaskEnd::reschedule(length_of(delay_ns), static_cast<TaskScope>(scope));
    end(input ? std::move(later).with_input(*std::move(input)) : std::move(later));
  }
  void fail(std::string error) { end(TaskEnd::fail(std::move(error))); }

 private:
  void end(TaskEnd end) {
    if (Worker::Ended done = std::exchange(done_, {})) done(std::move(end));
  }

  const Boxed box_;
  const std::shared_ptr<TaskRun> run_;
  Worker::Ended done_;
};

class Connection {
 public:
  Connection() {
    auto box = Box::open();
    if (!box) throw std::runtime_error(box.error().message);
    box_ = *std::move(box);
  }
  ~Connection() {
    const py::gil_scoped_release others_go_on;
    if (::getpid() != made_by_) {  // a fork, in which the queue's threads are not
      if (thread_.joinable()) thread_.detach();
      (void)opening_->queue.release();
      return;
    }
    if (opening_->give_up()) {
      thread_.detach();
      return;
    }
    wait();
    opening_->queue.reset();
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  int fileno() const { return box_->descriptor(); }
  const Boxed& box() const { return box_; }
  // Once it was opened, and until it is closed.
  Queue& queue() {
    if (!opening_->queue) throw std::logic_error("the queue is not open");
    return *opening_->queue;
  }

  py::list take() {
    py::list out;
    for (Letter& letter : box_->take()) out.append(opened(letter));
    return out;
  }

  void open(Ticket ticket, QueueOptions options, std::shared_ptr<ManualClock> clock) {
    clock_ = std::move(clock);
    opening_->begin();
    thread_ = std::thread([ticket, options = std::move(options), opening = opening_, box = box_,
                           kept_clock = clock_] {
      auto opened = Queue::open(options, kept_clock.get());
      if (opened) {
        opening->opened(std::make_unique<Queue>(*std::move(opened)));
        return box->put({.ticket = ticket});
      }
      opening->opened({});
      box->put({.ticket = ticket, .error = opened.error()});
    });
  }
  void close(Ticket ticket) {
    wait();
    thread_ = std::thread([this, ticket] {
      opening_->queue.reset();
      box_->put({.ticket = ticket});
    });
  }

 private:
  void wait() {
    if (thread_.joinable()) thread_.join();
  }

  const pid_t made_by_ = ::getpid();
  Boxed box_;
  std::shared_ptr<ManualClock> clock_;
  const std::shared_ptr<Opening> opening_ = std::make_shared<Opening>();
  std::thread thread_;  // opens or closes it
};

class RunningWorker {
 public:
  // Each task that is to be handled is a letter with the ticket `begins`, a Run.
  RunningWorker(Connection& connection, WorkerOptions options,
                const std::vector<std::string>& types, Ticket begins)
      : box_(connection.box()), worker_(connection.queue(), std::move(options)) {
    for (const std::string& type : types) {
      worker_.on(type, [box = box_, begins](std::shared_ptr<TaskRun> task, Worker::Ended done) {
        auto run = std::make_shared<Run>(box, std::move(task), std::move(done));
        box->put({.ticket = begins,
                  .value = [run = std::move(run)]() -> py::object { return py::cast(run); }});
      });
    }
  }
  ~RunningWorker() {
    const py::gil_scoped_release others_go_on;
    if (!thread_.joinable()) return;
    worker_.abandon();  // the loop of its handlers is gone
    thread_.join();
  }
  RunningWorker(const RunningWorker&) = delete;
  RunningWorker& operator=(const RunningWorker&) = delete;

  void run(Ticket ticket, bool once) {
    thread_ = std::thread([this, ticket, once] {
      posts<WorkerStats>(box_, ticket)(once ? worker_.run_once() : worker_.run());
    });
  }
  void stop(std::int64_t drain_ns) { worker_.stop(length_of(drain_ns)); }

 private:
  const Boxed box_;
  Worker worker_;
  std::thread thread_;
};

NewTask new_task(const py::dict& from) {
  NewTask task{.type = from["task_type"].cast<std::string>(),
               .input = from["input_json"].cast<std::string>()};
  const auto whole = [&](const char* name) { return from[name].cast<std::int64_t>(); };
  const auto instant = [&](const char* name) {
    const auto ns = from[name].cast<std::optional<std::int64_t>>();
    return ns ? std::optional(Instant::from_ns(*ns)) : std::nullopt;
  };
  SubmitOptions& options = task.options;
  options.id = from["id"].cast<std::string>();
  options.key = from["key"].cast<std::string>();
  options.unique = from["unique"].cast<std::string>();
  options.priority = from["priority"].cast<std::int32_t>();
  options.max_retries = from["max_retries"].cast<std::uint32_t>();
  options.max_reschedules = from["max_reschedules"].cast<std::optional<std::uint32_t>>();
  options.timeout = length_of(whole("timeout"));
  options.delay = length_of(whole("delay"));
  options.at = instant("at");
  options.time_to_live = length_of(whole("time_to_live"));
  options.expires_at = instant("expires_at");
  const auto backoff = from["backoff"].cast<py::dict>();
  options.retries = {.base_delay = length_of(backoff["base"].cast<std::int64_t>()),
                     .max_delay = length_of(backoff["max"].cast<std::int64_t>()),
                     .multiplier = backoff["multiplier"].cast<double>(),
                     .jitter = backoff["jitter"].cast<double>()};
  for (const py::handle delay : backoff["delays"]) {
    options.retries.delays.push_back(length_of(delay.cast<std::int64_t>()));
  }
  return task;
}

TaskQuery query_of(const py::dict& from) {
  TaskQuery query{.type = from["task_type"].cast<std::string>(),
                  .key = from["key"].cast<std::string>(),
                  .after = from["after"].cast<std::string>(),
                  .limit = from["limit"].cast<std::size_t>()};
  const auto status = from["status"].cast<std::optional<std::string>>();
  for (int i = 1; status && i <= static_cast<int>(TaskStatus::expired); ++i) {
    if (to_string(static_cast<TaskStatus>(i)) == *status) query.status = static_cast<TaskStatus>(i);
  }
  return query;
}

// Calls the queue without the interpreter's lock: its strand may have work of others to do.
template <class Call>
void ask(Connection& connection, Call call) {
  Queue& queue = connection.queue();
  const py::gil_scoped_release others_go_on;
  call(queue, connection.box());
}

void bind_calls(py::class_<Connection>& bound) {
  bound.def("submit", [](Connection& self, Ticket ticket, const py::dict& task) {
    ask(self, [&, given = new_task(task)](Queue& queue, const Boxed& box) {
      queue.submit(given, posts<SubmittedTask>(box, ticket));
    });
  });
  bound.def("submit_many", [](Connection& self, Ticket ticket, const py::list& tasks) {
    std::vector<NewTask> given;
    for (const py::handle task : tasks) given.push_back(new_task(task.cast<py::dict>()));
    ask(self, [&](Queue& queue, const Boxed& box) {
      queue.submit_many(given, posts<std::vector<Result<SubmittedTask>>>(box, ticket));
    });
  });
  bound.def("get", [](Connection& self, Ticket ticket, const std::string& id) {
    ask(self, [&](Queue& queue, const Boxed& box) { queue.get(id, posts<TaskInfo>(box, ticket)); });
  });
  bound.def("list", [](Connection& self, Ticket ticket, const py::dict& query) {
    ask(self, [&, asked = query_of(query)](Queue& queue, const Boxed& box) {
      queue.list(asked, posts<std::vector<TaskInfo>>(box, ticket));
    });
  });
  bound.def("history", [](Connection& self, Ticket ticket, const std::string& id) {
    ask(self, [&](Queue& queue, const Boxed& box) {
      queue.history(id, posts<std::vector<TaskVersion>>(box, ticket));
    });
  });
  bound.def("why", [](Connection& self, Ticket ticket, const std::string& id) {
    ask(self, [&](Queue& queue, const Boxed& box) { queue.why(id, posts<TaskWhy>(box, ticket)); });
  });
  bound.def("cancel",
            [](Connection& self, Ticket ticket, const std::string& id, const std::string& why) {
              ask(self, [&](Queue& queue, const Boxed& box) {
                queue.cancel(id, why, posts<TaskStatus>(box, ticket));
              });
            });
  bound.def("replay", [](Connection& self, Ticket ticket, const std::string& id) {
    ask(self,
        [&](Queue& queue, const Boxed& box) { queue.replay(id, posts<TaskStatus>(box, ticket)); });
  });
  bound.def("close_scope", [](Connection& self, Ticket ticket, const py::dict& closing) {
    const ScopeClosing asked{.scope = static_cast<TaskScope>(closing["scope"].cast<int>()),
                             .name = closing["name"].cast<std::string>(),
                             .until = Instant::from_ns(closing["until"].cast<std::int64_t>()),
                             .spread = length_of(closing["spread"].cast<std::int64_t>())};
    ask(self,
        [&](Queue& queue, const Boxed& box) { queue.close(asked, posts<void>(box, ticket)); });
  });
  bound.def(
      "now", [](Connection& self) { return self.queue().now().ns(); },
      py::call_guard<py::gil_scoped_release>());
  bound.def("stats", [](Connection& self, Ticket ticket) {
    ask(self, [&](Queue& queue, const Boxed& box) { queue.stats(posts<QueueStats>(box, ticket)); });
  });
}

void bind_connection(py::module_& module) {
  py::class_<Connection> bound(module, "Connection");
  bound.def(py::init<>())
      .def("fileno", &Connection::fileno)
      .def("take", &Connection::take)
      .def("open",
           [](Connection& self, Ticket ticket, const py::dict& how, Ticket notes) {
             QueueOptions options{.url = how["url"].cast<std::string>(),
                                  .shards = how["shards"].cast<std::uint32_t>(),
                                  .kept = length_of(how["kept"].cast<std::int64_t>()),
                                  .makes = how["makes"].cast<bool>()};
             options.note = [box = self.box(), notes](std::string_view text) {
               post_text(box, notes, text);
             };
             self.open(ticket, std::move(options),
                       how["clock"].cast<std::shared_ptr<ManualClock>>());
           })
      .def("close", &Connection::close, py::call_guard<py::gil_scoped_release>());
  bind_calls(bound);
}

void bind_worker(py::module_& module) {
  py::class_<Run, std::shared_ptr<Run>>(module, "Run")
      .def("info", &Run::info)
      .def("task_type", &Run::task_type)
      .def("stop_asked", &Run::stop_asked)
      .def("stop_reason", &Run::stop_reason)
      .def("cancel_requested", &Run::cancel_requested)
      .def("on_stop", &Run::on_stop)
      .def("extend", &Run::extend, py::call_guard<py::gil_scoped_release>())
      .def("complete", &Run::complete, py::call_guard<py::gil_scoped_release>())
      .def("retry", &Run::retry, py::call_guard<py::gil_scoped_release>())
      .def("reschedule", &Run::reschedule, py::call_guard<py::gil_scoped_release>())
      .def("fail", &Run::fail, py::call_guard<py::gil_scoped_release>());
  py::class_<RunningWorker>(module, "RunningWorker")
      .def(py::init([](Connection& connection, const py::dict& how, Ticket begins, Ticket notes) {
             WorkerOptions options{.name = how["name"].cast<std::string>(),
                                   .concurrency = how["concurrency"].cast<std::uint32_t>(),
                                   .lease = length_of(how["lease"].cast<std::int64_t>())};
             options.note = [box = connection.box(), notes](std::string_view text) {
               post_text(box, notes, text);
             };
             return std::make_unique<RunningWorker>(connection, std::move(options),
                                                    how["types"].cast<std::vector<std::string>>(),
                                                    begins);
           }),
           py::keep_alive<1, 2>())
      .def("run", &RunningWorker::run)
      .def("stop", &RunningWorker::stop, py::call_guard<py::gil_scoped_release>());
}

}  // namespace

PYBIND11_MODULE(_pawl, module) {
  module.attr("version") = std::string(version());
  py::class_<ManualClock, std::shared_ptr<ManualClock>>(module, "ManualClock")
      .def(py::init<std::int64_t>())
      .def("now", [](ManualClock& clock) { return clock.wall_now().ns(); })
      .def("advance", &ManualClock::advance);
  bind_connection(module);
  bind_worker(module);
}

}  // namespace pawl::python
