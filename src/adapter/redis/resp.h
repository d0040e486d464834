// The Redis protocol (RESP2): commands as bytes, and bytes as replies.
//
// Why:      hiredis' reader parses; here stand the bounds it lacks. Its own reply tree costs an
//           allocation a node; ours keeps numbers and short strings in place.
// Contract: a reader takes bytes cut anywhere. After an error it stays in error: the connection is
//           of no use any more.
// Bounds:   bounds::redis_reply_bytes_max and redis_reply_items_max a reply, all of its nested ones
//           together; seven levels deep, as hiredis has it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "pawl/result.h"

namespace pawl::redis {

class Reply {
 public:
  enum class Kind : std::uint8_t { nil, integer, string, status, error, array };

  Reply() = default;
  explicit Reply(std::int64_t number) : kind_(Kind::integer), value_(number) {}
  Reply(Kind kind, std::string text) : kind_(kind), value_(std::move(text)) {}
  explicit Reply(std::vector<Reply> items) : kind_(Kind::array), value_(std::move(items)) {}

  Kind kind() const { return kind_; }
  bool is_nil() const { return kind_ == Kind::nil; }
  bool is_error() const { return kind_ == Kind::error; }

  // Null when it is of another kind.
  const std::int64_t* integer() const { return std::get_if<std::int64_t>(&value_); }
  // Of a string, a status ("OK") or an error.
  const std::string* text() const { return std::get_if<std::string>(&value_); }
  std::string* text() { return std::get_if<std::string>(&value_); }
  // Of an array; none when it is something else.
  std::span<const Reply> items() const;
  std::span<Reply> items();

  bool operator==(const Reply&) const = default;

 private:
  Kind kind_ = Kind::nil;
  std::variant<std::monostate, std::int64_t, std::string, std::vector<Reply>> value_;
};

// Like redis-cli shows it, on one line: for messages and tests.
std::string to_string(const Reply& reply);

// Adds one command to what is to be sent.
void append_command(std::string& out, std::span<const std::string_view> words);

class ReplyReader {
 public:
  ReplyReader();
  ~ReplyReader();
  ReplyReader(ReplyReader&&) = delete;

  void feed(std::string_view bytes);
  // The next whole reply, or nothing while more bytes are needed.
  Result<std::optional<Reply>> next();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace pawl::redis
