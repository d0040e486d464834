#include "emulator/core/s3_listing.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "base/bounds_queue.h"
#include "base/percent.h"
#include "base/text.h"
#include "base/xml.h"

namespace pawl::emulator {
namespace {

constexpr std::string_view known[] = {"list-type",          "prefix",     "delimiter",
                                      "start-after",        "max-keys",   "encoding-type",
                                      "continuation-token", "fetch-owner"};

struct Asked {
  std::string prefix = {};
  std::string delimiter = {};
  std::string after = {};
  std::size_t limit = bounds::objects_listed_max;
  bool encodes = false;

  std::string shown(std::string_view key) const {
    return encodes ? percent_encoded(key, "/") : xml::escaped(key);
  }
};

std::expected<Asked, S3Refusal> asked_in(const S3Target& target) {
  for (const aws::Pair& pair : target.query) {
    if (std::ranges::find(known, pair.name) != std::end(known)) continue;
    return std::unexpected(S3Refusal{
        .code = "NotImplemented", .message = "The parameter " + pair.name + " is not known here."});
  }
  if (target.parameter("list-type") != "2") {
    return std::unexpected(
        S3Refusal{.code = "NotImplemented", .message = "Only list-type=2 is implemented here."});
  }
  Asked asked{.prefix = target.parameter("prefix").value_or(""),
              .delimiter = target.parameter("delimiter").value_or(""),
              .after = target.parameter("start-after").value_or(""),
              .encodes = target.parameter("encoding-type") == "url"};
  // Tokens are the last key; where one is given, start-after is passed over.
  if (const auto token = target.parameter("continuation-token")) asked.after = *token;
  if (const auto text = target.parameter("max-keys")) {
    std::size_t limit = 0;
    const char* end = text->data() + text->size();
    const auto read = std::from_chars(text->data(), end, limit);
    if (text->empty() || read.ec != std::errc() || read.ptr != end) {
      return std::unexpected(
          S3Refusal{.code = "InvalidArgument", .message = "max-keys is not a number."});
    }
    asked.limit = std::min(limit, asked.limit);
  }
  return asked;
}

// What stands in place of a key that has the delimiter behind the prefix; else empty.
std::string common_prefix(const Asked& asked, std::string_view key) {
  if (asked.delimiter.empty()) return {};
  const auto place = key.find(asked.delimiter, asked.prefix.size());
  if (place == key.npos) return {};
  return std::string(key.substr(0, place + asked.delimiter.size()));
}

void append_object(std::string& out, const Asked& asked, std::string_view key,
                   const S3Object& object) {
  out += "<Contents><Key>" + asked.shown(key) + "</Key><LastModified>" + s3_time(object.modified) +
         "</LastModified><ETag>" + xml::escaped(object.tag) + "</ETag><Size>" +
         std::to_string(object.body.size()) + "</Size><StorageClass>STANDARD</StorageClass>" +
         "</Contents>";
}

}  // namespace

std::string s3_time(Instant instant) {
  constexpr std::int64_t second = 1'000'000'000;
  return to_string(Instant::from_ns(instant.ns() - instant.ns() % second));
}

std::expected<Reply, S3Refusal> s3_listing(const S3Target& target,
                                           const S3Shelf::Objects& objects) {
  const auto asked = asked_in(target);
  if (!asked) return std::unexpected(asked.error());
  std::string contents, folders, last;
  std::size_t count = 0;
  bool more = false;
  auto at = objects.lower_bound(std::max(asked->prefix, asked->after));
  for (; at != objects.end() && at->first.starts_with(asked->prefix); ++at) {
    const std::string folder = common_prefix(*asked, at->first);
    const bool was_told = !folder.empty() && (folder == last || folder == asked->after);
    if (at->first <= asked->after || was_told) continue;
    if (count == asked->limit) {
      more = asked->limit > 0;
      break;
    }
    ++count;
    last = folder.empty() ? at->first : folder;
    if (folder.empty()) {
      append_object(contents, *asked, at->first, at->second);
    } else {
      folders += "<CommonPrefixes><Prefix>" + asked->shown(folder) + "</Prefix></CommonPrefixes>";
    }
  }
  std::string inside =
      "<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Name>" +
      xml::escaped(target.bucket) + "</Name><Prefix>" + asked->shown(asked->prefix) +
      "</Prefix><KeyCount>" + std::to_string(count) + "</KeyCount><MaxKeys>" +
      std::to_string(asked->limit) + "</MaxKeys>";
  if (asked->encodes) inside += "<EncodingType>url</EncodingType>";
  inside += std::string("<IsTruncated>") + (more ? "true" : "false") + "</IsTruncated>";
  if (more) {
    inside += "<NextContinuationToken>" + xml::escaped(last) + "</NextContinuationToken>";
  }
  return s3_xml(200, inside + contents + folders + "</ListBucketResult>");
}

}  // namespace pawl::emulator
