#include "cli/interruption.h"

#include <csignal>
#include <cstdlib>
#include <utility>

#include "cli/output.h"
#include "pawl/result.h"

namespace pawl::cli {

Interruption::Interruption(std::function<void()> first)
    : first_(std::move(first)), loop_(net::Loop::make()) {
  loop_->on_signals({SIGINT, SIGTERM}, [this](int) { heard(); });
  thread_ = std::thread([this] { loop_->run(); });
}

Interruption::~Interruption() {
  loop_->post([this] { loop_->stop(); });
  thread_.join();
}

void Interruption::heard() {
  if (std::exchange(before_, true)) {
    complain(
        "pawl: ended at once; what was open stays so, and `pawl order reconcile` finds out what "
        "became of it");
    std::_Exit(static_cast<int>(Code::unresolved));
  }
  complain(
      "pawl: interrupted; what has not left is withdrawn, what is on the wire is waited for. Once "
      "more ends it at once");
  first_();
}

}  // namespace pawl::cli
