#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Heterogeneous steps and jobs (srun ... : ...): each component is a step of its own on its node,
# with the number of all.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/faults.sh"
need_cluster
[ -n "$(type -P ip)" ] || skip_all "needs iproute2"
start_cluster --second-host
export load
# Not by other networks of this machine, which the second host does not have.
export OMPI_MCA_btl_tcp_if_include=10.213.77.0/30

# Slurm's srun itself, without us too, hangs now and then at the start of a heterogeneous step
# (22.05: between its threads and a fork).
patiently() {
	for _ in 1 2 3; do
		run "$@"
		[ "$status" -ne 124 ] && [ "$status" -ne 137 ] && return
	done
}
# in_job SCRIPT: run it in a job of two CPUs on each node.
in_job() {
	printf '#!/bin/bash\n%s\n' "$1" >"$work/job.sh"
	chmod +x "$work/job.sh"
	patiently salloc -Q -N2 -n4 -c1 "$work/job.sh"
}
job='timeout -k 1 60 srun -Q -n1 @ sh -c "echo \$SLURM_PROCID;
	exit 3" : -n1 @ sh -c "echo \$SLURM_PROCID; exit 4"'
both() {
	in_job "${job//@/}"
	cp "$work/out" "$work/without" && plain_status=$status
	in_job "${job//@/--balance}"
	[ "$status" = "$plain_status" ] && cmp <(sort "$work/without") <(sort "$work/out")
}
ok "a heterogeneous step ends as without us" all_of both "exits 4"
ok "nothing is left" unharmed

grows="timeout -k 1 100 srun -Q --exact -n1 -c1 --balance=auto,grow=job $load --work=10 --iterations=4"
in_job "$grows : --exact -n1 -c1 --balance=auto,grow=job $load --work=10 --iterations=4"
ok "both components use what is idle on their nodes" \
	all_of "exits 0" "[ \$(grep -c '1 rank, 2 CPUs' $work/err) = 2 ]" \
	"silent_about 'balance: grow=job'"
in_job "timeout -k 1 100 srun -Q -n1 --balance --balance-report=$work/b.json $load --iterations=4 \
	: -n1 $load --iterations=4"
two_files() { [ "$(find "$work" -name 'b.json.*' | wc -l)" = 2 ] && [ ! -e "$work/b.json" ]; }
ok "each component has a report of its own" all_of "exits 0" two_files
one="srun -Q --exact -w $(hostname -s) -N1 -n1 -c1 --balance=auto,grow=job --balance-report=$work/c.json $load --work=10 --iterations=4"
in_job "timeout -k 1 100 srun -Q --exact -n1 -c1 --balance=auto,grow=job $load --iterations=500 \
	: --exact -n1 -c1 $load --iterations=500 & \
	until ls /run/malleable/sockets/* >/dev/null 2>&1; do sleep 0.1; done
	$one; scancel \$SLURM_JOB_ID.0; wait \$!; exit 0"
ok "a new step takes its CPUs from a component" \
	all_of "exits 0" "says ^elapsed" "jq -e .per_rank[0] $work/c.json" \
	"silent_about 'balance: grow=job'"
in_job "timeout -k 1 100 srun -Q --exact -n1 -c1 --balance=auto sleep 60 \
	: --exact -n1 -c1 --balance=auto sleep 60 & \
	until ls /run/malleable/sockets/* >/dev/null 2>&1; do sleep 0.1; done
	$one; scancel \$SLURM_JOB_ID.0; wait \$!; exit 0"
kept() { jq -e '.per_rank[0].home == .per_rank[0].cpus' "$work/c.json" >/dev/null; }
ok "what a component has is not idle" all_of "exits 0" kept

patiently salloc -Q -N1 -n1 : -N1 -n1 timeout -k 1 60 srun -Q --het-group=0,1 --balance sh \
	-c 'echo $SLURM_PROCID; exit 5'
ok "a heterogeneous job ends as its program says" \
	all_of "exits 5" "[ \$(sort $work/out | tr -d '\n') = 01 ]"
ok "nothing is left by it" unharmed
done_testing
