#include "cli/output.h"

#include <cstdio>
#include <string>

namespace pawl::cli {

void print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void complain(std::string_view line) {
  const std::string whole = std::string(line) + "\n";
  std::fwrite(whole.data(), 1, whole.size(), stderr);
}

int fail(const Error& error) {
  complain("pawl: " + error.message);
  return static_cast<int>(error.code);
}

int finish(int code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  return fail(Error(Code::unavailable, Outcome::unknown,
                    "cannot write all of the output; make room for it, or send it elsewhere"));
}

}  // namespace pawl::cli
