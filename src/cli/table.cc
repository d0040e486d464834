#include "cli/table.h"

#include <algorithm>
#include <cstddef>

namespace pawl::cli {

std::string table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const auto& cells : rows) {
    for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], cells[i].size());
  }
  std::string out;
  for (const auto& cells : rows) {
    out += cells[0] + std::string(widths[0] - cells[0].size(), ' ');
    for (std::size_t i = 1; i < cells.size(); ++i) {
      out += std::string(widths[i] - cells[i].size() + 2, ' ') + cells[i];
    }
    out += "\n";
  }
  return out;
}

}  // namespace pawl::cli
