#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# grow=job: a step uses the CPUs that other steps of its job leave idle, and is off them before
# another step's first task is on.
. "$(dirname "$0")/lib.sh"
need_cluster
ordinary_users
start_cluster
cp "$(command -v sleep)" "$work/resident"
no_pool() { [ ! -e /run/malleable ]; }

# What is used below inside jobs; a word that a step of it prints is a fact that was seen.
mkdir -m 777 "$work/files"
export stage work load srcdir files=$work/files
cat >"$work/lib" <<'LIB'
status_of() { "$stage/bin/malleable" status --here --json 2>/dev/null | jq -r "$1" 2>/dev/null; }
# await COMMAND...: for two minutes; the job ends if it never succeeds.
await() {
	local end=$((SECONDS + ${patience:-120}))
	until "$@"; do
		[ $SECONDS -lt $end ] || { echo "never: $*" && status_of . && exit 1; }
		sleep 0.1
	done
}
has() { [ "$(status_of '.[0].ranks[0].count')" = "$1" ]; }
balance=auto,grow=job
first() {
	rm -f "$files/stop"
	srun -Q --exact -n1 -c1 --balance="$balance" --balance-report="$files/report.json" "$load" \
		--work=10 --iterations=1 --until="$files/stop" >"$files/out" 2>&1 &
	await has 2
}
second() { srun -Q --exact -n1 -c1 "$@"; }
end() { : >"$files/stop" && wait; }
deadlines() { sed -i "s/patience=[0-9]*/patience=$1/" "$BALANCE_CLUSTER/plugstack.conf"; }
LIB
# The CPUs of this process, then those of each thread of the first step, LOOKS times.
cat >"$work/beside" <<'BESIDE'
#!/bin/bash
grep Cpus_allowed_list /proc/self/status
for ((i = 0; i < $1; i++)); do
	cat /proc/"$(pgrep -x load)"/task/*/status | grep Cpus_allowed_list
done
BESIDE
chmod 755 "$work/beside"
# apart FILE: what it wrote names no CPU twice.
apart() {
	awk 'NR == 1 {its = $2} NR > 1 && $2 != its && $2 ~ /^[01]$/ {well++}
		END {exit NR < 3 || well != NR - 1}' "$1" && return
	head -n 20 "$1" | sed 's/^/# /'
	return 1
}
# told FILE JQ: what that report says.
told() { jq -e "$2" "$files/$1.json" >"$work/said"; }
# in_job SCRIPT: run it in a job of two CPUs.
in_job() {
	printf '#!/bin/bash\n. "$work/lib"\n%s\n' "$1" >"$work/job.sh"
	chmod 755 "$work/job.sh"
	limit=1800 run "${as[@]}" salloc -D / -Q -n2 -c1 "$work/job.sh"
}
as=()
in_job '
first && echo both
second "$work/beside" 20 >"$files/beside" && await has 2 && echo back
second --balance=auto,grow=job --balance-report=off "$load" --iterations=2 && await has 2 &&
	echo back again
for i in 1 2 3 4 5; do second grep Cpus_allowed_list /proc/self/status; done
await has 2
# Another step has a CPU of the two.
second bash -c "until [ -e $files/stop ]; do sleep 0.1; done" &
await has 1
step=$(status_of ".[0].step").0
malleable set "$step" --cpus=0,1
malleable set "$step" --cpus="$(status_of ".[0].ranks[0].cpus")" && echo own
end'
ok "a step of one CPU of two uses both" all_of "exits 0" "says '^both$'"
ok "a new step without --balance gets its CPU, no thread of the first beside it" apart \
	"$files/beside"
ok "when it has ended the CPU comes back" says '^back$'
ok "a new step with grow=job gets its CPU, and it comes back" \
	all_of "says '^elapsed'" "says '^back again$'"
ok "five short steps come and go" [ "$(grep -c Cpus_allowed_list: "$work/out")" = 5 ]
ok "malleable set refuses CPUs that another step has" \
	all_of "says own" "complains 'CPUs 0,1 are not the step.s: it has [01]$'"
ok "the first step ends well" all_of "grep -q '^elapsed' '$files/out'" \
	"told report '.cpu_changes.moves > 0'"
ok "nothing is left" all_of nothing_left no_pool

in_job '
srun -Q --exact -n1 -c1 --balance=auto --balance-report="$files/alone.json" "$load" --iterations=3
srun -Q -n2 -c1 --balance=auto,grow=job --balance-report="$files/all.json" "$load" --iterations=3
balance=lewi,grow=job && first && echo lewi has both
end
balance=auto,grow=job && first
kill -9 $(pgrep -x load); wait
srun -Q --exact -n2 -c1 true && echo the job goes on'
ok "without grow=job a step keeps to its own" told alone '.per_rank[0] | .home == .cpus'
ok "a step that has all CPUs runs as without" told all '.cpus == 2'
ok "lewi takes idle CPUs too" says '^lewi has both'
ok "the rank killed: the step ends, the job goes on" \
	all_of "exits 0" "says '^the job goes on'" nothing_left no_pool

in_job 'first
kill -9 $(pgrep -x malleabled)
second "$work/beside" 1 >"$files/beside"
end'
ok "the controller killed: the kernel takes the CPU" all_of "exits 0" "apart '$files/beside'"
ok "nothing is left then" all_of nothing_left no_pool
# Two deadlines must pass here.
in_job 'first
deadlines 1
kill -STOP $(pgrep -x malleabled)
second "$work/beside" 1 >"$files/beside"
kill -CONT $(pgrep -x malleabled)
await has 2
flock /run/malleable/*/lock sleep 1000 &
holds=$!
await eval "! flock -n /run/malleable/*/lock true"
second echo through
pkill -P $holds
deadlines "$MALLEABLE_PATIENCE"
end'
ok "the controller stopped: the new step does not wait for it" all_of "exits 0" \
	"apart '$files/beside'"
ok "the pool held by something that hangs: a new step says so and runs" \
	all_of "exits 0" "says through" "complains 'held by another step'"
run "$stage/bin/malleable" run --libdir "$stage/lib/malleable" --balance=auto,grow=job -- true
ok "malleable run has no job" all_of "exits 2" "complains 'are for steps of Slurm: use srun'"
as=("${user[@]}")
mkdir -m 777 "$work/user"
export files=$work/user
in_job 'first && echo both; end'
ok "an ordinary user has it too" all_of "exits 0" "says '^both$'"

if full; then
	as=()
	export files=$work/files
	in_job '"$srcdir/t/watch.py" 10 load resident >"$files/masks" & sleep 0.3
first; second "$work/resident" 1; await has 2; wait %1; end'
	together() {
		awk '$3 != "-" {looks++; n = split($2, mine, ","); m = split($3, its, ",");
			for (i = 1; i <= n; i++) for (j = 1; j <= m; j++) bad += mine[i] == its[j]}
			END {exit !(looks > 20) || bad > 0}' "$files/masks"
	}
	ok "seen every 10 ms: never is a thread of the first beside a new step" together
	ok "a step with pool=job gains by the other CPU" \
		told report '.measured | .unbalanced_s > 1.4 * .elapsed_s'
fi
ok "nothing is left at the end" all_of nothing_left no_pool
done_testing
