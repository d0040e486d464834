// Progress: a bar on a terminal, which is drawn over itself; elsewhere nothing.
//
//   submitted [##########..........]  50%  500/1000
//
// Threads:  one.
#pragma once

#include <cstdint>
#include <string>

#include "pawl/clock.h"

namespace pawl::cli {

class Progress {
 public:
  // `all` zero: nobody knows how many; then there is a count and no bar.
  Progress(std::string what, std::uint64_t all, Clock& clock);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(std::uint64_t done);

 private:
  void draw() const;

  const std::string what_;
  const std::uint64_t all_;
  Clock& clock_;
  const bool drawn_;
  bool any_ = false;
  std::uint64_t done_ = 0;
  SteadyInstant last_ = {};
};

// One line, without its end.
std::string progress_line(const std::string& what, std::uint64_t done, std::uint64_t all);

}  // namespace pawl::cli
