#include "cli/output.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>
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

int worst_of(int a, int b) {
  constexpr int by_weight[] = {4, 70, 6, 5, 1, 2, 3, 0};
  return *std::ranges::find_if(by_weight, [&](int code) { return code == a || code == b; });
}

Result<std::string> contents_of(const std::string& file) {
  std::ostringstream text;
  if (file == "-") {
    text << std::cin.rdbuf();
    return text.str();
  }
  std::ifstream stream(file, std::ios::binary);
  if (!stream) {
    return failure(Code::not_found,
                   "cannot read '" + file + "'; name a file, or - for standard input");
  }
  text << stream.rdbuf();
  const std::string found = text.str();
  // A folder can be opened, and has nothing to be read.
  if (found.empty() && stream.peek() != std::ifstream::traits_type::eof()) {
    return failure(Code::unavailable, "cannot read '" + file + "'");
  }
  return found;
}

bool is_written() {
  return std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
}

int finish(int code) {
  if (is_written()) return code;
  const int failed =
      fail(Error(Code::unavailable, Outcome::unknown,
                 "cannot write all of the output; make room for it, or send it elsewhere"));
  return worst_of(code, failed);
}

}  // namespace pawl::cli
