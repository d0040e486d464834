// "Did you mean …?": the word that somebody most likely wanted to write.
//
// Contract: pure. A near word is a few slips of the fingers away: letters added, left out,
//           replaced, or swapped with their neighbour; about one slip in three letters.
// Bounds:   a word over bounds::similar_bytes_max is near to none.
#pragma once

#include <span>
#include <string_view>

namespace pawl {

// The nearest of `known`, the first when several are equally near; empty when none is near.
std::string_view nearest(std::string_view word, std::span<const std::string_view> known);

}  // namespace pawl
