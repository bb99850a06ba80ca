#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The controller is killed, by the step's memory limit or by anybody: the step ends as it would, and
# one line says so.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/faults.sh"
need_cluster
command -v python3 >/dev/null || skip_all "needs python3"
start_cluster --memory 1500 --cgroup 'ConstrainRAMSpace=yes
ConstrainSwapSpace=no' --conf 'SelectTypeParameters=CR_CPU_Memory
DefMemPerNode=1500'
more_finish() { rm -f /dev/shm/eaten; finish; }
trap more_finish EXIT

# eat.py DIRECTORY [more]: takes memory until the process named in DIRECTORY/victim is killed;
# more: or until it is killed itself. DIRECTORY/eats exists when it has begun.
cat >"$work/eat.py" <<'PY'
import os, sys, time
here, more = sys.argv[1], len(sys.argv) > 2
open(here + "/eats", "w")
while not os.path.exists(here + "/victim"): time.sleep(0.02)
victim = open(here + "/victim").read().strip()
def lives():
    # A process that was killed may end late, with its memory reaped: the kernel takes another then.
    # SIGKILL is pending until it is gone.
    try: status = open(f"/proc/{victim}/status").read()
    except OSError: return False
    return not int(status.split("ShdPnd:")[1].split()[0], 16) >> 8 & 1
# Shared memory is the step's, and makes no process look large to the kernel.
with open("/dev/shm/eaten", "wb", buffering=0) as file:
    for _ in range(30000):
        if not more and not lives(): break
        try: file.write(b"\1" * 16384)
        except OSError: time.sleep(0.01)
os.unlink("/dev/shm/eaten")
print("not gone" if lives() else "eaten until it was gone")
sys.exit(3)
PY
# eats WHICH COMMAND...: a step at its limit; the kernel takes the process first that WHICH prints.
more=
eats() {
	local which=$1
	shift
	rm -f "$work"/{eats,victim,sleeper} /dev/shm/eaten
	begin srun -n1 --mem=100 "$@" "$work/eat.py" "$work" $more
	wait_until test -e "$work/eats"
	victim=$($which)
	echo 1000 >"/proc/$victim/oom_score_adj" && echo "$victim" >"$work/new" &&
		mv "$work/new" "$work/victim"
	ended
}
# The tasks begin when the controller has ended its start.
controller() { pids_of malleabled; }
balanced() { eats controller "$@" python3; }
# The same step without us: another process of its is killed.
sleeper() { cat "$work/sleeper"; }
without_us() {
	# shellcheck disable=SC2016 # the shell of the step expands it
	eats sleeper sh -c 'sleep 1000 & echo $! >'"$work/sleeper"'
		python3 "$@"; s=$?; kill $! 2>/dev/null; exit $s' sh
}
ended_early='the controller of step [0-9.]* ended early: killed'
said_once() { [ "$(grep -c "$ended_early" "$work/err")" = 1 ] || { echo "# not once"; false; }; }

without_us
expected=$status
# What Slurm makes of a step with a process that was killed is Slurm's.
ok "a process of a step at its memory limit is killed: the program goes on" \
	says 'eaten until it was gone'
balanced --balance
ok "with us that is the controller: the same output and exit status" \
	all_of "exits $expected" "says 'eaten until it was gone'"
ok "a line says so, once" said_once
ok "nothing is left, the node serves" unharmed
balanced --balance=auto,grow=job --balance-report=off
ok "with grow=job and without a report too" all_of "exits $expected" said_once
ok "nothing is left of that" unharmed

# Slurm 24.11 loses a step whose slurmstepd the kernel kills too, and leaves its cgroups; srun waits
# for it until it is ended. Our socket of such a step is removed by the next one.
limit=60
forget_lost() {
	[ "$lost" = no ] || find /sys/fs/cgroup/*/slurm* -depth -type d -path '*/step_*' \
		-exec rmdir {} + 2>/dev/null
	rm -f /dev/shm/eaten
}
more="more"
without_us
expected=$status
lost=no
unharmed >/dev/null 2>&1 || lost=yes
forget_lost
balanced --balance
ok "the program is killed behind it: as without us" \
	all_of "exits $expected" "! grep -q eaten $work/out"
ok "where Slurm says that memory ran out we say nothing" silent_about "$ended_early"
unset limit

# At its end: it has nothing to report, and was not killed.
run srun -n1 --balance true
ok "a step without ranks of ours has no such line" all_of "exits 0" "silent_about '$ended_early'"
forget_lost
ok "nothing is left of both, beyond what is left without us" unharmed
rm "$work/eats"
begin srun -n1 --balance sh -c "touch $work/eats; until [ -e $work/stop ]; do sleep 0.1; done
	exit 4"
wait_until test -e "$work/eats"
kill -KILL "$(controller)"
ended
ok "killed by somebody: the same line, and nothing is left" all_of "exits 4" said_once unharmed
done_testing
