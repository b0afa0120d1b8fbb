# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the nvidb authors
# shellcheck shell=bash
#
# Configures and builds a preset, quietly. Sourced by ./dev.

readonly kMbPerCompiler=600  # what one compiler may need at worst

# As many compilers as there are cores, but no more than memory holds.
jobs_count() {
  local cores memory_mb
  if [[ -n ${NVIDB_JOBS:-} ]]; then
    [[ $NVIDB_JOBS =~ ^[1-9][0-9]*$ ]] || die "NVIDB_JOBS '$NVIDB_JOBS' is not a number above 0"
    echo "$NVIDB_JOBS"
    return
  fi
  cores=$(nproc 2>/dev/null || echo 2)
  memory_mb=$(awk '/^MemAvailable/ {print int($2 / 1024)}' /proc/meminfo 2>/dev/null || true)
  local most=$((${memory_mb:-4096} / kMbPerCompiler))
  if ((most < 1)); then most=1; fi
  echo $((cores < most ? cores : most))
}

# build_preset PRESET [TARGET...]: build/PRESET, log in build/PRESET.log. Targets that do not exist
# are left out. Dies where it cannot be built, unless NVIDB_KEEP_GOING is set: then it returns 1.
build_preset() {
  local preset=$1 log=build/$1.log began=$SECONDS result
  shift
  mkdir -p build
  forget_moved_tree "$preset"
  status "configuring $preset"
  if ! cmake --preset "$preset" >"$log" 2>&1; then
    status_done
    grep -A 12 -m 1 'CMake Error' "$log" >&2 || tail -n 20 "$log" >&2
    build_failed "could not configure $preset (log: $log)"
    return
  fi
  local known target targets=()
  known=$(ninja -C "build/$preset" -t targets all 2>/dev/null)
  for target in "$@"; do
    if [[ $known == *$'\n'"$target: "* ]]; then targets+=("$target"); fi
  done
  set +e
  NINJA_STATUS='[%f/%t] ' ninja -C "build/$preset" -j "$(jobs_count)" "${targets[@]}" 2>&1 |
    tee -a "$log" | build_progress "$preset"
  result=${PIPESTATUS[0]}
  set -e
  status_done
  if ((result != 0)); then
    # After FAILED come the failing command and the compiler's words.
    sed -n '/^FAILED/,/^\[[0-9]*\/[0-9]*\]/p' "$log" | grep -vE '^(/usr/bin/ccache|: &&)' |
      cut -c 1-400 | head -n 60 >&2
    build_failed "could not build $preset (log: $log)"
    return
  fi
  say "built $preset in $((SECONDS - began)) s"
}

build_failed() {
  [[ -n ${NVIDB_KEEP_GOING:-} ]] || die "$1"
  say "dev: $1" >&2
  return 1
}

# A copied or moved tree has a cache that names the old place, and CMake would refuse to go on.
forget_moved_tree() {
  local cache=build/$1/CMakeCache.txt
  if [[ -e $cache ]] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$cache"; then
    say "build/$1 was made in another folder: building it anew"
    rm -rf -- "build/$1"
  fi
}

build_progress() {
  local preset=$1 line
  while IFS= read -r line; do
    if [[ $line == \[*/*\]* ]]; then status "building $preset ${line//CMakeFiles\/*.dir\//}"; fi
  done
}
