#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# What an ordinary user tries on the controllers of its own steps, so that root does something for
# it. In a full run while they start too, 20 times each.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/faults.sh"
need_cluster
command -v python3 >/dev/null || skip_all "needs python3"
ordinary_users
attack=$work/attack
install -m 755 "$programs/attack" "$attack"
if full; then PATIENCE=1; fi
start_cluster
rounds=${ROUNDS:-20}
balanced=("${user[@]}" srun -Q -D / -n1 --balance --balance-report=off)
no_controller() { ! living malleabled; }
# under HOW [VICTIM]: balanced steps, one after the other, while the user attacks their controllers;
# under nothing: or not. Sets took and hung.
under() {
	local begin=$SECONDS attacker
	if [ "$1" = nothing ]; then
		sleep 600 &
	else
		"${user[@]}" "$attack" 600 "$@" >"$work/attack.out" 2>&1 &
	fi
	attacker=$!
	hung=0
	for _ in $(seq "$rounds"); do
		limit=20 run "${balanced[@]}" true
		[ "$status" = 0 ] || hung=$((hung + 1))
	done
	took=$((SECONDS - begin))
	kill "$attacker"
	wait "$attacker"
}
# The same for so long as the steps take, so that the attacker can say what it did.
counted() {
	"${user[@]}" "$attack" "$((took + 3))" "$@" >"$work/attack.out" 2>&1 &
	local attacker=$!
	for _ in $(seq "$rounds"); do limit=20 run "${balanced[@]}" true; done
	wait "$attacker"
	cat "$work/attack.out"
}
met() { [ "$(sed -n 's/^met \([0-9]*\) .*/\1/p' "$work/attack.out")" -ge $((rounds / 2)) ]; }
succeeded() { [ "$(sed -n 's/.*succeeded \([0-9]*\) times/\1/p' "$work/attack.out")" -gt 0 ]; }

if full; then
	sleep 1000 &
	victim=$!
	under steal "$victim"
	ok "another process named as the controller: root does not kill it" kill -0 "$victim"
	ok "the steps run where another process is named as controller" test "$hung" = 0
	counted steal "$victim" >/dev/null
	ok "no descriptor of a controller can be opened" all_of met "! succeeded"
	ok "a process that was named as controller lives" kill -0 "$victim"
	kill "$victim"
	counted trace >/dev/null
	ok "no controller can be traced, and its memory is closed" all_of met "! succeeded"

	under nothing
	alone=$took
	under stop
	echo "# $rounds steps: $alone s alone, $took s under attack"
	ok "controllers stopped as they start: each step ends" test "$hung" = 0
	ok "in 2 s and what srun takes" test "$took" -le $((alone * 2 + rounds * 2))
	ok "no job is left" wait_until no_jobs
	ok "nothing is left of that" nothing_left
	ok "the node serves others" all_of "node_idle" \
		"run ${other[*]} timeout 60 srun -D / -n1 true" "exits 0"
fi

# The controller is one of the step's processes: what cancels the step ends it too, whatever became
# of slurmstepd.
begin "${balanced[@]}" -J sleeps sleep 1000
wait_until living malleabled
# Until it has ended its start: it goes on in a child.
wait_until eval '[ -n "$(find /run/malleable/sockets -type s 2>/dev/null)" ]'
controller=$(pids_of malleabled)
job=$(job_of sleeps)

cat >"$work/open.py" <<'PY'
# open.py PID: all that a process of the same user may try to open or trace.
import ctypes, os, sys
pid = sys.argv[1]
libc = ctypes.CDLL(None, use_errno=True)
def tried(what, attempt):
    try: print(what, "refused" if attempt() else "done")
    except PermissionError: print(what, "refused")
def opened(name):
    os.close(os.open(f"/proc/{pid}/{name}", os.O_RDWR))
print("user", os.stat(f"/proc/{pid}").st_uid, "us", os.getuid())
tried("memory", lambda: opened("mem"))
tried("descriptors", lambda: os.listdir(f"/proc/{pid}/fd") and None)
for fd in range(3, 12): tried("descriptor", lambda: opened(f"fd/{fd}"))
tried("trace", lambda: libc.ptrace(0x4206, int(pid), None, None) < 0)
PY
run "${user[@]}" python3 "$work/open.py" "$controller"
ok "its memory and descriptors are closed to its user, and it cannot be traced" \
	all_of "exits 0" "[ \$(grep -c refused $work/out) = 12 ]" "! says done"

ok "it is in the cgroup by which Slurm kills the step" grep -Eq "freezer:.*/step_0|^0::.*/step_0/" \
	"/proc/$controller/cgroup"
kill -STOP "$controller"
kill -KILL "$(stepd_of "$job")"
find /sys/fs/cgroup -path "*/job_$job/step_0*" -name cgroup.procs -exec cat {} + 2>/dev/null |
	sort -u | xargs -r kill -KILL 2>/dev/null
ok "the controller ends with its step, stopped or not" wait_until no_controller
scancel --signal=KILL "$job"
# srun waits for a slurmstepd that is no more.
kill "$step"
ended
remove_lost
done_testing
