#include "base/queue_url.h"

#include <utility>

#include "base/store_url.h"

namespace pawl {
namespace {

constexpr StoreUrlForm broker_form = {.kind = "broker", .default_port = 8081, .servers_max = 16};

constexpr std::string_view store_query = "?store=";

Result<std::string> parse_behind(std::string_view text) {
  const auto store = parse_queue_url(text);
  const bool fits =
      store && (store->kind == QueueUrl::Kind::directory || store->kind == QueueUrl::Kind::s3);
  if (fits) return std::string(text);
  return failure(Code::invalid,
                 "behind ?store= stands where the brokers' queue is: dir:PATH or "
                 "s3://BUCKET/PREFIX" +
                     (store ? std::string() : "; " + store.error().message));
}

Result<QueueUrl> parse_brokers(std::string_view scheme, std::string_view rest) {
  std::string store;
  if (const auto found = rest.find(store_query); found != rest.npos) {
    store = PAWL_TRY(parse_behind(rest.substr(found + store_query.size())));
    rest = rest.substr(0, found);
  }
  const StoreUrl url = PAWL_TRY(parse_store_url(rest, broker_form));
  if (!url.password.empty() || !url.user.empty()) {
    return wrong_url(broker_form, "a login has no meaning here; the token is PAWL_ADMIN_TOKEN");
  }
  if (!url.path.empty() || !url.query.empty()) {
    return wrong_url(broker_form,
                     "nothing comes behind the port but ?store=URL; write http://HOST:PORT");
  }
  QueueUrl queue{.kind = QueueUrl::Kind::broker, .store = std::move(store)};
  for (const Target& server : url.servers) {
    queue.brokers.push_back(std::string(scheme) + to_string(server));
  }
  return queue;
}

}  // namespace

Result<QueueUrl> parse_queue_url(std::string_view text) {
  using Kind = QueueUrl::Kind;
  constexpr std::string_view directory = "dir:";
  if (text.starts_with(directory) && text.size() > directory.size()) {
    if (text.find('\0') != text.npos) return failure(Code::invalid, "the path has a zero byte");
    return QueueUrl{.kind = Kind::directory, .path = std::string(text.substr(directory.size()))};
  }
  if (text.starts_with("s3://")) {
    return QueueUrl{.kind = Kind::s3, .s3 = PAWL_TRY(parse_s3_url(text))};
  }
  if (text == "memory:") return QueueUrl{.kind = Kind::memory};
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (text.starts_with(scheme)) return parse_brokers(scheme, text.substr(scheme.size()));
  }
  return failure(Code::invalid,
                 "a queue is at dir:PATH, s3://BUCKET/PREFIX or http://HOST:PORT (a broker)");
}

}  // namespace pawl
