#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# mpirun and mpiexec.hydra in balanced jobs over two nodes: each node's ranks are balanced, and have
# one report, or one each.
. "$(dirname "$0")/lib.sh"
[ $openmpi = yes ] || skip_all "mpirun is MPICH's, which starts ranks in a step"
need_cluster
start_cluster --second-host
# As in t3007-nodes.t: the cable between both hosts, and a directory of each run's own.
export OMPI_MCA_btl_tcp_if_include=10.213.77.0/30 OMPI_MCA_oob_tcp_if_include=10.213.77.0/30
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_orte_tmpdir_base=$work/mpi
mkdir "$work/mpi"
cd "$work" || exit 1

cat >job <<JOB
#!/bin/bash
mpirun -n 4 --map-by ppr:2:node --oversubscribe "$load" --work=30,10,30,10 --iterations=5
JOB
run sbatch --wait -N2 --ntasks-per-node=2 -o "$work/job.out" -e "$work/job.err" \
	--balance --balance-report="$work/report.json" "$work/job"
mv job.out out && mv job.err err
ok "the batch script's node is balanced, and has the report" all_of "exits 0" \
	"report_has '.ranks == 2'" "complains '^balance: step [0-9]+\.$launcher .* 2 ranks'"
lines() { [ "$(grep -c '^balance: ' err)" = "$1" ] || { echo "# not $1 lines"; false; }; }
ok "which is on both nodes, with one line on them together" all_of \
	"complains '^balance: step [0-9]+\.[0-9]+ on $(hostname -s)-2: auto, 2 ranks'" \
	"complains '^balance: 2 nodes, 4 ranks, 4 CPUs: load balance between nodes'" "lines 3" \
	"report_has '.between_nodes | .nodes == 2 and (.per_node | length) == 2'"
mv report.json.*.0 report.json
ok "the launcher whose ranks a daemon forks is balanced on both nodes" report_has '.ranks == 2'

cat >job <<JOB
#!/bin/bash
mpirun -n 2 --oversubscribe "$load" --work=30,10 --iterations=5
JOB
run sbatch --wait -N2 --ntasks-per-node=2 -o "$work/job.out" -e "$work/job.err" --balance \
	"$work/job"
mv job.out out && mv job.err err
ok "mpirun on one of the nodes has the whole report of that node" all_of "exits 0" \
	"complains '^balance: load balance .mean/max.'" "silent_about ' nodes'"

rm -f report.json
run salloc --balance --balance-report="$work/report.json" -N1 -n2 -w "$(hostname -s)-2" \
	mpirun -n 2 "$load" --work=30,10 --iterations=5
ok "mpirun under salloc is balanced where it is not on the nodes" all_of "exits 0" \
	"report_has '.ranks == 2'" "silent_about 'outside of the job'"

if [ -x "$programs/load-mpich" ]; then
	cat >job <<JOB
#!/bin/bash
mpiexec.hydra -localhost 10.213.77.1 -n 4 -ppn 2 "$programs/load-mpich" --work=30,10,30,10 \\
	--iterations=5
JOB
	run sbatch --wait -N2 --ntasks-per-node=2 -o "$work/job.out" -e "$work/job.err" \
		--balance "$work/job"
	mv job.out out && mv job.err err
	alone() { complains "^balance: step [0-9]+\.0 on $1: auto, 2 ranks,.* this node alone: "; }
	ok "mpiexec.hydra has a line for each node, which tells that it is of one node" all_of \
		"exits 0" "alone $(hostname -s)" "alone $(hostname -s)-2" "lines 2"
else
	skip "mpiexec.hydra has a line for each node, which tells that it is of one node" \
		"without MPICH"
fi
ok "nothing is left" nothing_left
done_testing
