#include "adapter/nats/put_answer.h"

#include <charconv>
#include <optional>

#include "base/json.h"

namespace pawl::nats {
namespace {

constexpr std::uint64_t wrong_last_sequence = 10071;
// The message could not be stored. A limit was reached, or the disk failed, which nobody can tell
// what is left of.
constexpr std::uint64_t store_failed = 10077;

std::optional<std::uint64_t> number_in(const json::Value& value, std::string_view name) {
  const json::Value* member = value.find(name);
  const json::Number* number = member == nullptr ? nullptr : member->if_number();
  if (number == nullptr) return std::nullopt;
  std::uint64_t found = 0;
  const char* end = number->text.data() + number->text.size();
  const auto [rest, error] = std::from_chars(number->text.data(), end, found);
  if (error != std::errc() || rest != end) return std::nullopt;
  return found;
}

}  // namespace

PutAnswer read_put_answer(std::string_view text) {
  PutAnswer answer{.words = "it answered what is no acknowledgement"};
  const Result<json::Value> value = json::parse(text);
  if (!value) return answer;
  const json::Value* error = value->find("error");
  if (error == nullptr) {
    const auto sequence = number_in(*value, "seq");
    if (!sequence || *sequence == 0) return answer;
    return {.verdict = PutAnswer::Verdict::kept, .sequence = *sequence};
  }
  const json::Value* description = error->find("description");
  const std::string* words = description == nullptr ? nullptr : description->if_string();
  answer.words = words == nullptr ? "it gave no reason" : *words;
  const std::uint64_t code = number_in(*error, "err_code").value_or(0);
  const bool may_be_kept = code == 0 || (code == store_failed && !answer.words.starts_with("max"));
  if (!may_be_kept) {
    answer.verdict =
        code == wrong_last_sequence ? PutAnswer::Verdict::overtaken : PutAnswer::Verdict::refused;
  }
  return answer;
}

}  // namespace pawl::nats
