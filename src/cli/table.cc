#include "cli/table.h"

#include <algorithm>

#include "cli/words.h"

namespace pawl::cli {
namespace {

std::vector<std::size_t> widths_of(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const auto& cells : rows) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      widths[i] = std::max(widths[i], width_of(cells[i]));
    }
  }
  return widths;
}

}  // namespace

std::string table(const std::vector<std::vector<std::string>>& rows) {
  std::string sides(rows.front().size(), 'r');
  sides[0] = 'l';
  return table(rows, sides);
}

std::string table(const std::vector<std::vector<std::string>>& rows, std::string_view sides,
                  const Paint& paint) {
  const std::vector<std::size_t> widths = widths_of(rows);
  std::string out;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    std::size_t blanks = 0;
    for (std::size_t i = 0; i < rows[row].size(); ++i) {
      const std::string& cell = rows[row][i];
      const std::size_t spare = widths[i] - width_of(cell);
      const bool right = sides[i] == 'r';
      if (right) blanks += spare;
      if (!cell.empty()) {
        out.append(blanks, ' ');
        blanks = 0;
      }
      const std::string_view with = paint ? paint(row, i) : std::string_view();
      out.append(with).append(cell).append(with.empty() ? "" : "\033[0m");
      blanks += (right ? 0 : spare) + 2;
    }
    out += "\n";
  }
  return out;
}

}  // namespace pawl::cli
