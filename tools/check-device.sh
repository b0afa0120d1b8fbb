#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the nvidb authors
#
# On a machine with a real GPU: does nvidb say what nvidia-smi says? Prints a table, exits 1 where
# they differ, and leaves the table and both programs' outputs in $OUT (else build/device). Works
# without a network where the packages of `./dev build` are installed.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
out=${OUT:-build/device}
nvidb=${NVIDB_BINARY:-build/release/nvidb}
mkdir -p -- "$out"

command -v nvidia-smi >/dev/null || {
  echo "check-device: there is no nvidia-smi: this is not a machine with an NVIDIA driver" >&2
  exit 2
}
[[ -x $nvidb ]] || ./dev build || {
  echo "check-device: $nvidb is not built; bring one along, or install what is named above" >&2
  exit 2
}

# One before and one after, since memory, temperature and the link of an idle card move in between.
nvidia-smi -q -x >"$out/smi-before.xml"
"$nvidb" --once --json >"$out/nvidb.json" || echo "check-device: nvidb ended with $?" >&2
nvidia-smi -q -x >"$out/smi-after.xml"
"$nvidb" --once --color never >"$out/nvidb.txt" || true
"$nvidb" info >"$out/info.txt" || true

result=0
python3 tools/check_device.py "$out/nvidb.json" "$out/smi-before.xml" "$out/smi-after.xml" \
  >"$out/record.md" || result=$?
cat -- "$out/nvidb.txt" "$out/record.md"
exit "$result"
