#include "cli/output.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <iostream>
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
  std::ifstream opened;
  if (file != "-") {
    opened.open(file, std::ios::binary);
    if (!opened) {
      return failure(Code::not_found,
                     "cannot read '" + file + "'; name a file, or - for standard input");
    }
  }
  std::istream& stream = file == "-" ? std::cin : opened;
  std::string text;
  std::array<char, 64 * 1024> piece;
  while (stream.read(piece.data(), piece.size()) || stream.gcount() > 0) {
    text.append(piece.data(), static_cast<std::size_t>(stream.gcount()));
  }
  // A folder can be opened, too.
  if (stream.bad()) return failure(Code::unavailable, "cannot read '" + file + "' to its end");
  return text;
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
