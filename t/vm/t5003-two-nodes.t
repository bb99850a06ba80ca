#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Two virtual machines on one network: a step over both under --balance, each node balanced by
# itself, one report.
. "$(dirname "$0")/../lib.sh"
need_cluster
[ -n "${VM_SHARED:-}" ] && [ -e "$VM_SHARED/command2" ] || skip_all "needs two machines: t/vm/run"
plan 8
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
ok "nothing is left" nothing_left
touch "$VM_SHARED/done"
