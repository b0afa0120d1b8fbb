# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the nvidb authors
# shellcheck shell=sh
#
# The collector that nvidb sends to a server without Python: POSIX sh (dash, busybox, bash) with
# nvidia-smi and /proc. Speaks docs/agent-protocol.md, but sh cannot take XML apart, so what
# nvidia-smi says goes to the reader as it is (`smi_xml`). Nothing is written to disk.
#
# $i is the interval in milliseconds where whoever evaluates this has set it. Seconds are counted
# whole. Three kinds of processes, so that orders are heard while nvidia-smi blocks:
#   main      waits; at any signal it kills all the others and ends
#   feeder    hands orders from stdin and a tick each second to the worker
#   worker    does everything else, and is the only one that writes to stdout

LC_ALL=C
export LC_ALL
set -u
version=0.1.0
proc=/proc
smi_every_s=5
max_xml=900000      # bytes; lines have at most 1 MiB
max_order=4096
max_processes=256
seq=0
want=1
interval_s=$(((${i:-1000} + 999) / 1000))
hz=$(getconf CLK_TCK 2>/dev/null) || hz=100
page_kib=$(($(getconf PAGESIZE 2>/dev/null || echo 4096) / 1024))
nl='
'

has() { command -v "$1" >/dev/null 2>&1; }
is_number() { case ${1:-x} in *[!0-9]*) return 1 ;; esac; }

# The inside of a JSON text from stdin; lines are joined by \n. Other control characters go.
escape() {
  tr '\t' ' ' | tr -d '\000-\011\013-\037\177' | sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' |
    awk 'NR > 1 { printf "\\n" } { printf "%s", $0 }'
}
# `,"KEY":"TEXT"` for a text that is not empty; `,"KEY":NUMBER` for a number.
text_field() {
  [ -n "$2" ] || return 0
  case $2 in
    *[!a-zA-Z0-9_./@:+=,\ \(\)-]*) printf ',"%s":"%s"' "$1" "$(printf '%s' "$2" | escape)" ;;
    *) printf ',"%s":"%s"' "$1" "$2" ;;
  esac
}
number_field() { if [ -n "$2" ]; then printf ',"%s":%s' "$1" "$2"; fi; }
hundredths() { printf '%d.%02d' $(($1 / 100)) $(($1 % 100)); }

# ---- the machine ----

now_cs=0 # hundredths of a second since it was started; of 1970 where it does not tell
look_at_clock() {
  up=
  if [ -r $proc/uptime ]; then read -r up rest <$proc/uptime; fi
  case $up in
    *.*)
      rest=${up#*.}00
      now_cs=${up%%.*}${rest%"${rest#??}"}
      up=${up%%.*}
      ;;
    *) now_cs=$(date +%s)00 ;;
  esac
}

os_name() {
  for file in /etc/os-release /usr/lib/os-release; do
    [ -r $file ] || continue
    name=$(sed -n 's/^PRETTY_NAME=//p' $file | head -n 1)
    name=${name#[\"\']}
    name=${name%[\"\']}
    if [ -n "$name" ]; then
      printf '%s' "$name"
      return
    fi
  done
  if has sw_vers; then printf 'macOS %s' "$(sw_vers -productVersion)"; else uname -sr; fi
}

host_facts() {
  cores=0
  if [ -r $proc/stat ]; then
    while read -r word rest; do
      case $word in cpu[0-9]*) cores=$((cores + 1)) ;; cpu) ;; *) break ;; esac
    done <$proc/stat
  else
    cores=$(sysctl -n hw.ncpu 2>/dev/null || getconf _NPROCESSORS_ONLN 2>/dev/null)
  fi
  boot=
  if [ -r $proc/sys/kernel/random/boot_id ]; then
    read -r boot <$proc/sys/kernel/random/boot_id
  elif has sysctl; then
    boot=$(sysctl -n kern.bootsessionuuid 2>/dev/null)
  fi
  if [ "${cores:-0}" = 0 ]; then cores=; fi
  fields=$(text_field hostname "$(uname -n)")$(text_field os "$(os_name)")
  fields=$fields$(number_field cpu_cores "$cores")$(text_field boot_id "$boot")
  printf '{%s}' "${fields#,}"
}

# Sets cpu_now to "busy idle" of all cores in ticks.
look_at_cpu() {
  cpu_now=
  [ -r $proc/stat ] || return 0
  read -r word user nice system idle iowait irq softirq steal rest <$proc/stat
  [ "$word" = cpu ] && is_number "$idle" || return 0
  busy=$((user + nice + system + ${irq:-0} + ${softirq:-0} + ${steal:-0}))
  cpu_now="$busy $((idle + ${iowait:-0}))"
}

look_at_memory() {
  total_kib= free_kib= available_kib= buffers=0 cached=0 swap_kib= swap_free_kib=
  [ -r $proc/meminfo ] || return 0
  while read -r word value rest; do
    case $word in
      MemTotal:) total_kib=$value ;;
      MemFree:) free_kib=$value ;;
      MemAvailable:) available_kib=$value ;;
      Buffers:) buffers=$value ;;
      Cached:) cached=$value ;;
      SwapTotal:) swap_kib=$value ;;
      SwapFree:) swap_free_kib=$value ;;
    esac
  done <$proc/meminfo
  # Before Linux 3.14.
  if [ -z "$available_kib" ] && [ -n "$free_kib" ]; then
    available_kib=$((free_kib + buffers + cached))
  fi
}

# "KEY":VALUE pairs of a system without /proc that has macOS's tools.
mac_reading() {
  has sysctl || return 0
  load=$(sysctl -n vm.loadavg 2>/dev/null | tr -d '{}' | awk '{ print $1 + 0 }')
  total=$(sysctl -n hw.memsize 2>/dev/null)
  boot=$(sysctl -n kern.boottime 2>/dev/null | sed -n 's/.*{ sec = \([0-9]*\),.*/\1/p')
  number_field load1 "$load"
  if is_number "$total" && has vm_stat; then
    vm_stat | awk -v total="$total" '
      /page size of/ { for (k = 1; k < NF; k++) if ($k == "of") size = $(k + 1) }
      /^(Pages free|Pages speculative|File-backed pages|Pages purgeable):/ { free += $NF }
      END { if (size) { used = total - free * size; if (used < 0) used = 0
        printf ",\"mem_used_mb\":%d", used / 1048576 } }'
  fi
  if is_number "$total"; then number_field mem_total_mb $((total / 1048576)); fi
  sysctl -n vm.swapusage 2>/dev/null | awk '{ for (k = 1; k < NF - 1; k++) if ($(k + 1) == "=") {
    if ($k == "used") printf ",\"swap_used_mb\":%d", $(k + 2)
    if ($k == "total") printf ",\"swap_total_mb\":%d", $(k + 2) } }'
  if is_number "$boot"; then number_field uptime_s $(($(date +%s) - boot)); fi
}

# Sets `host` to the JSON of a reading.
cpu_before=
read_host() {
  fields=
  look_at_cpu
  if [ -n "$cpu_before" ] && [ -n "$cpu_now" ]; then
    busy=$((${cpu_now% *} - ${cpu_before% *}))
    idle=$((${cpu_now#* } - ${cpu_before#* }))
    if [ $busy -lt 0 ]; then busy=0; fi
    if [ $idle -lt 0 ]; then idle=0; fi
    if [ $((busy + idle)) -gt 0 ]; then
      fields=,\"cpu_percent\":$(hundredths $((busy * 10000 / (busy + idle))))
    fi
  fi
  cpu_before=$cpu_now
  if [ -r $proc/loadavg ]; then
    read -r word rest <$proc/loadavg
    fields="$fields,\"load1\":$word"
  fi
  look_at_memory
  if [ -n "$total_kib" ]; then
    if [ -n "$available_kib" ] && [ "$available_kib" -le "$total_kib" ]; then
      fields="$fields,\"mem_used_mb\":$(((total_kib - available_kib) / 1024))"
    fi
    fields="$fields,\"mem_total_mb\":$((total_kib / 1024))"
  fi
  if [ -n "$swap_kib" ]; then
    if [ -n "$swap_free_kib" ]; then
      fields="$fields,\"swap_used_mb\":$(((swap_kib - swap_free_kib) / 1024))"
    fi
    fields="$fields,\"swap_total_mb\":$((swap_kib / 1024))"
  fi
  look_at_clock
  if [ -n "$up" ]; then fields="$fields,\"uptime_s\":$up"; fi
  if [ ! -r $proc/stat ]; then fields=$fields$(mac_reading); fi
  host={${fields#,}}
}

# ---- processes ----

# Splits /proc/$1/stat into s_*; false where there is no such process. The name may hold anything,
# so its end is the last `)` of the line.
read_stat() {
  s_line=
  { read -r s_line <"$proc/$1/stat"; } 2>/dev/null || [ -n "$s_line" ] || return 1
  case $s_line in "$1 ("*") "*) ;; *) return 1 ;; esac
  s_comm=${s_line#*\(}
  s_comm=${s_comm%\)*}
  # Words after the name: 1 is field 3, state.
  # shellcheck disable=SC2086
  set -- ${s_line##*\) }
  [ $# -ge 22 ] || return 1
  s_state=$1
  s_ticks=$((${12} + ${13}))
  s_threads=${18}
  s_start=${20}
  s_rss=${22}
}

# What does not change of process $1, for its first sample.
read_identity() {
  command=$(tr '\000' ' ' <"$proc/$1/cmdline" 2>/dev/null | head -c 16384 | escape)
  while [ "$command" != "${command% }" ]; do command=${command% }; done
  name=${command%% *}
  name=${name##*/}
  name=${name%:}
  if [ -z "$name" ]; then name=$(printf '%s' "$s_comm" | escape); fi
  # shellcheck disable=SC2046
  set -- $(ls -ld "$proc/$1" 2>/dev/null)
  user=${3:-}
  identity=
  if [ -n "$name" ]; then identity=",\"name\":\"$name\""; fi
  if [ -n "$command" ]; then identity="$identity,\"command\":\"$command\""; fi
  identity=$identity$(text_field user "$user")
}

# Appends the JSON of process $1 to `processes`. What is kept of it between two samples lies in
# variables p_PID: start, ticks, when, identity.
read_process() {
  read_stat "$1" || return 0
  eval "known=\${p_$1:-}"
  percent=
  if [ -n "$known" ] && [ "${known%% *}" = "$s_start" ]; then
    rest=${known#* }
    old_ticks=${rest%% *}
    rest=${rest#* }
    old_cs=${rest%% *}
    identity=${rest#* }
    if [ $((now_cs - old_cs)) -gt 0 ] && [ "$s_ticks" -ge "$old_ticks" ]; then
      percent=$(((s_ticks - old_ticks) * 1000000 / hz / (now_cs - old_cs)))
    fi
  else
    read_identity "$1"
  fi
  eval "p_$1=\"\$s_start \$s_ticks \$now_cs \$identity\""
  keep="$keep $1"
  rss_kib=$((s_rss * page_kib))
  # The type is said by the XML; here it only has to be there.
  fields="\"pid\":$1,\"type\":\"C\"$identity"
  if [ -n "$percent" ]; then fields="$fields,\"cpu_percent\":$(hundredths "$percent")"; fi
  if [ -n "$total_kib" ] && [ "$rss_kib" -le "$total_kib" ]; then
    fields="$fields,\"host_mem_percent\":$(hundredths $((rss_kib * 10000 / total_kib)))"
  fi
  fields="$fields,\"rss_mb\":$((rss_kib / 1024))"
  age=$((now_cs / 100 - s_start / hz))
  if [ -n "$up" ] && [ $age -ge -1 ]; then
    if [ $age -lt 0 ]; then age=0; fi
    fields="$fields,\"elapsed_s\":$age"
  fi
  fields="$fields,\"state\":\"$s_state\",\"threads\":$s_threads,\"start_ticks\":$s_start"
  processes="$processes,{$fields}"
}

# Sets `processes` to the JSON of those that nvidia-smi named.
kept=
read_processes() {
  processes= keep=
  if [ $want = 1 ]; then
    for pid in $(printf '%s' "$xml" | awk '{ gsub(/\\n/, "\n"); print }' |
      sed -n 's/^ *<pid>\([0-9]\{1,10\}\)<\/pid>.*/\1/p' | sort -un | head -n $max_processes); do
      read_process "$pid"
    done
  fi
  for pid in $kept; do
    case "$keep " in *" $pid "*) ;; *) unset "p_$pid" ;; esac
  done
  kept=$keep
  processes=[${processes#,}]
}

# ---- samples ----

find_smi() {
  # In WSL it is where no login through ssh looks for it.
  for smi in nvidia-smi /usr/lib/wsl/lib/nvidia-smi; do
    if has $smi; then return; fi
  done
  smi=
}

# Sets `xml` (escaped) and `status`. The list of clocks that a card could run at is most of the
# text and of no use; it and the indents are left out.
run_smi() {
  xml=$({
    $smi -q -x 2>/dev/null </dev/null
    printf '\nstatus %s\n' $?
  } | tr '\t' ' ' | sed -e 's/^ *//' -e '/<supported_clocks>.*<\/supported_clocks>/d' \
    -e '/<supported_clocks>/,/<\/supported_clocks>/d' | escape)
  status=${xml##*\\nstatus }
  xml=${xml%\\nstatus *}
  xml=${xml%\\n}
}

emit() { printf 'nvidb1 %s\n' "$1" 2>/dev/null; }

sample() {
  at_ms=$(date +%s)000
  began_cs=$now_cs
  seq=$((seq + 1))
  find_smi
  if [ -z "$smi" ]; then
    read_host
    if [ "$source" != none ]; then
      source=none
      emit '{"type":"inventory","source":"none","simulated":false,"gpus":[]}' || return 1
    fi
    head="\"seq\":$seq,\"at_ms\":$at_ms,\"read_ms\":$(((now_cs - began_cs) * 10))"
    emit "{\"type\":\"sample\",$head,\"host\":$host,\"gpus\":[]}"
    return
  fi
  if [ "$source" != nvidia-smi ]; then
    source=nvidia-smi
    emit '{"type":"notice","text":"asking nvidia-smi"}' || return 1
  fi
  run_smi
  read_host
  read_processes
  if [ ${#xml} -gt $max_xml ]; then
    xml="nvidia-smi failed: it printed more than $max_xml bytes"
  fi
  if [ $((${#xml} + ${#processes})) -gt 1000000 ]; then processes=[]; fi
  head="\"seq\":$seq,\"at_ms\":$at_ms,\"read_ms\":$(((now_cs - began_cs) * 10))"
  head="$head,\"host\":$host,\"status\":$status,\"processes\":$processes"
  emit "{\"type\":\"smi_xml\",$head,\"xml\":\"$xml\"}"
}

# ---- orders ----

# Sets `number` to the whole number behind key $2 of order $1; false where there is none.
number_of() {
  case $1 in *"\"$2\":"*) ;; *) return 1 ;; esac
  number=${1#*"\"$2\":"}
  number=${number%%[!0-9-]*}
  is_number "${number#-}" && [ ${#number} -le 19 ]
}

# As near as sh comes to a process that cannot be reused meanwhile: looked at right before.
signal_process() {
  number_of "$1" id || return 0
  id=$number
  number_of "$1" pid && pid=$number && [ "$pid" -ge 2 ] || return 0
  number_of "$1" start_ticks && start=$number || return 0
  number_of "$1" signal || return 0
  case $number in 2 | 9 | 15) ;; *) return 0 ;; esac
  error=
  if ! read_stat "$pid" || [ "$s_start" != "$start" ]; then
    error='no such process'
  elif ! words=$(kill -"$number" "$pid" 2>&1); then
    # `sh: 1: kill: No such process`, `kill: (1) - Operation not permitted`
    error=${words##*: }
    error=${error##* - }
    if [ -z "$error" ]; then error='the signal could not be sent'; fi
    case $error in *'o such process'*) error='no such process' ;; esac
  fi
  emit "{\"type\":\"signal_reply\",\"id\":$id$(text_field error "$error")}"
}

# False where the collector is to end.
obey() {
  case $1 in
    'nvidb1 {'*'"type":"quit"'*) return 1 ;;
    'nvidb1 {'*'"type":"interval"'*)
      if number_of "$1" interval_ms && [ "$number" -ge 100 ] && [ "$number" -le 3600000 ]; then
        interval_s=$(((number + 999) / 1000))
      fi
      ;;
    'nvidb1 {'*'"type":"processes"'*)
      case $1 in *'"want":true'*) want=1 ;; *'"want":false'*) want=0 ;; esac
      ;;
    'nvidb1 {'*'"type":"signal"'*) signal_process "$1" || return 1 ;;
  esac
}

# ---- the three kinds of processes ----

feeder() {
  # The ticker's sleep must not outlive it with our streams in its hands.
  (
    trap 'kill $s 2>/dev/null; exit 0' TERM
    while echo tick; do
      sleep 1 >/dev/null 2>&1 </dev/null &
      s=$!
      wait $s
    done
  ) 2>/dev/null </dev/null &
  ticker=$!
  while IFS= read -r line; do
    if [ ${#line} -lt $max_order ]; then printf '%s\n' "$line" 2>/dev/null || break; fi
  done
  kill -s TERM $ticker 2>/dev/null
  # The worker ends by itself unless nvidia-smi holds it; writing then fails, or kills us.
  for try in 1 2 3 4 5 6 7 8; do
    echo end 2>/dev/null || break
    sleep 0.1 2>/dev/null || { [ "$try" -gt 1 ] && break; sleep 1; }
  done
  kill -s TERM $$ 2>/dev/null
}

worker() {
  source=
  due_s=
  look_at_clock
  look_at_cpu
  cpu_before=$cpu_now
  sleep 0.1 2>/dev/null || sleep 1
  while IFS= read -r line; do
    case $line in
      end) return ;;
      tick)
        look_at_clock
        now_s=$((now_cs / 100))
        every_s=$interval_s
        if [ "$source" = nvidia-smi ] && [ $every_s -lt $smi_every_s ]; then
          every_s=$smi_every_s
        fi
        # Whole intervals after the last one was due; what was missed is skipped.
        if [ -z "$due_s" ]; then
          due_s=$now_s
        elif [ $((now_s - due_s)) -ge $every_s ]; then
          due_s=$((now_s - (now_s - due_s) % every_s))
        else
          continue
        fi
        sample || return
        ;;
      *) obey "$line" || return ;;
    esac
  done
}

# "PID PARENT" of every process.
parents() {
  if [ ! -r $proc/stat ]; then
    ps -A -o pid= -o ppid= 2>/dev/null
    return
  fi
  for file in $proc/[0-9]*/stat; do
    s_line=
    { read -r s_line <"$file"; } 2>/dev/null
    rest=${s_line##*\) ? }
    [ "$rest" != "$s_line" ] || continue
    echo "${s_line%% *} ${rest%% *}"
  done
}

# Kills what we have started, and what that has started. A nvidia-smi that is stuck in the driver
# is left to init.
end_all() {
  trap '' TERM INT HUP
  kill -s KILL $(parents | awk -v top=$$ '
    { parent[$1] = $2 }
    END {
      for (pid in parent) {
        up = pid
        for (k = 0; k < 64 && up in parent && up != top; k++) up = parent[up]
        if (up == top && pid != top) print pid
      }
    }') 2>/dev/null
  exit 0
}

if [ -z "${hz:-}" ] || [ "$hz" -le 0 ]; then hz=100; fi
if [ "$page_kib" -le 0 ]; then page_kib=4; fi
head="\"type\":\"hello\",\"protocol\":1,\"collector\":\"shell\",\"version\":\"$version\""
emit "{$head,\"pid\":$$,\"host\":$(host_facts)}" || exit 1
trap end_all TERM INT HUP
trap '' PIPE # a reader that has gone is an error of printf
# A job in the background gets /dev/null for stdin unless it is told otherwise.
exec 3<&0
{
  feeder <&3 | { worker; kill -s TERM $$; }
} &
exec 3<&- </dev/null
wait
end_all
