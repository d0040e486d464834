#include <string>
#include <vector>

#include "cli/run.h"
#include "cli/verbs.h"

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  return pawl::cli::run(pawl::cli::all_verbs(), words);
}
