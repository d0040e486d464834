// What placements and changes have in common besides their decisions: how an answer is put into
// words, what the log is told of it, and where request ids come from.
//
// Contract: pure.
#pragma once

#include <string>
#include <vector>

#include "base/id.h"
#include "core/order/answer.h"
#include "core/order/decision.h"
#include "core/order/note.h"

namespace pawl::order {

// "rate_limited, 429 TooManyRequests: slow down"
std::string text_of(const Answer& answer);

// What the log is told of an attempt that did not succeed; `like` has what all of it shares.
std::vector<Note> notes_of(const Answer& answer, const Decision& decision, const Note& like);

// Another one for every attempt.
Entropy16 attempt_entropy(const Entropy16& seed, int attempt);

}  // namespace pawl::order
