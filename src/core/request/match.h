// Match: which requests a bucket counts, and where a setting applies.
//
// Contract: pure. A PathPattern is a path of segments, each literal, `*` (any one segment) or, last
//           of all, `**` (any number, none included). Pattern and path are compared in their normal
//           form, so that nobody passes a bucket by spelling: an escape of what could as well stand
//           there unescaped is undone, `//` is one slash, `.` and `..` segments are gone, and a
//           slash at the end says nothing. `%2F` stays what it is: no slash. Where servers disagree
//           on what a path means, a pattern rather matches than not. The upstream still gets what
//           the client wrote.
// Bounds:   bounds::http_request_line_bytes_max a pattern. Nothing is allocated for a path that is
//           in normal form already.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/http/head.h"
#include "pawl/result.h"

namespace pawl::request {

// `path` without its query, in normal form: as it is, or written into `room`. Two paths of one
// normal form are one path. The `*` of OPTIONS is the root.
std::string_view normal_path(std::string_view path, std::string& room);

class PathPattern {
 public:
  // Errors: invalid, and says what a pattern looks like.
  static Result<PathPattern> parse(std::string_view text);

  // `path` without its query.
  bool matches(std::string_view path) const;
  const std::string& text() const { return text_; }
  bool operator==(const PathPattern&) const = default;

 private:
  struct Segment {
    bool any = false;
    std::string literal = {};  // in normal form
    bool operator==(const Segment&) const = default;
  };

  std::string text_;
  std::vector<Segment> segments_;
  bool open_ = false;  // ends in `**`
};

struct HeaderMatch {
  std::string name;
  std::string value;  // empty: any
  bool operator==(const HeaderMatch&) const = default;
};

// All that is there must agree; one of nothing agrees with every request.
struct Match {
  std::optional<PathPattern> path = {};
  std::vector<std::string> methods = {};  // empty: any
  std::optional<HeaderMatch> header = {};

  bool matches(const http::RequestHead& head) const;
  bool operator==(const Match&) const = default;
};

}  // namespace pawl::request
