// The codes with which OKX refuses, their texts, and the HTTP status that each comes with.
//
// Contract: pure tables, of OKX v5's documentation. A code that is not in them gets 200 and a text
//           that says so: whoever writes a fault may name any.
#pragma once

#include <string>
#include <string_view>

namespace pawl::emulator {

// One refusal. An empty code: none.
struct OkxRefusal {
  std::string code = {};
  std::string message = {};
  // In the answer's own code, not in that of an item.
  bool is_whole = false;

  bool refuses() const { return !code.empty(); }
};

int okx_status(std::string_view code);
std::string_view okx_message(std::string_view code);

// What is wrong with one order: told as its sCode.
OkxRefusal okx_item(std::string_view code);
// What is wrong with the call as a whole.
OkxRefusal okx_whole(std::string_view code);
// 51000, with the parameter's name.
OkxRefusal okx_parameter(std::string_view name);
// 50014, with the parameter's name.
OkxRefusal okx_missing(std::string_view name);

}  // namespace pawl::emulator
