// PutAnswer: what a JetStream server says to a message that was to be kept.
//
// Contract: pure; reads the JSON that the server sends. What cannot be understood is `unclear`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "pawl/result.h"

namespace pawl::nats {

struct PutAnswer {
  enum class Verdict : std::uint8_t {
    kept,       // under `sequence`
    overtaken,  // another message came before it; not kept
    refused,    // not kept, for the reason in `words`
    unclear,    // the server failed at it, or its words make no sense: it may be kept
  };
  Verdict verdict = Verdict::unclear;
  std::uint64_t sequence = 0;
  std::string words = {};

  Outcome outcome() const {
    if (verdict == Verdict::kept) return Outcome::applied;
    return verdict == Verdict::unclear ? Outcome::unknown : Outcome::not_applied;
  }
};

PutAnswer read_put_answer(std::string_view json);

}  // namespace pawl::nats
