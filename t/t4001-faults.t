#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Any process may be killed at any time: the others run on, and nothing is left.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/faults.sh"
need_cluster
command -v python3 >/dev/null || skip_all "needs python3"
start_cluster

# in_step OPTION...: a balanced step of two ranks that compute until they are told to stop.
in_step() {
	begin srun -n2 --balance "$@" "$load" --work=4,2 --regions=2 --until="$work/stop"
	wait_until computes || echo "# no window of this step was seen"
}
# The process of local rank N.
rank() {
	for p in $(pids_of load); do
		tr '\0' '\n' <"/proc/$p/environ" | grep -qx "SLURM_LOCALID=$1" && echo "$p"
	done
}
no_ranks() { ! living load; }
no_controller() { ! living malleabled; }
said_once() { [ "$(grep -c "$1" "$work/err")" = 1 ] || { echo "# not once: $1"; false; }; }

for killed in 1 0; do
	in_step --kill-on-bad-exit=1
	kill -KILL "$(rank $killed)"
	ended
	ok "rank $killed killed: the step ends as Slurm makes it end" \
		all_of fails "complains 'Killed'"
	ok "nothing is left by it" nothing_left
done

# Rank 1 ends early, and rank 0 does not wait for it.
begin srun -n2 --balance=lewi --balance-report=off sh -c "
	[ \$SLURM_LOCALID = 0 ] || exec $programs/omponly 10
	until [ -e $work/stop ]; do $programs/omponly 400; done"
has_both() {
	"$stage/bin/malleable" status --here --json | jq -e '.[0] | .cpus as $all | .ranks |
		(.[1].running | not) and .[0].borrowed == 1 and .[0].threads == $all'
} >/dev/null 2>&1
ok "a rank that leaves early leaves its CPU to the other" wait_until has_both
ended
ok "a rank whose CPU another one had ends well" all_of "exits 0" "says ^sum" nothing_left

in_step
kill -KILL "$(pids_of malleabled)"
ok "the controller killed: ranks go on" wait_until no_controller
ended
ok "the program runs on and ends well, and one line is printed" \
	all_of "exits 0" "says elapsed" "said_once 'the controller of step [0-9.]* ended early'"
ok "nothing is left without it" nothing_left

in_step
kill -STOP "$(pids_of malleabled)"
ended
ok "the controller stopped: it goes on at the step's end and reports" \
	all_of "exits 0" "says elapsed" "complains 'balance:   MPI = load balance'" \
	"silent_about 'was killed'"
ok "a stopped controller is gone behind the step" nothing_left

# A process that is held cannot end: what waits for it waits as long as users wait.
users_deadlines
in_step
hold "$(pids_of malleabled)"
ended
ok "held by a debugger: the step ends all the same" \
	all_of "exits 0" "says elapsed" "complains 'was killed'" "wait $holding"
ok "a controller that a debugger held is gone at the end" nothing_left
long_deadlines

in_step -J cancelled
scancel "$(job_of cancelled)"
ended
ok "scancel ends a balanced step, and no line is about its controller" \
	all_of fails no_ranks "silent_about 'ended early'"
ok "nothing is left by scancel" nothing_left

in_step -J orphan
kill -STOP "$(pids_of malleabled)"
kill -KILL "$(stepd_of "$(job_of orphan)")"
ok "slurmstepd killed: the controller leaves by itself, also if it was stopped" \
	wait_until no_controller
ok "a killed slurmstepd ends no rank" [ "$(pids_of load | wc -l)" = 2 ]
kill "$step"
pids_of load | xargs kill -KILL
scancel --signal=KILL "$(job_of orphan)"
ended
ok "no process is left" wait_until no_ranks
remove_lost
done_testing
