// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// The JSON faces of the model. Parsing never throws, never trusts: sizes, types and numbers are
// checked.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/agent_message.h"
#include "model/fleet.h"

namespace nvidb::model {

// `nvidb1 {...}\n`, never longer than kMaxLineBytes: where the processes' command lines would make
// it so, they are cut, evenly, until it fits; where that is not enough, cards list fewer processes
// (all the same number at most, the last ones go), and at last every text is cut. Absent members
// are left out; numbers have at most two decimals.
std::string encode_line(const AgentMessage& message);
std::string encode_line(const AgentCommand& command);

// One line, with or without its newline. Unknown keys are ignored. Errors, all of kind protocol: no
// mark, no JSON, too long, nested too deep, an unknown message type or word, a missing key, a wrong
// type, too many elements, a card or pid twice, and a required number outside its range. An
// optional number outside what is physically possible is absent: a driver's sentinel must not cost
// the sample. Texts are cut at their limit (names 256 bytes, errors 4096, kMaxCommandBytes), empty
// ones are absent; cards are put in order of index, processes in that of GpuReading.
base::Result<AgentMessage> decode_message(std::string_view line);
base::Result<AgentCommand> decode_command(std::string_view line);

// The document of `nvidb --once --json` (docs/json.md), indent 2, with a newline at the end.
std::string fleet_json(const FleetSnapshot& fleet, std::int64_t now_ms);

// `--once --csv`: a header of the JSON key names, then one row a GPU; RFC 4180, newline `\n`,
// absent is empty.
std::string fleet_csv(const FleetSnapshot& fleet);

// `{"ok": false, "error": MESSAGE}` as every command prints it with --json.
std::string error_json(std::string_view message);

}  // namespace nvidb::model
