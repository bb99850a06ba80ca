#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# CPU time is charged by Slurm to the step that used it, on whichever CPU that was:
# jobacct_gather/cgroup, as sites have it.
. "$(dirname "$0")/lib.sh"
need_cluster
start_cluster --accounting
plan 4
# cpu_seconds STEP: what Slurm has charged to it so far.
cpu_seconds() {
	sstat -j "$1" --noheader -P --format=AveCPU | awk -F: '{print $1 * 3600 + $2 * 60 + $3}'
}
export -f cpu_seconds
export load work
cat >"$work/job.sh" <<'JOB'
#!/bin/bash
srun -Q --exact -n1 -c1 --balance="$1" --balance-report="$work/report.json" "$load" \
	--work=10 --regions=10 --iterations=200 >"$work/step.out" 2>&1 &
sleep 1
[ "$2" = 0 ] || srun -Q --exact -n1 -c1 sleep "$2" &
sleep 4
cpu_seconds "$SLURM_JOB_ID.0"
[ "$2" = 0 ] || cpu_seconds "$SLURM_JOB_ID.1"
scancel "$SLURM_JOB_ID.0"
wait
JOB
chmod +x "$work/job.sh"
run salloc -Q -n2 -c1 "$work/job.sh" auto 0
read -r alone <"$work/out"
ok "a step that keeps to its own CPU is charged for one ($alone s of 5)" \
	awk "BEGIN {exit !($alone > 1 && $alone <= 5.5)}"
run salloc -Q -n2 -c1 "$work/job.sh" auto,grow=job 0
read -r both <"$work/out"
ok "one on another CPU beside for both ($both s)" \
	awk "BEGIN {exit !($both >= 1.4 * $alone && $both <= 10.5)}"
run salloc -Q -n2 -c1 "$work/job.sh" auto,grow=job 6
{ read -r busy && read -r idle; } <"$work/out"
ok "a step that sleeps on that CPU for nothing, the first for its own again ($idle s and $busy s)" \
	awk "BEGIN {exit !($busy <= 1.3 * $alone + 1 && $idle <= 0.5)}"
ok "nothing is left" nothing_left
