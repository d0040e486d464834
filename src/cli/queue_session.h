// QueueSession: what a verb about the queue needs: the queue that the configuration names, open;
// and the frame in which all of them run.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "adapter/system/system_clock.h"
#include "adapter/system/system_entropy.h"
#include "assembly/queue_office.h"
#include "cli/verb.h"
#include "config/config.h"
#include "port/answer_of.h"

namespace pawl::cli {

// What somebody wants of the queue.
enum class Opens : std::uint8_t {
  look,    // it must be there
  change,  // it must be there
  give,    // it is made where it is not
  follow,  // looks again and again
  work,    // claims; limits of the configuration are set
};

QueueOfficeSettings queue_settings(const config::Config& config, Opens opens);
// Says what somebody should look at on standard error.
QueueOffice::Parts queue_parts(Clock& clock, Entropy& entropy);

// A command that a queue refuses as not valid was typed wrongly.
inline Code typed_wrong(Code code) {
  return code == Code::invalid ? Code::usage : code;
}

class QueueSession {
 public:
  static Result<std::unique_ptr<QueueSession>> open(const config::Config& config, Opens opens);

  const config::Config& config() const { return config_; }
  TaskQueue& queue() { return office_->queue(); }
  QueueOffice& office() { return *office_; }
  Clock& clock() { return clock_; }
  // By the queue's own clock, which may be another than this machine's: what is said in lengths
  // ("for 5m") begins there.
  Instant now() { return queue().view().now; }
  Entropy& entropy() { return entropy_; }
  void close() { office_->close(); }

  // Waits for the answer of a call of the queue.
  template <class T, class Call>
  Result<T> ask(Call call) {
    return answer_of<T>([&](auto done) { call(queue(), std::move(done)); });
  }
  // The replies to some commands. Says so when they are long in coming. An error with the code
  // unresolved: nobody knows whether they were taken.
  Result<std::vector<queue::Reply>> give(std::vector<queue::Command> commands);
  // That to one; a refusal is an error.
  Result<queue::Reply> give_one(queue::Command command);
  // Of a task that is to be submitted on these terms.
  queue::TaskId new_id(const queue::TaskTerms& terms);

 private:
  explicit QueueSession(const config::Config& config) : config_(config) {}

  const config::Config config_;
  SystemClock clock_;
  SystemEntropy entropy_;
  std::unique_ptr<QueueOffice> office_;
};

// What a verb does, with its answer printed; the exit code.
using QueueDeed = std::function<Result<int>(QueueSession& session, const Arguments& arguments)>;
int run_queue_verb(const Arguments& arguments, Opens opens, const QueueDeed& deed);

// Of tasks that may have been submitted, or not.
Error in_doubt(const std::string& store, const json::Array& ids);

// Who gives a command, for those who read of it.
std::string who();

}  // namespace pawl::cli
