// Node: a configuration as a tree of text, between the YAML library and the table of fields.
//
// Why:      the library stays in one file, and what is read, the defaults and what is shown all
//           have the same form.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::config {

struct Member;

// What a single value is, for whoever shows it.
enum class Form : std::uint8_t {
  word,
  truth,   // true or false, and means it
  number,  // decimal digits, which programs may take for a number
  secret,  // not shown
  url,     // may hold a password, which is not shown
};

struct Node {
  enum class Kind : std::uint8_t {
    nothing,  // "key:" and no more
    text,
    list,
    map,
    refused,  // has been reported already; whoever meets it passes by in silence
  };

  Kind kind = Kind::nothing;
  int line = 0;  // in the file, from 1
  std::string text;
  Form form = Form::word;
  std::vector<Node> items;
  std::vector<Member> members;  // as written, duplicates included

  static Node of(std::string_view text);
  static Node list(std::vector<Node> items);
  static Node texts(std::initializer_list<std::string_view> texts);
  static Node map(std::vector<Member> members);
};

struct Member {
  std::string key;
  int line = 0;  // of the key
  Node value;
};

// The same text in the same shape; where it stands does not matter.
bool same(const Node& a, const Node& b);

}  // namespace pawl::config
