#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# What an ordinary user tries on the controllers of its own steps, so that root does something for
# it. 20 times each.
. "$(dirname "$0")/lib.sh"
need_cluster
ordinary_users
attack=$work/attack
install -m 755 "$programs/attack" "$attack"
PATIENCE=1 start_cluster
plan 12
rounds=${ROUNDS:-20}
idle() { [[ $(sinfo -h -o %T) =~ ^(idle|planned)$ ]]; }
empty() { [ -z "$(squeue -h)" ]; }
# under HOW [VICTIM]: ROUNDS balanced steps, one after the other, while the user attacks their
# controllers; under nothing: or not.
under() {
	local begin=$SECONDS
	local attacker
	if [ "$1" = nothing ]; then
		sleep 600 &
	else
		"${user[@]}" "$attack" 600 "$@" >"$work/attack.out" 2>&1 &
	fi
	attacker=$!
	hung=0
	for _ in $(seq "$rounds"); do
		"${user[@]}" timeout 20 srun -Q -D / -n1 --balance --balance-report=off true \
			>/dev/null 2>"$work/err" </dev/null || hung=$((hung + 1))
	done
	took=$((SECONDS - begin))
	kill "$attacker"
	wait "$attacker"
}
# The same for so long as the steps take, so that the attacker can say what it did.
counted() {
	"${user[@]}" "$attack" "$((took + 3))" "$@" >"$work/attack.out" 2>&1 &
	local attacker=$!
	for _ in $(seq "$rounds"); do
		"${user[@]}" timeout 20 srun -Q -D / -n1 --balance --balance-report=off true \
			>/dev/null 2>&1 </dev/null
	done
	wait "$attacker"
	cat "$work/attack.out"
}
met() { [ "$(sed -n 's/^met \([0-9]*\) .*/\1/p' "$work/attack.out")" -ge $((rounds / 2)) ]; }
succeeded() { [ "$(sed -n 's/.*succeeded \([0-9]*\) times/\1/p' "$work/attack.out")" -gt 0 ]; }

sleep 1000 &
victim=$!
under steal "$victim"
ok "another process named as the controller: root does not kill it" kill -0 "$victim"
ok "and the steps run" test "$hung" = 0
counted steal "$victim" >/dev/null
ok "no descriptor of a controller can be opened" all_of met "! succeeded"
ok "that process lives" kill -0 "$victim"
kill "$victim"
counted trace >/dev/null
ok "no controller can be traced, and its memory is closed" all_of met "! succeeded"

under nothing
alone=$took
under stop
echo "# $rounds steps: $alone s alone, $took s under attack"
ok "controllers stopped as they start: each step ends" test "$hung" = 0
ok "in 2 s and what srun takes" test "$took" -le $((alone * 2 + rounds * 2))
ok "no job is left" wait_until empty
ok "nor anything else" nothing_left
ok "the node serves others" all_of "wait_until idle" \
	"run ${other[*]} timeout 20 srun -D / -n1 true" "exits 0"

# The controller is one of the step's processes: what cancels the step ends it too, whatever became
# of slurmstepd.
"${user[@]}" srun -Q -D / -n1 --balance --balance-report=off sleep 100 >/dev/null 2>&1 &
wait_until living malleabled
controller=$(pids_of malleabled)
ok "it is in the cgroup by which Slurm kills the step" grep -Eq "freezer:.*/step_0|^0::.*/step_0/" \
	"/proc/$controller/cgroup"
kill -STOP "$controller"
pkill -KILL -f '^slurmstepd: \['
find /sys/fs/cgroup -path '*/step_0*' -name cgroup.procs -exec cat {} + 2>/dev/null | sort -u |
	xargs -r kill -KILL 2>/dev/null
ok "and ends with it, stopped or not" wait_until eval '! living malleabled'
scancel --user=nobody --signal=KILL 2>/dev/null
wait
step_cgroups | while read -r path; do rmdir "$path"/* "$path" 2>/dev/null; done || true
