// A configuration from its text: what it says, or what is wrong with it.
#pragma once

#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <string_view>

#include "config/load.h"

namespace pawl::config {

inline Loaded load_settings(std::string_view text) {
  return load_text(
      "pawl.yaml", text, [](std::string_view) { return std::nullopt; },
      [](std::string_view) { return Zone::utc(); });
}

inline std::string problems_of(std::string_view text) {
  const Loaded loaded = load_settings(text);
  if (loaded) return "";
  std::string out;
  for (const Problem& problem : loaded.error()) out += to_string(problem) + "\n";
  return out;
}

inline Config loaded(std::string_view text) {
  auto config = load_settings(text);
  EXPECT_TRUE(config.has_value()) << problems_of(text);
  return config.value_or(Config());
}

}  // namespace pawl::config
