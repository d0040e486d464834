#include "emulator/core/okx_replies.h"

#include <algorithm>
#include <utility>

#include "emulator/core/okx_order.h"

namespace pawl::emulator {
namespace {

Reply envelope(int status, json::Object members) {
  return {.status = status,
          .fields = {{.name = "Content-Type", .value = "application/json"}},
          .body = json::print(json::Value(std::move(members)))};
}

json::Value shown(const OkxItem& item, Instant now) {
  const bool is_good = !item.refusal.refuses();
  return json::Object{{"clOrdId", item.reference},
                      {"ordId", item.order_id},
                      {"reqId", item.request},
                      {"sCode", is_good ? std::string("0") : item.refusal.code},
                      {"sMsg", item.refusal.message},
                      {"subCode", ""},
                      {"tag", item.tag},
                      {"ts", okx_ms(now)}};
}

}  // namespace

Reply okx_data(json::Array rows) {
  return envelope(200, {{"code", "0"}, {"data", std::move(rows)}, {"msg", ""}});
}

Reply okx_refused(const OkxRefusal& refusal) {
  return envelope(okx_status(refusal.code),
                  {{"code", refusal.code}, {"data", json::Array()}, {"msg", refusal.message}});
}

Reply okx_items(const std::vector<OkxItem>& items, Instant now, bool says_success) {
  json::Array rows;
  for (const OkxItem& item : items) rows.push_back(shown(item, now));
  const auto refused =
      std::ranges::count_if(items, [](const OkxItem& item) { return item.refusal.refuses(); });
  std::string_view code = "0";
  std::string_view message;
  if (refused > 0 && !says_success) {
    const bool is_all = refused == std::ssize(items);
    code = is_all ? "1" : "2";
    message = is_all ? "All operations failed" : "Bulk operation partially succeeded.";
  }
  return envelope(200, {{"code", code},
                        {"data", std::move(rows)},
                        {"inTime", okx_us(now)},
                        {"msg", message},
                        {"outTime", okx_us(now)}});
}

}  // namespace pawl::emulator
