#include "config/problem.h"

namespace pawl::config {

std::string to_string(const Problem& problem) {
  std::string out = problem.file;
  if (problem.line > 0) out += ":" + std::to_string(problem.line);
  out += ": ";
  if (!problem.path.empty()) out += problem.path + ": ";
  return out + problem.message;
}

}  // namespace pawl::config
