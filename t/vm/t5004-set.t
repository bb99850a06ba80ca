#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Inside the virtual machine (16 CPUs, cgroup v2): malleable set, seen in the masks of every thread, 10 ms apart.
. "$(dirname "$0")/../lib.sh"
need_cluster
[ "$(nproc)" -ge 16 ] || skip_all "needs 16 CPUs: contrib/vm run $0"
plan 8
start_cluster
malleable=$stage/bin/malleable

# One line for each look: time, and for each rank the CPUs of all its threads together.
cat >"$work/watch.py" <<'PYTHON'
import os, sys, time
pids = [int(pid) for pid in sys.argv[2:]]
end = time.monotonic() + float(sys.argv[1])
while time.monotonic() < end:
    found = []
    for pid in pids:
        cpus = set()
        try:
            for thread in os.listdir(f"/proc/{pid}/task"):
                try:
                    cpus |= os.sched_getaffinity(int(thread))
                except ProcessLookupError:
                    pass
        except FileNotFoundError:
            pass
        found.append(",".join(map(str, sorted(cpus))) or "-")
    print(f"{time.monotonic():.3f}", *found, flush=True)
    time.sleep(0.01)
PYTHON
srun -n4 -c2 --balance=external "$load" --units=20000 --chunks=64 --regions=1 --work=60,60,60,60 --iterations=4000 >"$work/run.out" 2>"$work/run.err" &
step=$!
status_of() { "$malleable" status --here --json 2>/dev/null | jq -r "$1" 2>/dev/null; }
phases() { [ "$(status_of '.[0].windows')" -gt 2 ] 2>/dev/null; }
wait_until 40 phases
name=$(status_of '.[0].step')
mapfile -t pids < <(status_of '.[0].ranks[].pid')
first=$(status_of '.[0].cpus')
ok "four ranks of two CPUs run" [ "${#pids[@]}" = 4 ]
python3 "$work/watch.py" 6 "${pids[@]}" >"$work/masks" &
watcher=$!
sleep 1
own() { status_of ".[0].ranks[$1].cpus"; }
list() { status_of ".[0].ranks[$1].cpus" | tr , '\n' | awk -F- '{for (i = $1; i <= (NF > 1 ? $2 : $1); i++) printf "%s%d", n++ ? "," : "", i}'; }
before=$(own 0)
run "$malleable" set "$name.0" --count=4
ok "set is taken" exits 0
gets() { [ "$(status_of ".[0].ranks[$1].count")" = "$2" ]; }
ok "rank 0 gets four CPUs within a phase or two" wait_until 2 gets 0 4
sleep 1
wanted=$(list 0)
wait "$watcher"
ok "its threads run on just these" all_of "tail -n1 $work/masks | awk -v w=$wanted '{exit \$2 != w}'"

outside() {
	awk -v list="$1" 'BEGIN {n = split(list, part, ","); for (i = 1; i <= n; i++) {split(part[i], ends, "-"); for (c = ends[1]; c <= (ends[2] == "" ? ends[1] : ends[2]); c++) may[c] = 1}}
		{for (r = 2; r <= NF; r++) if ($r != "-") {n = split($r, cpus, ","); for (i = 1; i <= n; i++) if (!(cpus[i] in may)) bad++}} END {exit bad > 0}' "$work/masks"
}
ok "never had a thread a CPU outside the step's" outside "$first"
run "$malleable" set "$name" --free
run "$malleable" set "$name" --count=2
ok "all go back" all_of "exits 0" "wait_until 3 gets 0 2" "wait_until 3 gets 3 2"
echo "# rank 0 had $before, then $wanted"
run "$malleable" set "$name" --policy=auto
ok "auto takes over while it runs" all_of "exits 0" "[ \"\$(status_of '.[0].policy')\" = auto ]"
kill "$step"
wait "$step" 2>/dev/null
ok "nothing is left" nothing_left
