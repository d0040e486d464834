#include "emulator/core/s3_shelf.h"

#include <utility>

#include "base/base64.h"
#include "base/json.h"
#include "base/md5.h"
#include "base/sha256.h"
#include "base/text.h"
#include "emulator/core/calls.h"

namespace pawl::emulator {

const S3Shelf::Objects* S3Shelf::find(std::string_view bucket) const {
  const auto found = buckets_.find(bucket);
  return found == buckets_.end() ? nullptr : &found->second;
}

const S3Object* S3Shelf::find(std::string_view bucket, std::string_view key) const {
  const Objects* objects = find(bucket);
  if (objects == nullptr) return nullptr;
  const auto found = objects->find(key);
  return found == objects->end() ? nullptr : &found->second;
}

void S3Shelf::make_bucket(const std::string& bucket) {
  buckets_.try_emplace(bucket);
  note({.what = "bucket", .bucket = bucket, .key = {}, .time = {}});
}

void S3Shelf::remove_bucket(const std::string& bucket) {
  buckets_.erase(bucket);
  note({.what = "no_bucket", .bucket = bucket, .key = {}, .time = {}});
}

std::string S3Shelf::put(const std::string& bucket, const std::string& key, std::string body,
                         Instant now) {
  note({.what = "put", .bucket = bucket, .key = key, .time = now}, body);
  S3Object& object = buckets_[bucket][key];
  object.tag = "\"" + to_hex(md5(body)) + "\"";
  object.body = std::move(body);
  object.modified = now;
  return object.tag;
}

void S3Shelf::remove(const std::string& bucket, const std::string& key) {
  if (buckets_[bucket].erase(key) == 0) return;
  note({.what = "delete", .bucket = bucket, .key = key, .time = {}});
}

void S3Shelf::clear() {
  for (auto& [bucket, objects] : buckets_) objects.clear();
  note({.what = "clear", .bucket = {}, .key = {}, .time = {}});
}

std::vector<std::string> S3Shelf::take_changes() {
  return std::exchange(changes_, {});
}

void S3Shelf::note(const Change& change, std::string_view body) {
  json::Object row;
  row["do"] = change.what;
  row["bucket"] = change.bucket;
  row["key"] = change.key;
  row["time"] = to_string(change.time);
  std::string line = json::print(json::Value(std::move(row)));
  if (change.what == "put") {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(body.data());
    line.append("\t").append(to_base64({bytes, body.size()}));
  }
  changes_.push_back(std::move(line));
}

Result<void> S3Shelf::restore(std::string_view line) {
  const json::Value row = PAWL_TRY(json::parse(take_until(line, '\t')));
  const std::string what = text_of(row, "do");
  const std::string bucket = text_of(row, "bucket");
  const std::string key = text_of(row, "key");
  if (what == "put") {
    const Instant time = PAWL_TRY(parse_instant(text_of(row, "time")));
    put(bucket, key, PAWL_TRY(parse_base64(line)), time);
  } else if (what == "delete") {
    remove(bucket, key);
  } else if (what == "bucket") {
    make_bucket(bucket);
  } else if (what == "no_bucket") {
    remove_bucket(bucket);
  } else if (what == "clear") {
    clear();
  } else {
    return failure(Code::invalid, "not a change of the emulated S3");
  }
  changes_.clear();
  return {};
}

}  // namespace pawl::emulator
