#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Inside the virtual machine (16 CPUs, two sockets, two NUMA nodes, cgroup v2): many ranks, moves,
# exact steps, clean-up.
. "$(dirname "$0")/../lib.sh"
need_cluster
[ "$(nproc)" -ge 16 ] || skip_all "needs 16 CPUs: contrib/vm run $0"
plan 14
start_cluster

# CPUs of rank RANK at the end, one per line.
cpus_of() {
	report ".per_rank[$1].cpus" | tr , '\n' |
		awk -F- '{for (i = $1; i <= (NF > 1 ? $2 : $1); i++) print i}'
}
# Every CPU of the step belongs to one rank.
partition() {
	local ranks rank
	ranks=$(report '.per_rank | length')
	[ "$(for ((rank = 0; rank < ranks; rank++)); do cpus_of "$rank"; done | sort -un | wc -l)" \
		= "$1" ] &&
		[ "$(for ((rank = 0; rank < ranks; rank++)); do cpus_of "$rank"; done | wc -l)" = \
		"$1" ]
}
# Most CPUs that rank RANK had at any time, of those from FIRST to LAST. The emulated CPUs share few
# real ones, so that moves may not pay off here, and auto takes back what does not.
most() {
	jq -s --argjson rank "$1" --argjson first "$2" --argjson last "$3" '.[0].cpus as $cpus | [.[] | select(.type == "window") |
		[.owner | to_entries[] | select(.value == $rank and $cpus[.key] >= $first and $cpus[.key] <= $last)] | length] | max' "$work/trace"
}
# Long regions: the machine is emulated, so that short ones are all noise.
balanced() { # RANKS CPUS POLICY LOAD-OPTIONS
	run srun -n"$1" -c"$2" --balance="$3" --balance-report="$work/report.json" \
		--balance-trace="$work/trace" "$load" --units=60000 \
		--chunks=64 --regions=1 --iterations=10 "${@:4}"
}

# The first step waits some seconds for its controller, which reads the topology: it must not be
# over by then.
balanced 4 4 auto,lend=no --work=400,20 --iterations=40
ok "4 x 4: CPUs move to the heavy rank" all_of "exits 0" "report_has '.cpu_changes.moves > 0'" \
	"[ \$(most 0 0 15) -ge 8 ]"
ok "every CPU has one owner" partition 16
# Which CPUs come first, the near ones, is the mapping's matter (t/unit/test_policies.c). How many a
# rank wants in this emulated machine is mostly noise where loads differ by less.
balanced 4 4 auto,lend=no --work=240,160,20,160 --iterations=30
ok "4 x 4: CPUs move to and fro under smaller differences" \
	all_of "exits 0" "report_has '.cpu_changes.moves > 0'" "partition 16"
balanced 2 8 auto,lend=no --work=400,20 --iterations=30
ok "2 x 8: CPUs move across the sockets" all_of "exits 0" "[ \$(most 0 0 7) = 8 ]" \
	"[ \$(most 0 8 15) -ge 1 ]" "partition 16"
balanced 8 2 auto --work=100,20 --iterations=8
ok "8 x 2: auto runs" all_of "exits 0" "partition 16"
ok "nothing is left of these steps under cgroup v2" nothing_left
run srun -n4 -c4 "$builddir/contrib/examples/particles" --particles=400 --iterations=6 \
	--collisions=100
first=$(grep -o 'result [^,]*' "$work/out")
run srun -n4 -c4 --balance "$builddir/contrib/examples/particles" --particles=400 --iterations=6 \
	--collisions=100
ok "the result is the same with and without" all_of "exits 0" "says 'verified'" \
	"[ '$first' = \"\$(grep -o 'result [^,]*' '$work/out')\" ]"
run srun -n2 -c8 --balance bash \
	-c 'taskset -cp $$; awk "/heap|anon/ && /N1=/ {a++} /heap|anon/ && /N0=/ {b++} END {print \"pages\", ENVIRON[\"SLURM_PROCID\"], (a > b ? 1 : 0)}" /proc/self/numa_maps'
ok "a rank's pages lie on the node of its CPUs" \
	all_of "exits 0" "says 'pages 0 0'" "says 'pages 1 1'"

# Two steps of one job, side by side, each with its own CPUs.
cat >"$work/side" <<SIDE
#!/bin/bash
for step in a b; do
	srun --exact -n2 -c4 --balance=auto,lend=no --balance-report=$work/\$step.json "$load" --units=60000 --chunks=64 --work=200,20 --regions=1 --iterations=7 &
done
wait
SIDE
chmod 755 "$work/side"
run salloc -n4 -c4 "$work/side"
ok "two exact steps at once are balanced" all_of "exits 0" "[ -s '$work/a.json' ]" \
	"[ -s '$work/b.json' ]"
homes() {
	jq -r '.per_rank[].home' "$work/$1.json" | tr , '\n' |
		awk -F- '{for (i = $1; i <= $2; i++) print i}'
}
owned() {
	jq -r '.per_rank[].cpus' "$work/$1.json" | tr , '\n' |
		awk -F- '{for (i = $1; i <= (NF > 1 ? $2 : $1); i++) print i}'
}
ok "each inside its own CPUs" all_of "[ \"\$(homes a | sort -n)\" = \"\$(owned a | sort -n)\" ]" \
	"[ \"\$(homes b | sort -n)\" = \"\$(owned b | sort -n)\" ]"
ok "which are not the other's" [ "$({ owned a; owned b; } | sort -n | uniq -d | wc -l)" = 0 ]
ok "nothing is left of them" nothing_left

# A rank that dies at any time: the others and the machine go on.
(
	wait_until living load
	sleep 2
	pids_of load | head -n1 | xargs -r kill -KILL
) &
# Without mpi/pmix it is Slurm that ends the others, and only if told so.
run srun -n4 -c4 --kill-on-bad-exit=1 --balance "$load" --units=3000 --work=400,50 --regions=2 \
	--iterations=60
wait
ok "a killed rank ends the step as without us" all_of fails "wait_until nothing_left"
run srun -n16 --balance bash -c 'taskset -cp $$'
ok "the node is not drained and runs the next step" \
	all_of "exits 0" "[ \"\$(sinfo -h -o %T)\" != drained ]"
