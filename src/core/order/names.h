// The names of an enumeration's values, in its order: printed and read by one table.
//
// Contract: pure. The table has a name for every value.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace pawl::order {

template <std::size_t N>
using Names = std::array<std::string_view, N>;

template <class Named, std::size_t N>
constexpr std::string_view name_in(const Names<N>& names, Named value) {
  return names[static_cast<std::size_t>(value)];
}

template <class Named, std::size_t N>
constexpr std::optional<Named> find_in(const Names<N>& names, std::string_view name) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Named>(found - names.begin());
}

}  // namespace pawl::order
