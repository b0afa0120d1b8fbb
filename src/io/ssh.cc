// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "io/ssh.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace nvidb::io {
namespace {

using base::Error;
using base::ErrorKind;

// Later -o never wins over earlier ones in OpenSSH, and all win over the user's files.
constexpr std::array kFixedOptions = {
    "RemoteCommand=none",
    "RequestTTY=no",
    "SessionType=default",
    "PermitLocalCommand=no",
    "ClearAllForwardings=yes",
    "ForwardX11=no",
    "ForwardAgent=no",
    "ForkAfterAuthentication=no",
    "StdinNull=no",
    "EscapeChar=none",
    "StrictHostKeyChecking=yes",
    "UpdateHostKeys=no",
    "VisualHostKey=no",
    "LogLevel=ERROR",
    "ServerAliveInterval=5",
    "ServerAliveCountMax=3",
    "ConnectionAttempts=1",
};
constexpr int kControlPersistS = 60;

std::uint64_t fnv1a(std::uint64_t hash, std::string_view text) {
  for (const unsigned char byte : text) hash = (hash ^ byte) * 0x100000001b3U;
  return (hash ^ 0xffU) * 0x100000001b3U;  // ends the field, so that "a","bc" and "ab","c" differ
}

bool has(std::string_view text, std::string_view words) {
  return text.find(words) != std::string_view::npos;
}

// The last line with something on it; ssh's own reason comes last.
std::string_view last_line(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' '))
    text.remove_suffix(1);
  const std::size_t newline = text.rfind('\n');
  return newline == std::string_view::npos ? text : text.substr(newline + 1);
}

// A word as a shell takes it: as it stands where that is safe, else in single quotes.
std::string shell_word(std::string_view text) {
  const bool is_plain = !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("@%+=:,./_-").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (is_plain) return std::string(text);
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string known_hosts_name(const SshTarget& target) {
  return target.port && *target.port != 22 ? fmt::format("'[{}]:{}'", target.host, *target.port)
                                           : target.host;
}

// The command that ssh itself (as Debian builds it) prints for removing the old key: it knows the
// file, and the name behind an alias.
std::string forget_key_command(const SshTarget& target, std::string_view text) {
  constexpr std::string_view kBegin = "ssh-keygen -f ";
  const std::size_t begin = text.find(kBegin);
  if (begin == std::string_view::npos) return "ssh-keygen -R " + known_hosts_name(target);
  const std::string_view line = text.substr(begin, text.find_first_of("\r\n", begin) - begin);
  return std::string(line);
}

SshVerdict host_key_verdict(const SshTarget& target, std::string_view text) {
  if (has(text, "HAS CHANGED")) {
    return {SshFailure::host_key,
            {ErrorKind::refused, "host key changed",
             fmt::format("if that is right: {}, then {}", forget_key_command(target, text),
                         by_hand(target))}};
  }
  return {SshFailure::host_key,
          {ErrorKind::refused, "host key is not known yet",
           fmt::format("look at it and accept it with: {}", by_hand(target))}};
}

}  // namespace

std::string by_hand(const SshTarget& target) {
  std::string words = "ssh";
  if (target.port) words += fmt::format(" -p {}", *target.port);
  if (!target.proxy_jump.empty()) words += " -J " + shell_word(target.proxy_jump);
  if (!target.identity_file.empty()) words += " -i " + shell_word(target.identity_file);
  const std::string who = target.user.empty() ? target.host : target.user + "@" + target.host;
  return words + " " + shell_word(who);
}

std::vector<std::string> ssh_argv(const SshTarget& target, const SshOptions& options,
                                  std::string_view command) {
  std::vector<std::string> argv = options.program;
  const auto set = [&](std::string option) {
    argv.push_back("-o");
    argv.push_back(std::move(option));
  };
  argv.push_back("-T");
  for (const char* option : kFixedOptions) set(option);
  set(fmt::format("ConnectTimeout={}", options.connect_timeout_s));
  set(options.can_answer ? "BatchMode=no" : "BatchMode=yes");
  if (options.can_answer) set("NumberOfPasswordPrompts=1");
  if (target.auth == SshAuth::key) {
    set("PasswordAuthentication=no");
    set("KbdInteractiveAuthentication=no");
  } else if (target.auth == SshAuth::password) {
    set("PubkeyAuthentication=no");
    set("PreferredAuthentications=password,keyboard-interactive");
  }
  if (options.control_path.empty()) {
    set("ControlMaster=no");
    set("ControlPath=none");
  } else {
    set("ControlMaster=auto");
    set("ControlPath=" + options.control_path);
    set(fmt::format("ControlPersist={}", kControlPersistS));
  }
  if (!target.proxy_jump.empty()) set("ProxyJump=" + target.proxy_jump);
  if (!target.identity_file.empty()) {
    argv.push_back("-i");
    argv.push_back(target.identity_file);
  }
  if (target.port) {
    argv.push_back("-p");
    argv.push_back(std::to_string(*target.port));
  }
  if (!target.user.empty()) {
    argv.push_back("-l");
    argv.push_back(target.user);
  }
  argv.push_back("--");
  argv.push_back(target.host);
  argv.emplace_back(command);
  return argv;
}

std::string control_name(const SshTarget& target, const std::vector<std::string>& program) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  hash = fnv1a(hash, target.host);
  hash = fnv1a(hash, target.port ? std::to_string(*target.port) : "");
  hash = fnv1a(hash, target.user);
  hash = fnv1a(hash, target.identity_file);
  hash = fnv1a(hash, target.proxy_jump);
  hash = fnv1a(hash, std::to_string(static_cast<int>(target.auth)));
  for (const std::string& word : program) hash = fnv1a(hash, word);
  return fmt::format("{:016x}", hash);
}

base::Result<std::vector<std::string>> split_words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = '\0';
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool escapes =
        c == '\\' && quote != '\'' && i + 1 < text.size() &&
        (quote == '\0' || text[i + 1] == '"' || text[i + 1] == '\\' || text[i + 1] == '$');
    if (escapes) {
      word += text[++i];
      in_word = true;
    } else if (quote != '\0') {
      if (c == quote) {
        quote = '\0';
      } else {
        word += c;
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
      in_word = true;
    } else if (c == ' ' || c == '\t' || c == '\n') {
      if (in_word) words.push_back(std::move(word));
      word.clear();
      in_word = false;
    } else {
      word += c;
      in_word = true;
    }
  }
  if (quote != '\0')
    return base::fail(ErrorKind::invalid, fmt::format("a {} is not closed", quote));
  if (in_word) words.push_back(std::move(word));
  return words;
}

SshVerdict judge_ssh_failure(const SshTarget& target, std::string_view name, int code,
                             std::string_view text) {
  const std::string_view reason = last_line(text);
  if (code != 255) {
    return {SshFailure::command,
            {ErrorKind::protocol,
             fmt::format("no collector runs on {}: exit status {}{}{}", name, code,
                         reason.empty() ? "" : ": ", reason),
             "see for yourself with: " + by_hand(target)}};
  }
  if (has(text, "Host key verification failed") || has(text, "HAS CHANGED") ||
      has(text, "host key is known")) {
    return host_key_verdict(target, text);
  }
  if (has(text, "Permission denied") || has(text, "Too many authentication failures") ||
      has(text, "No more authentication methods")) {
    return {SshFailure::auth,
            {ErrorKind::refused, fmt::format("{} refused the login", name),
             "see why with: " + by_hand(target)}};
  }
  if (has(text, "UNPROTECTED PRIVATE KEY")) {
    return {SshFailure::auth,
            {ErrorKind::refused, "others can read the private key",
             "chmod 600 " + shell_word(target.identity_file)}};
  }
  if (has(text, "Could not resolve hostname")) {
    return {SshFailure::unreachable,
            {ErrorKind::unreachable, std::string(reason), "check hostname and proxyjump"}};
  }
  if (has(text, "Bad configuration option") || has(text, "terminating, ")) {
    return {SshFailure::unreachable,
            {ErrorKind::invalid, std::string(reason), "mend your ssh configuration"}};
  }
  const std::string said = reason.empty() ? "the connection broke" : std::string(reason);
  return {SshFailure::unreachable, {ErrorKind::unreachable, said, "try: " + by_hand(target)}};
}

}  // namespace nvidb::io
