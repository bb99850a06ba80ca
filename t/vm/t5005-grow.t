#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Inside the virtual machine (16 CPUs, cgroup v2, a kernel that forgets affinities): grow=job with masks read every 10 ms.
. "$(dirname "$0")/../lib.sh"
need_cluster
[ "$(nproc)" -ge 16 ] || skip_all "needs 16 CPUs: contrib/vm run $0"
plan 6
start_cluster
cp "$(command -v sleep)" "$work/resident"
export stage work load srcdir
cat >"$work/job.sh" <<'JOB'
#!/bin/bash
status_of() { "$stage/bin/malleable" status --here --json 2>/dev/null | jq -r "$1" 2>/dev/null; }
cpus() { status_of '[.[0].ranks[].count] | add'; }
await() { for _ in $(seq 60); do [ "$(cpus)" = "$1" ] && return 0; sleep 0.3; done; echo "never $1 CPUs: $(status_of .)"; return 1; }
nice -n -15 "$srcdir/t/watch.py" 200 load resident >"$work/masks" &
watcher=$!
sleep 2
srun --exact -n2 -c4 --balance=auto,grow=job --balance-report="$work/report.json" "$load" --units=60000 --chunks=64 --regions=1 \
	--work=100,100 --iterations=100000 >"$work/step.out" 2>&1 &
step=$!
await 16
srun --exact -n1 -c4 "$work/resident" 12
await 16
kill $watcher
pkill -x load
wait $step
exit 0
JOB
chmod +x "$work/job.sh"
limit=400 run salloc -Q -n4 -c4 "$work/job.sh"
awk '{n[$2 " " $3]++} END {for (seen in n) print "# " n[seen] " times: " seen}' "$work/masks"
ok "a step of 8 CPUs uses all 16 of its job, and again when another has ended" all_of "exits 0" "silent_about never"
ok "a step of 4 was beside it" awk '$3 != "-" && split($3, its, ",") == 4 {looks++} END {exit looks < 3}' "$work/masks"
together() { awk '$3 != "-" {n = split($2, mine, ","); m = split($3, its, ","); for (i = 1; i <= n; i++) for (j = 1; j <= m; j++) if (mine[i] == its[j]) {print "# " $0; bad++}} END {exit bad > 0}' "$work/masks"; }
ok "never was a thread of the first on a CPU of the new one" together
ok "meanwhile the first had the other 12" awk '$3 != "-" && split($2, mine, ",") == 12 {looks++} END {exit looks < 3}' "$work/masks"
ok "nothing is left" nothing_left
ok "nor of the pool" [ ! -e /run/malleable ]
