#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# MPI_Comm_spawn under mpirun in a balanced job: the children come, compute, and leave.
. "$(dirname "$0")/lib.sh"
[ $openmpi = yes ] || skip_all "mpirun is MPICH's, which starts ranks in a step"
need_cluster
start_cluster
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
cd "$work" || exit 1
export work programs

# job <SCRIPT: begin it with two CPUs; ended_job: output and status as of run.
job() {
	{ echo '#!/bin/bash' && cat; } >"$work/job"
	rm -f "$work"/go.* "$work"/out "$work"/err
	sbatch --balance --wait -Q -n2 -o "$work/out" -e "$work/err" "$work/job" 8>&- &
	waiting=$!
}
ended_job() {
	: >"$work/go.1"
	: >"$work/go.2"
	status=0
	wait "$waiting" || status=$?
}
masks() { for pid in $(pids_of family); do taskset -acp "$pid" | sed 's/.*: //'; done; }
inside() { [ -n "$(masks)" ] && ! masks | grep -qvxE '0|1|0,1'; }
status_json() { "$stage/bin/malleable" status --here --json 2>/dev/null; }
# controllers NUMBER: so many have seen ranks compute.
controllers() {
	[ "$(status_json | jq 'map(select(.windows > 0)) | length' 2>/dev/null)" = "$1" ]
}
reports() { [ "$(grep -c '^balance: step [0-9]*\.'$launcher "$work/err")" = "$1" ]; }
right() { all_of "says 'parents: 0 rounds were wrong'" "says 'children: 0 rounds were wrong'"; }

job <<'JOB'
mpirun -n 1 "$programs/family" 1 "$work/go"
JOB
both() { [ "$(pids_of family | wc -l)" = "$1" ]; }
ok "a rank and its child compute" wait_until both 2
ok "each is balanced, with a controller of its own" wait_until controllers 2
ok "all masks are inside the allocation" inside
: >"$work/go.1"
ok "a spawned child ends" wait_until both 1
ok "the controller of a spawned child ends, and the rank goes on" wait_until controllers 1
ok "masks stay inside the allocation when a child has ended" inside
ended_job
ok "results are right, and each has a report" all_of "exits 0" right "reports 2"
ok "nothing is left" all_of nothing_left "[ ! -e /tmp/malleable-0 ]"

job <<'JOB'
mpirun --oversubscribe -n 2 "$programs/family" 2 "$work/go"
JOB
wait_until both 4
ok "ranks with all CPUs are balanced, their children are not" wait_until controllers 1
ok "all masks are inside the allocation" inside
: >"$work/go.1"
ok "spawned children end" wait_until both 2
ended_job
ok "results are right; one line says that the children were not balanced" all_of "exits 0" right \
	"reports 1" "[ \$(grep -c 'ranks of another launcher have CPU' err) = 1 ]"
ok "nothing is left at the end" all_of nothing_left "[ ! -e /tmp/malleable-0 ]"
done_testing
