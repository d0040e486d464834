// BodyReader: finds where a body ends, byte-exactly, for every framing, and hands out its content.
//
// Contract: pure. feed() takes bytes from the front of `input` and returns one piece of content
//           (possibly empty); call it until it says done or takes nothing more. What stands behind
//           the body stays in `input`: it is the next message. Chunk extensions are refused;
//           trailers must pass the gate like the fields of a head, and are kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "core/http/head.h"

namespace pawl::http {

class BodyReader {
 public:
  explicit BodyReader(Framing framing = {});

  // A piece of content at the front of `input`, which is shortened by what was used. An empty piece
  // means: more bytes are needed, or the body is complete.
  std::expected<std::string_view, Rejection> feed(std::string_view& input);
  bool done() const { return state_ == State::done; }
  // The other side has closed. True when that completes the body.
  bool complete_on_close() const;
  // "Name: value\r\n" lines as they came. Good when done.
  std::string_view trailers() const { return trailers_; }

 private:
  enum class State : std::uint8_t {
    fixed,
    open_ended,
    chunk_size,
    chunk_data,
    chunk_end,
    trailer,
    done
  };

  std::expected<bool, Rejection> read_size_line(std::string_view& input);
  std::expected<bool, Rejection> read_chunk_end(std::string_view& input);
  std::expected<bool, Rejection> read_trailer(std::string_view& input);
  std::expected<bool, Rejection> end_trailer();

  State state_;
  std::int64_t left_ = 0;       // content bytes of the length or the chunk
  int size_digits_ = 0;         // of the chunk-size line
  bool after_cr_ = false;       // the byte before was the CR of a line's end
  std::size_t line_begin_ = 0;  // of the trailer line being read
  std::string trailers_;
};

// Appends one chunk; `data` must not be empty (an empty chunk would end the body).
void append_chunk(std::string& out, std::string_view data);
inline constexpr std::string_view last_chunk = "0\r\n\r\n";

}  // namespace pawl::http
