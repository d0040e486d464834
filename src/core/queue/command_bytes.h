// Commands as bytes, and back.
//
// Format:   docs/formats.md. A command says its own length, so the bytes of two batches, one behind
//           the other, are the bytes of both.
// Contract: what passes check() (command_check.h) is read back as it was written. Reading is strict
//           about the form (kinds, lengths, names that cannot be printed), not about amounts: a
//           priority out of range is the machine's to refuse, since a segment that nobody can read
//           would stop the queue.
// Bounds:   bounds::task_*, claim_*.
// Threads:  any.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/wire.h"
#include "core/queue/command.h"

namespace pawl::queue {

void write_command(ByteWriter& out, const Command& command);
// Any command when the reader has failed.
Command read_command(ByteReader& in);

// The parts of commands, for snapshots. A reader fails where there is nothing of the kind.
void write_terms(ByteWriter& out, const TaskTerms& terms);
TaskTerms read_terms(ByteReader& in);
void write_id(ByteWriter& out, const TaskId& id);
TaskId read_id(ByteReader& in);
void write_instant(ByteWriter& out, Instant instant);
Instant read_instant(ByteReader& in);
void write_optional_instant(ByteWriter& out, const std::optional<Instant>& instant);
std::optional<Instant> read_optional_instant(ByteReader& in);
void write_duration(ByteWriter& out, Duration duration);
Duration read_duration(ByteReader& in);
void write_bool(ByteWriter& out, bool value);
bool read_bool(ByteReader& in);
// A type, a key, a worker: what can be printed, at most bounds::task_name_bytes_max bytes. They are
// written with bytes().
std::string read_name(ByteReader& in);
// Written with varint().
std::uint32_t read_u32(ByteReader& in);

}  // namespace pawl::queue
