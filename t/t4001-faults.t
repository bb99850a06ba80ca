#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Any process may be killed at any time: the others run on, and nothing is left.
. "$(dirname "$0")/lib.sh"
need_cluster
command -v python3 >/dev/null || skip_all "needs python3"
# Who was stopped gets the time to report on a busy machine too.
PATIENCE=1 start_cluster --plugin-args "wait=5"
plan 16

# in_step COMMAND...: a step in the background, until its controller has seen both ranks compute, as
# slow as the machine may be, or the step has ended.
in_step() {
	timeout "${limit:-60}" "$@" >"$work/out" 2>"$work/err" </dev/null 8>&- &
	step=$!
	wait_until computes_or_ended
}
computes_or_ended() {
	! kill -0 "$step" 2>/dev/null || [ "$(windows)" -gt 0 ] 2>/dev/null
}
windows() {
	"$stage/bin/malleable" status --here --json 2>/dev/null | jq -r '.[0].windows' 2>/dev/null
}
ended() {
	status=0
	wait "$step" || status=$?
}
# The process of local rank N.
rank() {
	for p in $(pids_of load); do
		tr '\0' '\n' <"/proc/$p/environ" | grep -qx "SLURM_LOCALID=$1" && echo "$p"
	done
}
no_ranks() { ! living load; }

in_step srun -n2 --balance --kill-on-bad-exit=1 "$load" --work=200,20 --regions=1 --iterations=50
kill -KILL "$(rank 1)"
ended
ok "a rank killed while lending: the step ends as Slurm says" all_of fails "complains 'Killed'"
ok "nothing is left" nothing_left
in_step srun -n2 --balance --kill-on-bad-exit=1 "$load" --work=200,20 --regions=1 --iterations=50
kill -KILL "$(rank 0)"
ended
ok "a rank killed while borrowing" all_of fails "complains 'Killed'"
ok "nothing is left by it" nothing_left

# A rank that dies without the others waiting for it: they go on, and get its CPU.
in_step srun -n2 --balance --kill-on-bad-exit=0 --balance-report="$work/report.json" sh -c "
	if [ \$SLURM_LOCALID = 1 ]; then exec $programs/omponly; else
	exec $load --work=40 --iterations=10 --regions=5; fi" 2>/dev/null
ended
ok "ranks that leave early do no harm" nothing_left

said_once() { [ "$(grep -c "$1" "$work/err")" = 1 ] || { echo "# not once: $1"; false; }; }
in_step srun -n2 --balance "$load" --iterations=50
kill -KILL "$(pids_of malleabled)"
ended
ok "the controller killed: the program runs on and ends well, and one line says so" \
	all_of "exits 0" "says elapsed" "said_once 'the controller of step [0-9.]* ended early'"
ok "nothing is left without it" nothing_left

in_step srun -n2 --balance "$load" --iterations=50
kill -STOP "$(pids_of malleabled)"
ended
ok "the controller stopped: it goes on at the step's end and reports" \
	all_of "exits 0" "says elapsed" "complains 'balance:   MPI = load balance'" \
	"silent_about 'was killed'"
ok "and it is gone" nothing_left

in_step srun -n2 --balance "$load" --iterations=50
hold "$(pids_of malleabled)"
ended
ok "held by a debugger: the step ends all the same" \
	all_of "exits 0" "says elapsed" "complains 'was killed'" "wait $holding"
ok "and it is gone too" nothing_left

in_step srun -n2 --balance -J cancelled "$load" --iterations=500
scancel --name=cancelled
ended
ok "scancel ends a balanced step, without a word on its controller" \
	all_of fails no_ranks "silent_about 'ended early'"
ok "nothing is left by scancel" nothing_left

in_step srun -n2 --balance -J orphan "$load" --iterations=60
controller=$(pids_of malleabled)
kill -STOP "$controller"
pkill -KILL -f '^slurmstepd: \['
gone() { ! living malleabled; }
ok "slurmstepd killed: the controller leaves by itself, also if it was stopped" wait_until gone
scancel --name=orphan --signal=KILL 2>/dev/null
kill "$step" 2>/dev/null
pkill -KILL -x load
ended
ok "and the ranks were not harmed by that" test -n "$controller"
# Slurm leaves the cgroups of a killed slurmstepd behind, with or without us.
step_cgroups | while read -r path; do rmdir "$path"/* "$path" 2>/dev/null; done
ok "no process is left" wait_until no_ranks
