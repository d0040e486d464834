// UTF-8 as RFC 3629 allows it: no overlong form, no surrogate, nothing above U+10FFFF.
//
// Why:      whoever reads bytes from outside must tell text from noise in the same way, or a name
//           that one room refuses passes in another.
// Contract: pure; a character is no more than four bytes. Threads: any.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pawl {

struct Utf8Character {
  char32_t code;
  std::size_t bytes;  // 1 … 4; 0 when the text does not begin with a well-formed character
};

Utf8Character first_utf8_character(std::string_view text);

// Nothing but well-formed characters.
bool is_utf8(std::string_view text);

// Text in which every character is one that a terminal shows.
bool is_printable(std::string_view text);

// With U+FFFD in place of each byte that belongs to no well-formed character.
std::string well_formed(std::string_view text);

// The code point must be one that UTF-8 can hold: no surrogate, at most U+10FFFF.
void append_utf8(std::string& out, char32_t code);

}  // namespace pawl
