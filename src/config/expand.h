// ${NAME} and ${NAME:-default} in a value, and $${ for the characters themselves.
//
// Contract: pure; the environment comes in as a function. It is done on single values after the
//           file was read, so what a variable holds can never become a key or a list. As in a
//           shell, the default is taken when the variable is not set or empty. Defaults do not
//           nest.
#pragma once

#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace pawl::config {

using Env = std::function<std::optional<std::string>(std::string_view name)>;

// The error is a sentence that holds names of variables and no part of the value, which may be
// secret.
std::expected<std::string, std::string> expand(std::string_view text, const Env& env);

// The text that expand() turns into `text`.
std::string escape(std::string_view text);

}  // namespace pawl::config
