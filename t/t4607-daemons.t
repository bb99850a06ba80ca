#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Slurm's daemons away, restarted, and with nothing known of before: steps end as without us, and
# nothing is left.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/faults.sh"
need_cluster
start_cluster

daemon() { cat "$BALANCE_CLUSTER/$1.pid"; }
# registered: slurmctld knows the version of the node's slurmd. Before that, also on a node that is
# idle, Slurm 22.05 takes the oldest protocol for a step: srun cannot read what that prints.
registered() { scontrol show node -o 2>/dev/null | grep -q ' Version='; }
restart() { # DAEMON [OPTION...]
	local name=$1
	shift
	(cd "$BALANCE_CLUSTER" && setsid "$name" -f "$BALANCE_CLUSTER/slurm.conf" "$@" </dev/null \
		>/dev/null 2>&1 8>&-)
	wait_until registered
}
gone() { ! kill -0 "$1" 2>/dev/null; }
end() {
	local pid
	pid=$(daemon "$1")
	kill "$2" "$pid" && wait_until gone "$pid"
}
short=("$load" "--work=4,2" --iterations=1 --until="$work/stop")
well() { exits 0 && says ^elapsed && complains '2 ranks'; }
no_controller() { ! living malleabled; }

begin srun -n2 --balance "${short[@]}"
wait_until computes
kill -STOP "$(daemon slurmctld)"
: >"$work/stop"
wait_until no_controller
ok "slurmctld hangs: the controller leaves at the end of the step" no_controller
kill -CONT "$(daemon slurmctld)"
ended
ok "a step ends well when slurmctld is back" well
ok "nothing is left" unharmed

begin srun -n2 --balance "${short[@]}"
wait_until computes
end slurmctld -KILL
: >"$work/stop"
wait_until no_controller
no_controller && left=no
restart slurmctld
ended
ok "slurmctld killed and restarted" all_of well "[ ${left:-yes} = no ]"
# What it did not save it does not know to have ended.
scancel --user=root
ok "nothing is left by that" unharmed

begin salloc -Q -n2 -c1 srun -Q --exact -n1 -c1 --balance=auto,grow=job "${short[@]}"
wait_until computes
end slurmd -TERM
restart slurmd
files() { ls -d /run/malleable/[0-9]*/0 >/dev/null 2>&1; }
again() { [ "$(grep -c 'slurmd started' "$BALANCE_CLUSTER/slurmd.log")" -ge 2 ]; }
ok "a restart of slurmd succeeds" wait_until again
ok "the running step's files and controller stay" all_of files "living malleabled"
ended
ok "a step ends well behind a restart of slurmd" all_of "exits 0" "says ^elapsed" unharmed

# A node that lost its power: files of root, and no process of them.
mkdir -p /run/malleable/3 /run/malleable/sockets
echo "0 1 999999 0 0" >/run/malleable/3/0
echo "1 /sys/fs/cgroup/cpuset/slurm_$(hostname -s)/uid_0/job_3" >/run/malleable/3/cgroup
: >/run/malleable/3/lock
end slurmd -TERM
restart slurmd
removed() { [ ! -e /run/malleable/3 ]; }
ok "files of a job before the node's last start are removed by slurmd" wait_until removed
wait_until idle

# Steps that were killed at their very start: files that no step has.
mkdir -p /run/malleable/3 /run/malleable/5 /run/malleable/6
: >/run/malleable/3/lock
: >/run/malleable/5/lock
echo "1 /sys/fs/cgroup/cpuset/slurm_$(hostname -s)/uid_0/job_5" >/run/malleable/5/cgroup
run salloc -Q -n2 -c1 srun -Q --exact -n1 -c1 --balance=auto,grow=job "$load" --work=10 \
	--iterations=3
all_removed() { ! ls -d /run/malleable/[356] >/dev/null 2>&1; }
ok "what steps left that were killed at their start is removed by the next one" \
	all_of "exits 0" all_removed unharmed

# slurmctld forgets all: jobs have numbers that others had.
end slurmctld -TERM
rm -rf "$BALANCE_CLUSTER/state" && mkdir "$BALANCE_CLUSTER/state"
mkdir -p /run/malleable/1
echo "0 1 999999 0 0" >/run/malleable/1/0
echo "1 /sys/fs/cgroup/cpuset/slurm_$(hostname -s)/uid_0/job_1" >/run/malleable/1/cgroup
: >/run/malleable/1/lock
restart slurmctld -c
wait_until idle
run salloc -Q -n2 -c1 sh \
	-c "echo job \$SLURM_JOB_ID;
	srun -Q --exact -n1 -c1 --balance=auto,grow=job $load --work=10 --iterations=3"
ok "a job whose number another one had, with what that one left" \
	all_of "exits 0" "says '^job 1$'" "says ^elapsed"
ok "nothing is left of both" unharmed
run srun -n2 --balance "${short[@]}"
ok "further jobs are balanced behind one whose number another had" all_of well unharmed
done_testing
