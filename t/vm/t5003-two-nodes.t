#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Two virtual machines on one network: a step over both under --balance, each node balanced by
# itself, one report.
. "$(dirname "$0")/../lib.sh"
need_cluster
[ -n "${VM_SHARED:-}" ] && [ -e "$VM_SHARED/command2" ] || skip_all "needs two machines: t/vm/run"
plan 11
start_cluster --nodes node1=10.0.2.1,node2=10.0.2.2 \
	--share "$VM_SHARED/cluster"
run srun -N2 -n2 hostname
ok "a step runs on both nodes" all_of "exits 0" "says node1" "says node2"
run srun -N2 -n4 -c2 --ntasks-per-node=2 --balance --balance-report="$work/report.json" \
	"$load" --units=3000 --chunks=32 --work=300,40 --regions=2 --iterations=12
ok "a balanced step over both" all_of "exits 0" "says elapsed"
ok "one report: a line for the first node" complains \
	'balance: step [0-9.]+ on node1: auto, 2 ranks, 4 CPUs'
ok "one report: a line for the second node" complains \
	'balance: step [0-9.]+ on node2: auto, 2 ranks, 4 CPUs'
if compgen -G "/usr/lib/*/slurm*/mpi_pmix*.so" >/dev/null; then
	ok "one report: a line for what is between them" complains \
		'balance: 2 nodes, 4 ranks, 8 CPUs: load balance between nodes .mean/max. [0-9.]+ %'
	ok "no more" [ "$(grep -c 'balance: ' "$work/err")" = 3 ]
	ok "as JSON each node has its file, the first one's tells of both" \
		[ "$(jq '.between_nodes.nodes == 2 and (.between_nodes.per_node | length) == 2' \
		"$work/report.json.node1")" = true ]
else
	for what in "one for what is between them" "no more" "JSON of both"; do
		skip "$what" "Slurm has no mpi/pmix"
	done
fi
# As the paper on SABO ran MiniFE on several nodes: one rank of all has most of the work, and CPUs
# move once. Each node has two sockets, which ranks do not leave.
once=(srun -N2 -n8 -c2 --ntasks-per-node=4)
heavy=("$load" --units=20000 --chunks=64 --regions=1 "--work=600,60,60,60,100,100,100,100"
	--iterations=24)
run "${once[@]}" --balance=sabo,at=6 --balance-report="$VM_SHARED/once.json" "${heavy[@]}"
sums=$(grep -oE '(result|checksum) [^,+]*' "$work/out")
# counted NODE FILTER: what jq finds of the numbers of CPUs by rank, at all times.
counted() {
	jq -e "[.cpus_over_time[][1]] | $2" "$VM_SHARED/once.json.node$1" >/dev/null ||
		{ jq -c .cpus_over_time "$VM_SHARED/once.json.node$1" | sed 's/^/# /' && false; }
}
ok "CPUs move to the longest rank on its node" \
	all_of "exits 0" "counted 1 'any(.[0] > 2)'" "counted 1 'any((.[1:4] | min) < 2)'"
ok "none leaves a node" all_of "counted 1 'all(add == 8)'" "counted 2 'all(add == 8)'"
run "${once[@]}" "${heavy[@]}"
ok "the result is that without balancing" all_of "exits 0" "[ -n '$sums' ]" "says '$sums'"
ok "nothing is left" nothing_left
touch "$VM_SHARED/done"
