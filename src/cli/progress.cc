#include "cli/progress.h"

#include <iostream>
#include <unistd.h>
#include <utility>

#include "cli/words.h"

namespace pawl::cli {
namespace {

constexpr Duration between_draws = Duration::milliseconds(50);

}  // namespace

std::string progress_line(const std::string& what, std::uint64_t done, std::uint64_t all) {
  if (all == 0) return what + " " + std::to_string(done);
  return what + " " + bar(done, all) + " " + std::to_string(100 * done / all) + "%  " +
         std::to_string(done) + "/" + std::to_string(all);
}

Progress::Progress(std::string what, std::uint64_t all, Clock& clock)
    : what_(std::move(what)), all_(all), clock_(clock), drawn_(::isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (!any_) return;
  draw();
  std::cerr << "\n" << std::flush;
}

void Progress::show(std::uint64_t done) {
  if (!drawn_) return;
  done_ = done;
  const SteadyInstant now = clock_.steady_now();
  if (any_ && now - last_ < between_draws) return;
  any_ = true;
  last_ = now;
  draw();
}

void Progress::draw() const {
  std::cerr << "\r\033[K" << progress_line(what_, done_, all_) << std::flush;
}

}  // namespace pawl::cli
