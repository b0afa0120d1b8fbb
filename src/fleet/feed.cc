// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "fleet/feed.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <utility>
#include <variant>

#include "base/check.h"
#include "base/text.h"
#include "io/ssh_sockets.h"
#include "model/json.h"

namespace nvidb::fleet {
namespace {

using base::ErrorKind;
using model::NodeState;

constexpr std::size_t kKeptNoiseBytes = 400;
constexpr std::size_t kKeptStderrBytes = 4096;
// A working shared connection starts a collector well within this; source: spec, "Connections".
constexpr std::int64_t kReusedHelloMs = 4000;
// A handshake that takes longer than this is waiting for a silent server, and is no load for
// anybody: it does not keep the next one from beginning.
constexpr std::int64_t kGateHoldMs = 2000;
constexpr int kShownNoiseColumns = 160;
constexpr std::int64_t kStopGraceMs = 1000;
constexpr std::int64_t kMostPid = 0xffffffff;  // source: docs/agent-protocol.md, "Orders"

// Later samples are due within this; source: spec, "Connections". A collector in sh asks nvidia-smi
// at most every 5 s, whatever the interval.
std::int64_t sample_due_ms(const FleetOptions& options, const model::Node& node) {
  constexpr std::int64_t kShellIntervalMs = 5000;
  const bool is_shell = node.collector == model::CollectorKind::shell;
  const std::int64_t interval_ms =
      is_shell ? std::max(options.interval_ms, kShellIntervalMs) : options.interval_ms;
  return 3 * interval_ms + options.sample_slack_ms;
}

std::string seconds(std::int64_t ms) {
  return ms % 1000 == 0 ? fmt::format("{} s", ms / 1000)
                        : fmt::format("{:.1f} s", static_cast<double>(ms) / 1000);
}

std::string_view last_line(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  const std::size_t newline = text.rfind('\n');
  return newline == std::string_view::npos ? text : text.substr(newline + 1);
}

}  // namespace

std::int64_t backoff_ms(int failures, double jitter) {
  constexpr std::int64_t kWaitsMs[] = {1000, 2000, 5000, 10000, 15000, 60000};
  const int last = static_cast<int>(std::size(kWaitsMs)) - 1;
  const std::int64_t wait = kWaitsMs[std::clamp(failures - 1, 0, last)];
  return wait -
         static_cast<std::int64_t>(static_cast<double>(wait) * 0.1 * std::clamp(jitter, 0.0, 1.0));
}

Feed::Feed(io::Loop& loop, const base::Clock& clock, const NodeSpec& spec,
           const FleetOptions& options, Gate& gate, std::function<void()> on_change)
    : loop_(loop),
      clock_(clock),
      spec_(spec),
      options_(options),
      on_change_(std::move(on_change)),
      gate_(gate),
      lines_(model::kMaxLineBytes),
      timer_(loop),
      gate_timer_(loop),
      signals_(loop, options.signal_timeout_ms) {
  state_.node.name = spec.name;
  state_.node.address = spec.address;
  state_.node.port = spec.port;
  state_.node.username = spec.username;
  state_.node.local = spec.local;
}

Feed::~Feed() {
  stop();
}

void Feed::start() {
  if (phase_ != Phase::idle) return;
  if (spec_.refused) return give_up(*spec_.refused, NodeState::auth);
  enter_gate();
}

void Feed::give_up_connecting(std::int64_t limit_ms) {
  if (state_.node.state != NodeState::connecting) return;
  const char* what = phase_ == Phase::queued ? "its turn to connect did not come" : "no sample";
  give_up({ErrorKind::timeout, fmt::format("{} within {}{}", what, seconds(limit_ms), last_words()),
           next_step()});
}

void Feed::stop() {
  phase_ = Phase::stopped;
  hears_orders_ = false;
  signals_.stop();
  leave_gate();
  timer_.cancel();
  if (child_) child_->stop(kStopGraceMs);
}

void Feed::retry() {
  if ((phase_ != Phase::waiting && phase_ != Phase::blocked) || spec_.refused) return;
  failures_ = 0;
  timer_.cancel();
  enter_gate();
}

void Feed::signal(std::int64_t pid, std::int64_t start_ticks, int signal, SignalDone done) {
  CHECK(signal == SIGINT || signal == SIGKILL || signal == SIGTERM);
  const auto refuse = [&](ErrorKind kind, std::string why) {
    signals_.refuse(done, {kind, std::move(why) + ": nothing was sent", ""});
  };
  // What the node itself said of its processes: wrong numbers are no broken promise of ours.
  if (pid <= 1 || pid > kMostPid || start_ticks < 0) {
    return refuse(
        ErrorKind::invalid,
        fmt::format("pid {} with start time {} is no process to signal", pid, start_ticks));
  }
  if (!hears_orders_) {
    return refuse(ErrorKind::unreachable, fmt::format("node {} does not answer", spec_.name));
  }
  if (signals_.is_full()) {
    return refuse(ErrorKind::busy, fmt::format("node {} has not answered the last {} signals",
                                               spec_.name, kMaxOpenSignals));
  }
  const model::SignalProcess order{signals_.open(std::move(done)), pid, start_ticks, signal};
  child_->write(model::encode_line(model::AgentCommand(order)));
}

void Feed::enter_gate() {
  on_restart(state_);
  phase_ = Phase::queued;
  if (!spec_.ssh) return spawn();
  const auto go = [this](Gate::Ticket ticket) {
    ticket_ = ticket;
    started_ms_ = clock_.steady_ms();
    gate_timer_.set(kGateHoldMs, [this] { leave_gate(); });
    spawn();
  };
  ticket_ = gate_.enter(spec_.ssh->proxy_jump, go);
  if (phase_ == Phase::queued) on_change_();
}

void Feed::leave_gate() {
  gate_timer_.cancel();
  if (ticket_) gate_.leave(*std::exchange(ticket_, std::nullopt));
}

void Feed::spawn() {
  phase_ = Phase::starting;
  if (!spec_.ssh) started_ms_ = clock_.steady_ms();
  lines_ = io::LineSplitter(model::kMaxLineBytes);
  noise_.clear();
  stderr_.clear();
  auto child = io::Child::start(loop_, spec_.collector,
                                {.on_stdout = [this](std::string_view bytes) { on_bytes(bytes); },
                                 .on_stderr =
                                     [this](std::string_view bytes) {
                                       stderr_.append(bytes);
                                       if (stderr_.size() > kKeptStderrBytes) {
                                         stderr_.erase(0, stderr_.size() - kKeptStderrBytes);
                                       }
                                     },
                                 .on_exit = [this](io::ExitStatus status) { on_exit(status); }});
  if (!child) return give_up(child.error());
  child_ = *child;
  reused_connection_ = !spec_.control_path.empty() && io::has_master(spec_.control_path);
  const std::int64_t left_ms = started_ms_ + options_.hello_timeout_ms - clock_.steady_ms();
  const std::int64_t wait_ms = reused_connection_ ? std::min(left_ms, kReusedHelloMs) : left_ms;
  timer_.set(std::max<std::int64_t>(wait_ms, 0), [this] { on_deadline(); });
  on_change_();
}

// A shared connection may be frozen, or its master half dead. Both are found out by our own
// deadline; the connection is then replaced, once, within the same try.
bool Feed::try_a_fresh_connection() {
  if (!reused_connection_ || phase_ != Phase::starting) return false;
  if (child_) child_->stop(0);
  io::kill_master(spec_.control_path);
  spawn();
  return true;
}

bool Feed::is_watching() const {
  return phase_ == Phase::starting || phase_ == Phase::waking || phase_ == Phase::up;
}

// Its successor, if one comes, knows nothing of the orders before it.
void Feed::on_collector_gone() {
  hears_orders_ = false;
  signals_.on_collector_gone();
}

void Feed::send_script(model::CollectorKind kind) {
  on_collector_gone();  // an order would be taken for a part of the script
  const std::string_view text = spec_.script ? spec_.script(kind) : std::string_view();
  if (text.empty()) {
    return give_up(
        {ErrorKind::protocol, "the server asks for a collector that does not exist", ""});
  }
  child_->write(std::string(text));
}

// As if the server had sent the inventory and the sample itself.
base::Result<void> Feed::fold_smi(const model::SmiXml& message) {
  SmiTables tables = spec_.read_smi ? spec_.read_smi(message) : SmiTables{};
  const std::int64_t now_ms = clock_.wall_ms();
  if (auto done = fleet::on_message(state_, tables.inventory, now_ms); !done) return done;
  model::Sample sample;
  sample.seq = message.seq;
  sample.at_ms = message.at_ms;
  sample.read_ms = message.read_ms;
  sample.host = message.host;
  sample.gpus = std::move(tables.readings);
  return fleet::on_message(state_, sample, now_ms);
}

void Feed::on_bytes(std::string_view bytes) {
  lines_.feed(
      bytes,
      [this](std::string_view line) {
        if (is_watching()) on_line(line);
      },
      [this] { ++state_.node.bad_lines; });
}

void Feed::on_line(std::string_view line) {
  if (!line.starts_with(model::kLineMark)) {
    ++state_.node.noise_lines;
    noise_.assign(line.substr(0, kKeptNoiseBytes));
    return;
  }
  const auto message = model::decode_message(line);
  if (!message) {
    ++state_.node.bad_lines;
    noise_ = message.error().message;
    return;
  }
  if (const auto* want = std::get_if<model::Want>(&*message)) return send_script(want->script);
  if (const auto* reply = std::get_if<model::SignalReply>(&*message)) {
    return signals_.on_reply(*reply);
  }
  const auto* smi = std::get_if<model::SmiXml>(&*message);
  const auto folded =
      smi != nullptr ? fold_smi(*smi) : fleet::on_message(state_, *message, clock_.wall_ms());
  if (!folded) return give_up(folded.error());
  const bool is_hello = std::holds_alternative<model::Hello>(*message);
  hears_orders_ = hears_orders_ || is_hello;
  if (is_hello && phase_ == Phase::starting) {
    phase_ = Phase::waking;
    leave_gate();
    const std::int64_t left_ms = started_ms_ + options_.sample_timeout_ms - clock_.steady_ms();
    timer_.set(std::max<std::int64_t>(left_ms, 0), [this] { on_deadline(); });
  }
  if (std::holds_alternative<model::Sample>(*message) || smi != nullptr) {
    phase_ = Phase::up;
    failures_ = 0;
    timer_.set(sample_due_ms(options_, state_.node), [this] { on_deadline(); });
  }
  on_change_();
}

// What the collector said that we could not use: often the reason.
std::string Feed::last_words() const {
  std::string words;
  const std::string_view error_line = last_line(stderr_);
  if (!error_line.empty()) {
    words = base::cut(base::printable(error_line), kShownNoiseColumns);
  } else if (!noise_.empty()) {
    words = base::cut(base::printable(noise_), kShownNoiseColumns);
  } else if (state_.node.bad_lines > 0) {
    words = fmt::format("{} lines were longer than {} bytes", state_.node.bad_lines,
                        model::kMaxLineBytes);
  }
  return words.empty() ? words : ": " + words;
}

void Feed::on_exit(io::ExitStatus status) {
  // ssh's own failure, or that of what should have started a collector there.
  if (spec_.ssh && status.signal == 0 && (status.code == 255 || phase_ == Phase::starting)) {
    if (status.code == 255 && try_a_fresh_connection()) return;
    const io::SshVerdict verdict =
        io::judge_ssh_failure(*spec_.ssh, spec_.name, status.code, base::valid_utf8(stderr_));
    const NodeState state = verdict.kind == io::SshFailure::auth       ? NodeState::auth
                            : verdict.kind == io::SshFailure::host_key ? NodeState::hostkey
                                                                       : NodeState::down;
    return give_up(verdict.error, state);
  }
  const std::string how = (status.signal != 0 ? "was " : "ended with ") + io::to_text(status);
  give_up({ErrorKind::protocol, fmt::format("the collector {}{}", how, last_words()), ""});
}

// What a person can do to see more of a server that says nothing.
std::string Feed::next_step() const {
  return spec_.ssh ? "try: " + io::by_hand(*spec_.ssh) : "";
}

void Feed::on_deadline() {
  if (phase_ == Phase::starting) {
    if (try_a_fresh_connection()) return;
    const std::string who = spec_.ssh ? spec_.name : "the collector";
    return give_up({ErrorKind::timeout,
                    fmt::format("{} did not answer within {}{}", who,
                                seconds(options_.hello_timeout_ms), last_words()),
                    next_step()});
  }
  const std::int64_t limit_ms =
      phase_ == Phase::up ? sample_due_ms(options_, state_.node) : options_.sample_timeout_ms;
  const std::string doing = state_.node.notice ? fmt::format(" ({})", *state_.node.notice) : "";
  give_up({ErrorKind::timeout,
           fmt::format("no sample within {}{}{}", seconds(limit_ms), doing, last_words()),
           spec_.ssh ? "the NVIDIA driver there may hang; " + next_step()
                     : "the NVIDIA driver may hang: look for NVRM or Xid lines in dmesg"});
}

void Feed::give_up(const base::Error& error, NodeState state) {
  if (phase_ == Phase::stopped) return;
  leave_gate();
  timer_.cancel();
  if (child_) child_->stop(0);
  on_collector_gone();
  ++failures_;
  on_failure(state_, error, state);
  if (options_.once) {
    phase_ = Phase::stopped;
  } else if (state == NodeState::auth || state == NodeState::hostkey) {
    phase_ = Phase::blocked;
  } else {
    phase_ = Phase::waiting;
    // The steady clock's low bits differ from feed to feed and from try to try: enough to spread
    // retries.
    const double jitter = static_cast<double>(clock_.steady_ms() % 97) / 97;
    timer_.set(backoff_ms(failures_, jitter), [this] { enter_gate(); });
  }
  on_change_();
}

}  // namespace nvidb::fleet
