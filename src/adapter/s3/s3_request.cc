#include "adapter/s3/s3_request.h"

#include <utility>

#include "base/sha256.h"

namespace pawl {
namespace {

struct Address {
  std::string origin;  // "https://host[:port]"
  std::string path;    // of the bucket, without a / at its end
};

Address address_of(const S3Url& url, const std::string& region) {
  if (!url.endpoint.empty()) return {.origin = url.endpoint, .path = "/" + url.bucket};
  const std::string host =
      "s3." + region + (region.starts_with("cn-") ? ".amazonaws.com.cn" : ".amazonaws.com");
  // No certificate of AWS is good for a name with a dot before that.
  if (url.bucket.find('.') != std::string::npos) {
    return {.origin = "https://" + host, .path = "/" + url.bucket};
  }
  return {.origin = "https://" + url.bucket + "." + host, .path = ""};
}

}  // namespace

std::string s3_key(const S3Url& url, std::string_view name) {
  return url.prefix.empty() ? std::string(name) : url.prefix + "/" + std::string(name);
}

HttpRequest s3_request(const S3Url& url, const S3Access& access, S3Ask ask, Instant now) {
  const Address address = address_of(url, access.region);
  aws::Call call{.method = ask.method,
                 .path = address.path,
                 .query = std::move(ask.query),
                 .fields = std::move(ask.fields),
                 .payload_hash = to_hex(sha256(ask.body))};
  if (!ask.key.empty() || call.path.empty()) call.path += "/" + ask.key;
  call.fields.push_back(
      {.name = "host", .value = address.origin.substr(address.origin.find("://") + 3)});
  call.fields.push_back({.name = "x-amz-content-sha256", .value = call.payload_hash});
  call.fields.push_back({.name = "x-amz-date", .value = aws::amz_date(now)});
  const Secret<std::string>& token = access.credentials.session_token;
  if (!token.empty()) {
    call.fields.push_back({.name = "x-amz-security-token", .value = token.reveal()});
  }
  HttpRequest request{.method = std::move(ask.method),
                      .url = address.origin + aws::encoded_path(call.path),
                      .body = std::move(ask.body)};
  if (!call.query.empty()) request.url += "?" + aws::canonical_query(call.query);
  request.fields.push_back({.name = "authorization",
                            .value = aws::authorization(
                                access.credentials, {.region = access.region, .time = now}, call)});
  for (aws::Pair& field : call.fields) {
    if (field.name == "host") continue;  // the client's
    request.fields.push_back({.name = std::move(field.name), .value = std::move(field.value)});
  }
  return request;
}

}  // namespace pawl
