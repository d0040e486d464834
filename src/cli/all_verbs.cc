#include <span>
#include <vector>

#include "cli/order_rows.h"
#include "cli/queue_rows.h"
#include "cli/verbs.h"
#include "cli/work_verb.h"

namespace pawl::cli {
namespace {

std::vector<Verb> joined() {
  std::vector<Verb> all;
  for (const std::span<const Verb> rows :
       {basic_rows(), order_rows(), task_rows(), work_rows(), queue_rows()}) {
    all.insert(all.end(), rows.begin(), rows.end());
  }
  return all;
}

}  // namespace

std::span<const Verb> all_verbs() {
  static const std::vector<Verb> all = joined();
  return all;
}

}  // namespace pawl::cli
