// What the emulated S3 answers, as XML.
//
// Contract: pure.
#pragma once

#include <string>
#include <string_view>

#include "emulator/core/exchange.h"

namespace pawl::emulator {

// Why a call is refused. `note` is for the log alone.
struct S3Refusal {
  std::string code = {};
  std::string message = {};
  std::string note = {};
  bool refuses() const { return !code.empty(); }
};

// That S3 gives with the code; 500 for one it does not have.
int s3_status(std::string_view code);

Reply s3_refused(const S3Refusal& refusal, const Call& call);
Reply s3_xml(int status, std::string_view inside);

}  // namespace pawl::emulator
