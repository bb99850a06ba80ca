#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Inside the virtual machine (16 CPUs, cgroup v2): malleable set, seen in the masks of every thread,
# 10 ms apart.
. "$(dirname "$0")/../lib.sh"
need_cluster
[ "$(nproc)" -ge 16 ] || skip_all "needs 16 CPUs: contrib/vm run $0"
plan 8
start_cluster
malleable=$stage/bin/malleable

srun -n2 -c2 --balance=external "$load" --units=20000 --chunks=64 --regions=1 --work=60,60 \
	--iterations=4000 >"$work/run.out" 2>"$work/run.err" &
step=$!
status_of() { "$malleable" status --here --json 2>/dev/null | jq -r "$1" 2>/dev/null; }
phases() { [ "$(status_of '.[0].windows')" -gt 2 ] 2>/dev/null; }
wait_until phases
name=$(status_of '.[0].step')
first=$(status_of '.[0].cpus')
ok "two ranks of two CPUs run" [ "$(status_of '[.[0].ranks[].count] | @csv')" = 2,2 ]
nice -n -15 "$srcdir/t/watch.py" 6 load >"$work/masks" &
watcher=$!
sleep 1
own() { status_of ".[0].ranks[$1].cpus"; }
# A list of CPUs, one each, from lists as the kernel writes them.
single() {
	tr , '\n' | awk -F- '{for (i = $1; i <= (NF > 1 ? $2 : $1); i++) print i}' | sort -nu |
		paste -sd,
}
list() { own "$1" | single; }
before=$(own 0)
run "$malleable" set "$name.0" --count=3
ok "set is taken" exits 0
gets() { [ "$(status_of ".[0].ranks[$1].count")" = "$2" ]; }
ok "rank 0 gets three CPUs within a phase or two" wait_until gets 0 3
sleep 1
wanted=$(list 0)
wait "$watcher"
allowed() {
	awk '/^Cpus_allowed_list/ {print $2}' /proc/"$(status_of \
		'.[0].ranks[0].pid')"/task/*/status | single
}
ok "its threads run on just these" [ "$(allowed)" = "$wanted" ]
outside() {
	awk -v list="$1" 'BEGIN {n = split(list, part, ","); for (i = 1; i <= n; i++) {split(part[i], ends, "-"); for (c = ends[1]; c <= (ends[2] == "" ? ends[1] : ends[2]); c++) may[c] = 1}}
		{for (r = 2; r <= NF; r++) if ($r != "-") {n = split($r, cpus, ","); for (i = 1; i <= n; i++) if (!(cpus[i] in may)) bad++}} END {exit bad > 0}' "$work/masks"
}
ok "never had a thread a CPU outside the step's" outside "$first"
run "$malleable" set "$name" --free
run "$malleable" set "$name" --count=2
ok "all go back" all_of "exits 0" "wait_until gets 0 2" "wait_until gets 1 2"
echo "# rank 0 had $before, then $wanted"
run "$malleable" set "$name" --policy=auto
ok "auto takes over while it runs" all_of "exits 0" "[ \"\$(status_of '.[0].policy')\" = auto ]"
kill "$step"
wait "$step" 2>/dev/null
ok "nothing is left" nothing_left
