// The scripts that change records inside Redis, each one step for everybody.
//
// Why:      who may start, and who may complete, is decided where the record lies, by the server's
//           own clock, and nobody comes in between.
// Contract: each decides as core/idempotency/record.h does, on a record as record_text.h writes it;
//           times are whole microseconds, which a Lua number holds exactly. What a script tells is
//           the record that it found; what that means for the caller is worked out by the machine
//           from it. The record is written last, so a script that fails has not changed it.
// Form:     KEYS are the record, then what is named; ARGV begins with the time in microseconds,
//           empty for the server's. Each answer begins with the time and a word.
//
//   begin     KEYS fence newest     ARGV fingerprint lease ttl take-over
//             -> verdict record fence         record: as found, or empty; fence: of who starts
//   complete                        ARGV status ttl tombstone metadata body fence
//   settle                          ARGV status ttl tombstone metadata body
//   renew                           ARGV lease fence
//   clear     KEYS newest           ARGV force
//             -> ok, or none: there is no record, or refused record
//   get       -> ok record, or none
//   list      KEYS newest alone     ARGV names limit from after-time after-name
//             names: what they begin with; from: none that is older; after: where a page ended
//             -> page after-time after-name (name record)…    after-name is empty at the end;
//             records without their bodies
//
//   Instead, each may answer `damaged key bytes`: the key holds something that is not pawl's; or
//   `trouble key words`: the server's words when it refused to read or write the key. Nothing has
//   been changed then, but that a fence may be left out.
#pragma once

#include "adapter/redis/script_runner.h"

namespace pawl::redis {

struct RecordScripts {
  Script begin;
  Script complete;
  Script settle;
  Script renew;
  Script clear;
  Script get;
  Script list;

  RecordScripts();
};

}  // namespace pawl::redis
