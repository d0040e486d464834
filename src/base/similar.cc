#include "base/similar.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/bounds.h"

namespace pawl {
namespace {

std::size_t slips(std::string_view a, std::string_view b) {
  // Three rows of the table whose cell (i, j) says how far the first i letters of a are from the
  // first j of b; a swap looks two rows back.
  std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before_last.swap(last);
    last.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
  }
  return row[b.size()];
}

}  // namespace

std::string_view nearest(std::string_view word, std::span<const std::string_view> known) {
  if (word.size() > bounds::similar_bytes_max) return {};
  std::string_view found;
  std::size_t fewest = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string_view candidate : known) {
    const std::size_t count = slips(word, candidate);
    if (count < fewest) {
      found = candidate;
      fewest = count;
    }
  }
  return found;
}

}  // namespace pawl
