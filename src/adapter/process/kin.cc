#include "adapter/process/kin.h"

#include <algorithm>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>

namespace pawl {
namespace {

struct Seen {
  pid_t parent = 0;
  std::uint64_t born = 0;
};

// "pid (name) state parent …": a name may hold anything, parentheses too. The 22nd is its birth.
std::optional<Seen> read_stat(const std::string& pid) {
  std::ifstream file("/proc/" + pid + "/stat");
  std::string line;
  std::getline(file, line);
  const auto name_end = line.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream rest(line.substr(name_end + 1));
  Seen seen;
  std::string passed;
  constexpr int between = 17;  // parent and birth
  rest >> passed >> seen.parent;
  for (int i = 0; i < between; ++i) rest >> passed;
  rest >> seen.born;
  if (!rest) return std::nullopt;
  return seen;
}

std::map<pid_t, Seen> read_processes() {
  std::map<pid_t, Seen> processes;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename();
    pid_t pid = 0;
    const auto read = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (read.ec != std::errc() || read.ptr != name.data() + name.size()) continue;
    if (const auto seen = read_stat(name)) processes.emplace(pid, *seen);
  }
  return processes;
}

// Empty, where it is somebody else's, or has ended.
std::string read_environment(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/environ", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool carries(pid_t pid, const std::vector<std::string>& marks) {
  if (marks.empty()) return false;
  const std::string lines = '\0' + read_environment(pid) + '\0';
  return std::ranges::all_of(marks, [&](const std::string& mark) {
    return lines.find('\0' + mark + '\0') != std::string::npos;
  });
}

}  // namespace

bool Kin::look(pid_t root) {
  const std::map<pid_t, Seen> processes = read_processes();
  std::erase_if(all_, [&](const One& one) {
    const auto found = processes.find(one.pid);
    return found == processes.end() || found->second.born != one.born;
  });
  const auto is_known = [&](pid_t pid) {
    return pid == root || std::ranges::find(all_, pid, &One::pid) != all_.end();
  };
  const std::size_t before = all_.size();
  for (const auto& [pid, seen] : processes) {
    if (!is_known(pid) && carries(pid, marks_)) all_.push_back({pid, seen.born});
  }
  for (std::size_t count = before + 1; count != all_.size();) {
    count = all_.size();
    for (const auto& [pid, seen] : processes) {
      if (is_known(seen.parent) && !is_known(pid)) all_.push_back({pid, seen.born});
    }
  }
  return all_.size() != before;
}

void Kin::signal(int number) const {
  for (const One& one : all_) ::kill(one.pid, number);
}

}  // namespace pawl
