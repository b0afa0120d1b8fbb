# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the nvidb authors
# shellcheck shell=bash
#
# How ./dev speaks: short lines, one status line that overwrites itself on a terminal.
# Sourced by ./dev.

say() { printf '%s\n' "$*"; }

die() {
  printf 'dev: %s\n' "$*" >&2
  exit 1
}

# Shows `text` as the state of something that goes on: in place on a terminal, else a line every
# kStatusEveryS seconds, so that a log stays short.
readonly kStatusEveryS=20
status_shown_at=-1000
status() {
  local text=$*
  if [[ -t 1 ]]; then
    printf '\r%s\033[K' "${text:0:${COLUMNS:-79}}"
  elif ((SECONDS - status_shown_at >= kStatusEveryS)); then
    status_shown_at=$SECONDS
    printf '%s\n' "$text"
  fi
}

# Clears the status line; what is said next starts on a clean one.
status_done() { if [[ -t 1 ]]; then printf '\r\033[K'; fi; }
