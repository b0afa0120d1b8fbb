# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the nvidb authors
# shellcheck shell=bash
#
# Installs the packages a verb needs, and only the missing ones. Sourced by ./dev.
#
# `a|b`: either will do, the first is installed.

build_packages=(g++ cmake ninja-build pkg-config ccache mold libcli11-dev nlohmann-json3-dev
  libfmt-dev libexpected-dev libasio-dev libpugixml-dev libyaml-cpp-dev)
test_packages=(libgtest-dev libgmock-dev python3 python3-pytest python3-pexpect python3-pyte tmux
  procps openssh-server openssh-client zsh fish tcsh busybox iproute2)
bench_packages=(libbenchmark-dev python3 openssh-server openssh-client)
fuzz_packages=(clang 'libclang-rt-dev|libclang-rt-14-dev')
format_packages=('clang-format|clang-format-14')

readonly kSetupLog=build/setup.log
readonly kInstallTries=3
readonly kQuietS=20  # without a word from apt, after which we say that it is still waiting

# Debian's modules (pytest, pexpect, pyte) belong to Debian's python, not to the first on the PATH.
any_python() {
  if [[ -x /usr/bin/python3 ]]; then
    echo /usr/bin/python3
  else
    command -v python3 || die "python3 is not installed (package python3)"
  fi
}

set_up() {
  mkdir -p build
  if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    need_tools "$@"
    return
  fi
  local missing
  mapfile -t missing < <(missing_packages "$@")
  if ((${#missing[@]} == 0)); then return; fi
  say "installing ${#missing[@]} missing packages: ${missing[*]}"
  : >"$kSetupLog"
  get_root "${missing[@]}"
  if ! apt_step "refreshing the package lists" update -o APT::Update::Error-Mode=any; then
    say "the package lists could not be refreshed: $(apt_cause); trying with the old ones"
  fi
  install_packages "${missing[@]}"
  mapfile -t missing < <(missing_packages "$@")
  ((${#missing[@]} == 0)) || die "apt-get did not install: ${missing[*]} (log: $kSetupLog)"
  say "packages are installed"
}

missing_packages() {
  local -A installed=()
  local name state entry alternative found
  while read -r name state; do
    if [[ $state == installed ]]; then installed[$name]=1; fi
  done < <(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "${@%%|*}" "${@#*|}" 2>/dev/null ||
    true)
  for entry in "$@"; do
    found=
    for alternative in ${entry//|/ }; do
      if [[ -n ${installed[$alternative]:-} ]]; then found=1; fi
    done
    if [[ -z $found ]]; then echo "${entry%%|*}"; fi
  done
}

# Elsewhere than on Debian and its children nothing can be installed: name what is needed, and go on
# where it is there.
need_tools() {
  local entry tool missing=()
  local -A tool_of=([g++]=g++ [cmake]=cmake [ninja-build]=ninja [python3]=python3 [clang]=clang++
    ['clang-format|clang-format-14']=clang-format)
  say "no apt-get here: nothing is installed. Needed, by Debian's names: ${*%%|*}"
  for entry in "$@"; do
    tool=${tool_of[$entry]:-}
    if [[ -n $tool ]] && ! command -v "$tool" >/dev/null; then missing+=("$tool"); fi
  done
  ((${#missing[@]} == 0)) || die "not found: ${missing[*]}; install them and try again"
}

# Fills as_root with what runs a command as root.
as_root=()
get_root() {
  if ((EUID == 0)); then return; fi
  local by_hand="apt-get install --no-install-recommends $*"
  command -v sudo >/dev/null ||
    die "installing packages needs root and there is no sudo; as root run: $by_hand"
  if ! sudo -n true 2>/dev/null; then
    say "installing packages needs root; sudo asks for your password"
    sudo true || die "sudo was refused; ask an administrator to run: $by_hand"
  fi
  say "as root, through sudo"
  as_root=(sudo)
}

install_packages() {
  local try cause
  for ((try = 1; ; ++try)); do
    if apt_step "installing" install --no-install-recommends "$@"; then return; fi
    cause=$(apt_cause)
    if [[ $cause != "the network"* ]] || ((try == kInstallTries)); then
      die "could not install ${*}: $cause (log: $kSetupLog)"
    fi
    say "$cause; trying again ($((try + 1)) of $kInstallTries)"
    sleep 3
    apt_step "refreshing the package lists" update || true
  done
}

# One run of apt-get, its words in the log, its progress as our status line. The progress needs a
# descriptor of its own, opened behind sudo, which closes all but the first three.
apt_step() {
  local what=$1 began=$SECONDS result
  shift
  set +e
  "${as_root[@]}" env LC_ALL=C DEBIAN_FRONTEND=noninteractive \
    sh -c 'exec apt-get -o APT::Status-Fd=3 "$@" 3>&1 1>&2' apt-get -y -q -o Dpkg::Use-Pty=0 \
    -o DPkg::Lock::Timeout=120 -o Acquire::Retries=2 \
    -o Acquire::http::Timeout=30 -o Acquire::https::Timeout=30 \
    "$@" </dev/null 2>>"$kSetupLog" | apt_progress "$what"
  result=${PIPESTATUS[0]}
  set -e
  status_done
  if ((result == 0)); then say "$what: done in $((SECONDS - began)) s"; fi
  return "$result"
}

apt_progress() {
  local what=$1 line kind percent text result waited=0
  while true; do
    result=0
    IFS= read -r -t "$kQuietS" line || result=$?
    if ((result > 128)); then
      waited=$((waited + kQuietS))
      status_done
      say "$what: nothing for $waited s; the package server or the disk is slow, still waiting"
      continue
    fi
    ((result == 0)) || break
    waited=0
    case $line in
      dlstatus:* | pmstatus:*)
        IFS=: read -r kind _ percent text <<<"$line"
        if [[ $kind == dlstatus ]]; then text="fetching: $text"; fi
        status "$what: ${percent%%.*} % $text"
        ;;
      *) printf '%s\n' "$line" >>"$kSetupLog" ;;
    esac
  done
}

# The likely cause of the last failure, from the log, in one phrase.
apt_cause() {
  local log
  log=$(tail -n 200 "$kSetupLog" 2>/dev/null || true)
  local network='resolve|[Cc]onnection (refused|failed)|Could not connect|to fetch|timed out'
  if grep -qE 'Unable to locate package|no installation candidate' <<<"$log"; then
    local names
    names=$(sed -nE "s/^E: (Unable to locate package|Package) '?([a-z0-9.+-]+).*/\2/p" <<<"$log")
    echo "this system's package sources do not offer" $(sort -u <<<"$names") \
      "(on Ubuntu enable 'universe'; README.md says which systems are tested)"
  elif grep -qE 'Permission denied|are you root|not allowed' <<<"$log"; then
    echo "no permission to install packages"
  elif grep -qE 'Could not get lock|Unable to acquire' <<<"$log"; then
    echo "another package manager is running; wait for it and try again"
  elif grep -qE 'No space left|enough free space' <<<"$log"; then
    echo "the disk is full"
  elif grep -qE 'dpkg was interrupted|unmet dependencies|broken packages' <<<"$log"; then
    echo "the system's packages are half installed; repair them with: apt-get --fix-broken install"
  elif grep -qE "$network" <<<"$log"; then
    echo "the network or the package server does not answer"
  else
    echo "apt-get failed"
  fi
}
