// Key: whom a policy counts: a name (a tenant, an address), or a number its owner made of one.
//
// Contract: names and numbers are two kinds; one of a kind never meets one of the other. A name is
//           borrowed: it must live as long as the Key.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/hash.h"

namespace pawl::limit {

struct KeyId {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  bool operator==(const KeyId&) const = default;
};

class Key {
 public:
  Key(std::string_view name) : name_(name) {}    // NOLINT(google-explicit-constructor)
  Key(const char* name) : name_(name) {}         // NOLINT(google-explicit-constructor)
  Key(const std::string& name) : name_(name) {}  // NOLINT(google-explicit-constructor)
  Key(KeyId id) : id_(id), is_id_(true) {}       // NOLINT(google-explicit-constructor)

  bool is_id() const { return is_id_; }
  KeyId id() const { return id_; }
  std::string_view name() const { return name_; }

  // For stores that keep keys as text: the name, or a NUL and 32 hex digits. A name that begins
  // with a NUL itself gets another one in front, so no two keys have one text.
  std::string text() const;

  // For tables in memory: no name has the hash of a number but by chance.
  Hash128 hash(std::uint64_t seed) const {
    return is_id_ ? hash_of(Hash128{.high = id_.high, .low = id_.low}, seed) : hash_of(name_, seed);
  }

 private:
  std::string_view name_;
  KeyId id_;
  bool is_id_ = false;
};

}  // namespace pawl::limit
