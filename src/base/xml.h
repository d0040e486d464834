// XML as S3 speaks it: elements and text. No document type, entity of its own, comment or
// instruction is read: S3 sends none, and most that is dangerous about XML is in them.
//
// Why:      the pure rooms read it as well (the emulated S3), so no library that reaches for the
//           system can; and it is a page.
// Contract: pure. parse() takes one whole document; attributes (xmlns) are passed over. The text
//           of an element with children is what stands between them, blanks trimmed at the ends.
// Bounds:   depth_max levels; as many elements as the text has.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/result.h"

namespace pawl::xml {

inline constexpr std::size_t depth_max = 16;

struct Element {
  std::string name = {};
  std::string text = {};
  std::vector<Element> children = {};

  // The first of that name; null when there is none.
  const Element* find(std::string_view child) const;
  // Its text; empty when there is none.
  std::string_view text_of(std::string_view child) const;
};

Result<Element> parse(std::string_view text);

// With &amp; and the like.
std::string escaped(std::string_view text);

}  // namespace pawl::xml
