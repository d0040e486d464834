#include "base/s3_url.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/percent.h"
#include "base/store_url.h"
#include "base/text.h"

namespace pawl {
namespace {

constexpr std::size_t bucket_bytes_min = 3;
constexpr std::size_t bucket_bytes_max = 63;
constexpr std::size_t prefix_bytes_max = 512;  // leaves names room below the key's 1024

std::unexpected<Error> wrong(std::string_view what) {
  return failure(Code::invalid, "not an S3 URL: " + std::string(what));
}

bool is_lower_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool is_bucket(std::string_view name) {
  return name.size() >= bucket_bytes_min && name.size() <= bucket_bytes_max &&
         is_lower_or_digit(name.front()) && is_lower_or_digit(name.back()) &&
         name.find("..") == name.npos && std::ranges::all_of(name, [](char c) {
           return is_lower_or_digit(c) || c == '-' || c == '.';
         });
}

bool is_prefix(std::string_view prefix) {
  if (prefix.size() > prefix_bytes_max) return false;
  while (!prefix.empty()) {
    const bool more = prefix.find('/') != prefix.npos;
    const std::string_view part = take_until(prefix, '/');
    if (part.empty() || part == "." || part == ".." || (more && prefix.empty())) return false;
    const bool plain = std::ranges::all_of(part, [](char c) {
      return is_lower_or_digit(ascii_lower(c)) || c == '-' || c == '.' || c == '_';
    });
    if (!plain) return false;
  }
  return true;
}

bool is_region(std::string_view region) {
  return !region.empty() &&
         std::ranges::all_of(region, [](char c) { return is_lower_or_digit(c) || c == '-'; });
}

Result<std::string> read_endpoint(std::string text) {
  std::ranges::transform(text, text.begin(), ascii_lower);
  std::string_view rest = text;
  const bool is_tls = rest.starts_with("https://");
  if (!is_tls && !rest.starts_with("http://")) {
    return wrong("endpoint= must begin with http:// or https://");
  }
  rest.remove_prefix(is_tls ? 8 : 7);
  if (rest.ends_with('/')) rest.remove_suffix(1);
  if (rest.find('@') != rest.npos) {
    return wrong(
        "endpoint= holds a login; keys go into AWS_ACCESS_KEY_ID and "
        "AWS_SECRET_ACCESS_KEY, or the credentials file");
  }
  if (rest.find_first_of("/?#") != rest.npos) {
    return wrong("endpoint= is a host and a port, with nothing behind them");
  }
  const std::string_view usual = is_tls ? ":443" : ":80";
  // A client leaves the usual port out of Host, which is signed.
  if (rest.ends_with(usual)) rest.remove_suffix(usual.size());
  if (!parse_store_url(rest, {.kind = "S3", .default_port = 80, .servers_max = 1})) {
    return wrong("endpoint= is a host and a port, as in http://127.0.0.1:9000");
  }
  return (is_tls ? "https://" : "http://") + std::string(rest);
}

Result<void> read_option(S3Url& url, std::string_view name, std::string_view encoded) {
  const std::optional<std::string> value = percent_decoded(encoded);
  if (!value) return wrong("a % must be followed by two hex digits");
  if (name == "endpoint") {
    url.endpoint = PAWL_TRY(read_endpoint(*value));
  } else if (name == "region") {
    if (!is_region(*value)) return wrong("region= is a name as us-east-1");
    url.region = *value;
  } else if (name == "etag") {
    if (*value != "bare") return wrong("etag= can only be bare, which is for Ceph's radosgw");
    url.bare_etags = true;
  } else {
    return wrong(
        "behind the ? only endpoint=, region= and etag= are known; keys go into "
        "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the credentials file");
  }
  return {};
}

}  // namespace

Result<S3Url> parse_s3_url(std::string_view text) {
  constexpr std::string_view scheme = "s3://";
  if (!text.starts_with(scheme)) {
    return wrong("it begins with s3://, as in s3://bucket/prefix?region=us-east-1");
  }
  text.remove_prefix(scheme.size());
  std::string_view place = take_until(text, '?');
  if (place.find('@') != place.npos) {
    return wrong(
        "there is an @ in it; keys go into AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, "
        "or the credentials file");
  }
  S3Url url;
  url.bucket = take_until(place, '/');
  if (!is_bucket(url.bucket)) {
    return failure(Code::invalid,
                   "not an S3 URL: the bucket is '" + url.bucket +
                       "', and S3 takes names of 3 to 63 characters: lower-case letters, digits, "
                       "'-' and '.', with a letter or digit at both ends");
  }
  if (place.ends_with('/')) place.remove_suffix(1);
  if (!is_prefix(place)) {
    return wrong(
        "a prefix has parts of letters, digits, '.', '_' and '-' with one / between "
        "them, 512 bytes at most");
  }
  url.prefix = place;
  while (!text.empty()) {
    std::string_view value = take_until(text, '&');
    const std::string_view name = take_until(value, '=');
    PAWL_TRY(read_option(url, name, value));
  }
  return url;
}

std::string to_string(const S3Url& url) {
  std::string text = "s3://" + url.bucket;
  if (!url.prefix.empty()) text += "/" + url.prefix;
  if (!url.endpoint.empty()) text += " at " + url.endpoint;
  return text;
}

}  // namespace pawl
