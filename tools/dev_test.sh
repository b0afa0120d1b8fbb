# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the nvidb authors
# shellcheck shell=bash
#
# `./dev test`: runs the stages one after another, goes on after a failure, sums up.
# Sourced by ./dev.

readonly kResults=build/results  # JUnit files of this run; tools/count_tests.py adds them up
readonly kThreadedRooms=(agent io fleet)
readonly kMaxFailureLines=40  # of one test program
readonly kMaxPytestLines=150
readonly kTestLimitS=300  # of one test program; a hung one is a failed one
readonly kTestsFailed=9  # exit code of a stage whose failures are told by its JUnit file

failed_stages=()
stage_result=0
fixed_addresses=()  # what runs a program without address randomisation

verb_test() {
  local kind=${1:-all} began=$SECONDS
  [[ $kind == all || $kind == quick ]] || die "no kind of test is called '$kind'; there is 'quick'"
  set_up "${build_packages[@]}" "${test_packages[@]}"
  rm -rf -- "$kResults"
  mkdir -p "$kResults"
  python=$(any_python)
  # A moved or reused tree must not serve yesterday's bytecode, nor may tests leave any behind.
  export PYTHONDONTWRITEBYTECODE=1 NVIDB_KEEP_GOING=1

  stage "tidy: the rules of the house" verb_tidy
  stage "tools" run_pytest tools tools/tests
  stage "build dev (ASan, UBSan, warnings are errors)" build_preset dev
  if ((stage_result == 0)); then
    if [[ $kind == quick ]]; then
      stage "unit tests" ctest_preset dev -L quick
      export NVIDB_BINARY=build/dev/nvidb
      stage "smoke: every command" run_pytest smoke tests/e2e/test_smoke.py
    else
      stage "unit tests and corpora" ctest_preset dev
      export NVIDB_BINARY=build/dev/nvidb
      stage "the program, with sanitizers" run_pytest e2e-dev tests/e2e
    fi
  fi
  if [[ $kind == all ]]; then
    stage "build release" build_preset release
    if ((stage_result == 0)); then
      export NVIDB_BINARY=build/release/nvidb
      stage "the program, as released" run_pytest e2e-release tests/e2e
      stage "both collectors, one answer" run_pytest twin tests/twin
      stage "servers over real sshd" run_pytest cluster tests/cluster
    fi
    test_threads
  fi

  say
  sum_up "$kind" $((SECONDS - began))
}

# Threads are few, and live in few rooms: only those are built again with the thread sanitizer.
test_threads() {
  local rooms targets
  rooms=$(IFS='|'; echo "${kThreadedRooms[*]}")
  targets=("${kThreadedRooms[@]/#/nvidb_}")
  stage "build tsan" build_preset tsan nvidb_fake_nvml "${targets[@]/%/_test}"
  if ((stage_result == 0)); then
    # The sanitizer of GCC 12 cannot live with as many random address bits as newer kernels use.
    local fix=(setarch --addr-no-randomize)
    if "${fix[@]}" true 2>/dev/null; then fixed_addresses=("${fix[@]}"); fi
    stage "threads (TSan): ${kThreadedRooms[*]}" ctest_preset tsan -R "^unit\\.($rooms)\$"
  fi
}

# Runs a stage and goes on whatever comes of it; the exit code is left in stage_result.
stage() {
  local name=$1
  shift
  say "== $name"
  stage_result=0
  "$@" || stage_result=$?
  if ((stage_result != 0)); then say "FAILED: $name"; fi
  # Failed tests are counted by their own file; everything else counts as one failure.
  case $stage_result in 0 | "$kTestsFailed") ;; *) failed_stages+=("$name") ;; esac
}

# tests_ended RESULT FILE: RESULT, or kTestsFailed where FILE tells of the failures.
tests_ended() {
  if (($1 != 0)) && grep -qE '<(failure|error)\b' "$2" 2>/dev/null; then return "$kTestsFailed"; fi
  return "$1"
}

run_pytest() {
  local name=$1 log=build/pytest-$1.log result
  shift
  set +e
  "$python" -m pytest -q --tb=short -p no:cacheprovider \
    "--junitxml=$kResults/pytest-$name.xml" "$@" 2>&1 | tee "$log" | first_lines "$log"
  result=${PIPESTATUS[0]}
  set -e
  tests_ended "$result" "$kResults/pytest-$name.xml"
}

# When everything fails, the first failures tell why.
first_lines() {
  awk -v most="$kMaxPytestLines" -v log_file="$1" '
    lines++ < most { print; fflush() }
    lines == most { print "(more in " log_file ")" }
    END { if (lines > most) print }'
}

# ctest_preset PRESET [CTEST ARGUMENT...]: one status line while it runs, then what failed.
ctest_preset() {
  local preset=$1 log=build/$1-ctest.log result
  shift
  mkdir -p "$kResults"
  set +e
  "${fixed_addresses[@]}" ctest --test-dir "build/$preset" -j "$(jobs_count)" \
    --output-on-failure --no-tests=error --timeout "$kTestLimitS" \
    --output-junit "$root/$kResults/ctest-$preset.xml" --test-output-size-passed 1000000 \
    --test-output-size-failed 1000000 "$@" 2>&1 | tee "$log" | ctest_progress
  result=${PIPESTATUS[0]}
  set -e
  status_done
  if ((result != 0)); then
    failures_of "$log" >&2
    say "log: $log" >&2
  fi
  tests_ended "$result" "$kResults/ctest-$preset.xml"
}

# What failed programs said, without their passing cases, at most kMaxFailureLines a program.
failures_of() {
  grep -vE '^(Internal ctest|Test project|Errors while)' "$1" |
    grep -vE '^ *(Start +[0-9]+:|[0-9]+/[0-9]+ Test .* Passed )|^\[( +OK |-+| RUN +) *\]|^ *$' |
    awk -v most="$kMaxFailureLines" '
      / Test .*\*\*\*/ { lines = 0 }
      /^The following tests/ { lines = 0 }
      lines++ < most { print }
      lines == most { print "(more in the log)" }'
}

ctest_progress() {
  local line
  while IFS= read -r line; do
    if [[ $line =~ ^\ *[0-9]+/[0-9]+\ Test ]]; then status "$line"; fi
  done
}

sum_up() {
  local kind=$1 took=$2 result=0
  say "took $((took / 60)) min $((took % 60)) s"
  local preset=release next="./dev run   ./dev install   ./dev bench"
  if [[ $kind == quick ]]; then preset=dev next="./dev test   (everything)   ./dev run"; fi
  if [[ -x build/$preset/nvidb ]]; then say "built: $root/build/$preset/nvidb"; fi
  say "next: $next"
  "$python" tools/count_tests.py --failed-stages "${failed_stages[@]}" -- "$kResults"/*.xml ||
    result=$?
  return "$result"
}
