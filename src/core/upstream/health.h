// Health: whether an upstream is asked for more, from what is heard of it.
//
// Why:      one answer says little: a server that is restarted, or a packet that is lost, must not
//           take an upstream away, and one good answer must not bring a sick one back.
// Contract: pure, a value of four bytes. It begins healthy; `unhealthy_after` failures in a row end
//           that, `healthy_after` successes in a row bring it back.
#pragma once

#include <cstdint>

namespace pawl::upstream {

struct HealthRule {
  int unhealthy_after = 3;
  int healthy_after = 2;
};

class Health {
 public:
  constexpr bool is_healthy() const { return sick_ == 0; }
  // As it is after one more check, or a connect that told as much.
  Health after(bool good, const HealthRule& rule) const;
  bool operator==(const Health&) const = default;

 private:
  std::uint16_t sick_ = 0;
  std::uint16_t against_ = 0;  // how often in a row it was heard that this is not so
};

}  // namespace pawl::upstream
