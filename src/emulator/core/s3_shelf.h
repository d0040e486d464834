// S3Shelf: the buckets of the emulated S3 and what is in them.
//
// Contract: pure. Every change is a line (take_changes) that restore() takes: JSON, and behind a
//           tab the object's bytes in base64. Names are ordered by their bytes.
// Bounds:   bounds::emulated_object_bytes_max of an object.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl::emulator {

struct S3Object {
  std::string body = {};
  std::string tag = {};  // with its quotes
  Instant modified = {};
};

class S3Shelf {
 public:
  using Objects = std::map<std::string, S3Object, std::less<>>;

  // Null: there is no such bucket.
  const Objects* find(std::string_view bucket) const;
  const S3Object* find(std::string_view bucket, std::string_view key) const;

  void make_bucket(const std::string& bucket);
  // An empty one.
  void remove_bucket(const std::string& bucket);
  // Into a bucket that is there. Gives the tag.
  std::string put(const std::string& bucket, const std::string& key, std::string body, Instant now);
  void remove(const std::string& bucket, const std::string& key);
  // All objects; buckets stay.
  void clear();

  std::vector<std::string> take_changes();
  Result<void> restore(std::string_view line);

  const std::map<std::string, Objects, std::less<>>& all() const { return buckets_; }

 private:
  struct Change {
    std::string_view what;
    std::string_view bucket;
    std::string_view key;
    Instant time;
  };
  void note(const Change& change, std::string_view body = {});

  std::map<std::string, Objects, std::less<>> buckets_;
  std::vector<std::string> changes_;
};

}  // namespace pawl::emulator
