// SettingsReader: reads the "settings" of a fault script, strictly: what is not known, or is of
// another type, is an error that names it.
//
// Contract: pure. Every call gives the value that was set, or leaves what is there; the first
//           problem is remembered and told by finish().
// Threads:  none. The settings outlive it.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <set>
#include <string>
#include <string_view>

#include "base/json.h"
#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl::emulator {

class SettingsReader {
 public:
  // null is as good as an empty object.
  explicit SettingsReader(const json::Value& settings) : settings_(settings) {}

  void read(std::string_view name, Duration& into);
  void read(std::string_view name, std::size_t& into);
  void read(std::string_view name, bool& into);
  void read(std::string_view name, std::string& into);
  // One of these words.
  void read(std::string_view name, std::string& into,
            std::initializer_list<std::string_view> choices);
  // A list of texts.
  void read(std::string_view name, std::set<std::string>& into);

  // The first problem, or a member that nobody asked for.
  Result<void> finish() const;

 private:
  const json::Value* find(std::string_view name);
  void fail(std::string_view name, std::string_view expected);

  const json::Value& settings_;
  std::set<std::string, std::less<>> known_;
  std::string problem_;
};

}  // namespace pawl::emulator
