#include "emulator/core/okx_codes.h"

#include <algorithm>
#include <iterator>

namespace pawl::emulator {
namespace {

struct Entry {
  std::string_view code;
  int status;
  std::string_view message;
};

constexpr Entry unknown_code = {"", 200, "Refused by the fault script."};

constexpr Entry entries[] = {
    {"50000", 400, "Body for POST request cannot be empty."},
    {"50001", 503, "Service temporarily unavailable. Please try again later."},
    {"50002", 400, "JSON syntax error"},
    {"50004", 400,
     "API endpoint request timeout. (does not mean that the request was successful or failed, "
     "please check the request result)."},
    {"50005", 410, "API endpoint is inactive or unavailable."},
    {"50011", 429, "Too Many Requests"},
    {"50013", 429, "Systems are busy. Please try again later."},
    {"50014", 400, "Parameter can not be empty."},
    {"50015", 400, "Either parameter ordId or clOrdId is required"},
    {"50025", 200, "Parameter count exceeds the limit 20."},
    {"50026", 500, "System error. Try again later"},
    {"50036", 200,
     "The expTime can't be earlier than the current system time. Please adjust the expTime and try "
     "again."},
    {"50037", 200, "Order expired."},
    {"50061", 200, "You've reached the maximum order rate limit for this account."},
    {"50071", 200, "clOrdId already exists"},
    {"50101", 401, "APIKey does not match current environment."},
    {"50102", 401, "Timestamp request expired."},
    {"50103", 401, "Request header \"OK-ACCESS-KEY\" cannot be empty."},
    {"50104", 401, "Request header \"OK-ACCESS-PASSPHRASE\" cannot be empty."},
    {"50105", 401, "Request header \"OK-ACCESS-PASSPHRASE\" incorrect."},
    {"50106", 401, "Request header \"OK-ACCESS-SIGN\" cannot be empty."},
    {"50107", 401, "Request header \"OK-ACCESS-TIMESTAMP\" cannot be empty."},
    {"50111", 401, "Invalid OK-ACCESS-KEY."},
    {"50112", 401, "Invalid OK-ACCESS-TIMESTAMP."},
    {"50113", 401, "Invalid signature."},
    {"50115", 405, "Invalid request method."},
    {"51000", 400, "Parameter error"},
    {"51001", 200, "Instrument ID, Instrument ID code or Spread ID doesn't exist."},
    {"51004", 200, "Order failed: more than the maximum position under the current leverage."},
    {"51008", 200, "Order failed. Insufficient balance or margin."},
    {"51010", 200, "Request unsupported under current account mode."},
    {"51016", 200, "Client order ID already exists."},
    {"51020", 200, "Your order should meet or exceed the minimum order amount."},
    {"51024", 200, "Trading account is blocked."},
    {"51054", 500, "Request timed out. Please try again."},
    {"51121", 200, "Order quantity must be a multiple of the lot size."},
    {"51133", 200, "Reduce-only feature is not available in spot mode."},
    {"51139", 200, "Reduce-only feature is unavailable for spot transactions."},
    {"51148", 200, "Failed to place order: a reduce-only order can't increase the position."},
    {"51149", 500, "Order timed out. Please try again."},
    {"51169", 200, "Order failed because you don't have any positions to reduce or close."},
    {"51170", 200, "A reduce-only order can't be in the direction of the existing position."},
    {"51205", 200, "Reduce Only is not available."},
    {"51400", 200, "Cancellation failed as the order has been filled, canceled or doesn't exist."},
    {"51500", 200, "You must enter a price or a quantity."},
    {"51503", 200, "Order modification failed: the order was filled, canceled or doesn't exist."},
    {"51603", 200, "Order does not exist"},
};

const Entry& entry_of(std::string_view code) {
  const auto* found = std::ranges::find(entries, code, &Entry::code);
  return found == std::end(entries) ? unknown_code : *found;
}

OkxRefusal named(std::string_view code, std::string_view name, std::string_view what) {
  std::string message = "Parameter ";
  message.append(name).append(what);
  return {.code = std::string(code), .message = std::move(message), .is_whole = true};
}

}  // namespace

int okx_status(std::string_view code) {
  return entry_of(code).status;
}

std::string_view okx_message(std::string_view code) {
  return entry_of(code).message;
}

OkxRefusal okx_item(std::string_view code) {
  return {.code = std::string(code), .message = std::string(okx_message(code))};
}

OkxRefusal okx_whole(std::string_view code) {
  OkxRefusal refusal = okx_item(code);
  refusal.is_whole = true;
  return refusal;
}

OkxRefusal okx_parameter(std::string_view name) {
  return named("51000", name, " error");
}

OkxRefusal okx_missing(std::string_view name) {
  return named("50014", name, " can not be empty.");
}

}  // namespace pawl::emulator
