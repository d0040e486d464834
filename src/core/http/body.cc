#include "core/http/body.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/assert.h"
#include "base/text.h"

namespace pawl::http {
namespace {

constexpr int chunk_size_digits_max = 12;  // 2^48 bytes; no overflow to think about

std::unexpected<Rejection> malformed(std::string_view reason) {
  return std::unexpected(Rejection{Rejection::Kind::malformed, reason});
}

// What a reader that puts trailers with the head would take for a second opinion.
bool is_framing(std::string_view name) {
  constexpr std::array<std::string_view, 3> names = {"Content-Length", "Transfer-Encoding", "Host"};
  return std::ranges::any_of(
      names, [name](std::string_view each) { return equal_ignoring_case(each, name); });
}

char take(std::string_view& input) {
  const char c = input.front();
  input.remove_prefix(1);
  return c;
}

}  // namespace

BodyReader::BodyReader(Framing framing) : state_(State::done) {
  switch (framing.kind) {
    case Framing::Kind::none:
      break;
    case Framing::Kind::length:
      left_ = framing.length;
      if (left_ > 0) state_ = State::fixed;
      break;
    case Framing::Kind::chunked:
      state_ = State::chunk_size;
      break;
    case Framing::Kind::until_close:
      state_ = State::open_ended;
      break;
  }
}

bool BodyReader::complete_on_close() const {
  return state_ == State::done || state_ == State::open_ended;
}

std::expected<std::string_view, Rejection> BodyReader::feed(std::string_view& input) {
  while (!input.empty()) {
    std::expected<bool, Rejection> line_done = true;
    switch (state_) {
      case State::done:
        return std::string_view();
      case State::open_ended:
        return std::exchange(input, std::string_view());
      case State::fixed:
      case State::chunk_data: {
        const auto size =
            static_cast<std::size_t>(std::min(left_, static_cast<std::int64_t>(input.size())));
        const std::string_view piece = input.substr(0, size);
        input.remove_prefix(size);
        left_ -= static_cast<std::int64_t>(size);
        if (left_ == 0) state_ = state_ == State::fixed ? State::done : State::chunk_end;
        return piece;
      }
      case State::chunk_size:
        line_done = read_size_line(input);
        break;
      case State::chunk_end:
        line_done = read_chunk_end(input);
        break;
      case State::trailer:
        line_done = read_trailer(input);
        break;
    }
    if (!line_done) return std::unexpected(line_done.error());
    if (!*line_done) break;
  }
  return std::string_view();
}

// Each of the line readers goes byte by byte, because a line may be cut anywhere between two reads.
// True: the line is over.
std::expected<bool, Rejection> BodyReader::read_size_line(std::string_view& input) {
  while (!input.empty()) {
    const char c = take(input);
    if (after_cr_) {
      if (c != '\n') return malformed("CR without LF in a chunk header");
      after_cr_ = false;
      size_digits_ = 0;
      state_ = left_ > 0 ? State::chunk_data : State::trailer;
      return true;
    }
    if (const int digit = hex_value(c); digit >= 0) {
      if (++size_digits_ > chunk_size_digits_max) return malformed("a chunk size out of range");
      left_ = left_ * 16 + digit;
    } else if (c == '\r' && size_digits_ > 0) {
      after_cr_ = true;
    } else if (c == ';') {
      return malformed("a chunk extension");
    } else {
      return malformed("a chunk size that is no hexadecimal number");
    }
  }
  return false;
}

std::expected<bool, Rejection> BodyReader::read_chunk_end(std::string_view& input) {
  while (!input.empty()) {
    const char c = take(input);
    if (c != (after_cr_ ? '\n' : '\r')) return malformed("a chunk longer than its size");
    after_cr_ = !after_cr_;
    if (!after_cr_) {
      state_ = State::chunk_size;
      return true;
    }
  }
  return false;
}

std::expected<bool, Rejection> BodyReader::read_trailer(std::string_view& input) {
  while (!input.empty()) {
    const char c = take(input);
    if (trailers_.size() == bounds::http_trailer_bytes_max) {
      return std::unexpected(Rejection{Rejection::Kind::too_large, "trailers are too large"});
    }
    if (after_cr_) {
      if (c != '\n') return malformed("CR without LF in a trailer");
      after_cr_ = false;
      return end_trailer();
    }
    if (c == '\r') {
      after_cr_ = true;
    } else if (c == '\n') {
      return malformed("a malformed trailer");
    } else {
      trailers_.push_back(c);
    }
  }
  return false;
}

std::expected<bool, Rejection> BodyReader::end_trailer() {
  const std::string_view line = std::string_view(trailers_).substr(line_begin_);
  if (line.empty()) {
    state_ = State::done;
    return true;
  }
  const auto field = parse_field(line);
  if (!field) return malformed("a malformed trailer");
  if (is_framing(field->name)) return malformed("a trailer that frames or routes a message");
  trailers_.append("\r\n");
  line_begin_ = trailers_.size();
  return true;
}

void append_chunk(std::string& out, std::string_view data) {
  PAWL_ASSERT(!data.empty());
  char digits[16];
  const auto [end, error] = std::to_chars(digits, digits + sizeof(digits), data.size(), 16);
  out.append(digits, end).append("\r\n").append(data).append("\r\n");
}

}  // namespace pawl::http
