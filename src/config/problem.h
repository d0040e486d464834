// Problem: one thing that is wrong with a configuration file, with the place to look at.
#pragma once

#include <string>

namespace pawl::config {

struct Problem {
  std::string file;
  int line = 0;      // from 1; 0 when no line is to blame
  std::string path;  // "limits.buckets[0].rate"; empty when it is about the whole file
  std::string message;

  bool operator==(const Problem&) const = default;
};

// pawl.yaml:12: limits.buckets[0].rate: found "100/1x"; allowed: COUNT/DURATION, as in 100/1m
// One line, whatever stood in the file.
std::string to_string(const Problem& problem);

}  // namespace pawl::config
