#include "base/xml.h"

#include <charconv>
#include <cstdint>
#include <utility>

#include "base/utf8.h"

namespace pawl::xml {
namespace {

constexpr std::pair<std::string_view, char> entities[] = {
    {"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.' || c == ':';
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

bool is_character(std::uint32_t code) {
  return code != 0 && code <= 0x10FFFF && (code < 0xD800 || code >= 0xE000);
}

class Reader {
 public:
  explicit Reader(std::string_view text) : all_(text), rest_(text) {}

  Result<Element> document() {
    skip_blanks();
    if (rest_.starts_with("<?xml")) {
      const auto end = rest_.find("?>");
      if (end == rest_.npos) return wrong("the first line has no end");
      rest_.remove_prefix(end + 2);
    }
    skip_blanks();
    Element root = PAWL_TRY(element(1));
    skip_blanks();
    if (!rest_.empty()) return wrong("something stands behind the last element");
    return root;
  }

 private:
  Result<Element> element(std::size_t depth) {
    if (depth > depth_max) return wrong("elements are nested too deeply");
    if (!take("<")) return wrong("an element must begin here");
    Element read{.name = std::string(name())};
    if (read.name.empty()) return wrong("an element must have a name");
    PAWL_TRY(skip_attributes());
    if (take("/>")) return read;
    if (!take(">")) return wrong("the tag has no end");
    while (!rest_.starts_with("</")) {
      if (rest_.empty()) return wrong("an element has no end");
      if (rest_.front() == '<') {
        read.children.push_back(PAWL_TRY(element(depth + 1)));
      } else {
        PAWL_TRY(text(read.text));
      }
    }
    rest_.remove_prefix(2);
    if (name() != read.name) return wrong("another element ends than has begun");
    skip_blanks();
    if (!take(">")) return wrong("the tag has no end");
    if (!read.children.empty()) read.text = std::string(trimmed(read.text));
    return read;
  }

  Result<void> skip_attributes() {
    for (;;) {
      const bool apart = skip_blanks();
      if (rest_.empty() || rest_.front() == '>' || rest_.front() == '/') return {};
      if (!apart || name().empty()) return wrong("an attribute must have a name");
      skip_blanks();
      if (!take("=")) return wrong("an attribute must have a value");
      skip_blanks();
      const char quote = rest_.empty() ? '\0' : rest_.front();
      const auto end = quote == '"' || quote == '\'' ? rest_.find(quote, 1) : rest_.npos;
      if (end == rest_.npos || rest_.substr(0, end).find('<') != rest_.npos) {
        return wrong("the value of an attribute must stand in quotes");
      }
      rest_.remove_prefix(end + 1);
    }
  }

  // Up to the next tag.
  Result<void> text(std::string& into) {
    while (!rest_.empty() && rest_.front() != '<') {
      if (rest_.front() != '&') {
        const auto end = rest_.find_first_of("<&");
        into.append(rest_.substr(0, end));
        rest_.remove_prefix(end == rest_.npos ? rest_.size() : end);
        continue;
      }
      const auto end = rest_.find(';');
      const std::string_view word = rest_.substr(1, end == rest_.npos ? 0 : end - 1);
      if (!append_entity(into, word)) return wrong("an & begins nothing that is known");
      rest_.remove_prefix(end + 1);
    }
    return {};
  }

  static bool append_entity(std::string& into, std::string_view word) {
    for (const auto& [known, character] : entities) {
      if (word != known) continue;
      into.push_back(character);
      return true;
    }
    if (!word.starts_with('#')) return false;
    const bool is_hex = word.starts_with("#x");
    word.remove_prefix(is_hex ? 2 : 1);
    std::uint32_t code = 0;
    const char* end = word.data() + word.size();
    const auto read = std::from_chars(word.data(), end, code, is_hex ? 16 : 10);
    if (read.ec != std::errc() || read.ptr != end || !is_character(code)) return false;
    append_utf8(into, code);
    return true;
  }

  std::string_view name() {
    std::size_t size = 0;
    while (size < rest_.size() && is_name(rest_[size])) ++size;
    const std::string_view found = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return found;
  }
  bool skip_blanks() {
    const std::size_t before = rest_.size();
    while (!rest_.empty() && is_blank(rest_.front())) rest_.remove_prefix(1);
    return rest_.size() != before;
  }
  bool take(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  std::unexpected<Error> wrong(std::string_view what) const {
    return failure(Code::invalid, "not XML as it is read here: byte " +
                                      std::to_string(all_.size() - rest_.size()) + ": " +
                                      std::string(what));
  }

  std::string_view all_;
  std::string_view rest_;
};

}  // namespace

const Element* Element::find(std::string_view child) const {
  for (const Element& one : children) {
    if (one.name == child) return &one;
  }
  return nullptr;
}

std::string_view Element::text_of(std::string_view child) const {
  const Element* found = find(child);
  return found == nullptr ? std::string_view() : found->text;
}

Result<Element> parse(std::string_view text) {
  return Reader(text).document();
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    std::string_view name;
    for (const auto& [known, character] : entities) {
      if (c == character) name = known;
    }
    if (name.empty()) {
      out.push_back(c);
    } else {
      out.append("&").append(name).append(";");
    }
  }
  return out;
}

}  // namespace pawl::xml
