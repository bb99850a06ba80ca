#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Programs of all kinds under --balance: they give the same results and leave nothing.
. "$(dirname "$0")/lib.sh"
need fortran
need_cluster
start_cluster

run srun -n2 --balance true
ok "true: only that there is nothing to balance" all_of "exits 0" \
	"complains 'nothing to balance'" "[ \$(wc -l <$work/err) = 1 ]"
run srun -n2 --balance sh -c 'exit 7'
ok "a status is passed on" exits 7
run srun -n2 --balance hostname
ok "a program without MPI and OpenMP" all_of "exits 0" "[ \$(wc -l <$work/out) = 2 ]"

run srun -n2 --balance --balance-report="$work/report.json" "$programs/mpionly"
ok "a program that never uses OpenMP" all_of "exits 0" "says '^sum 1$'" \
	"report_has '[.per_rank[].mpi_s] | add > 0'"
run srun -n2 --cpu-bind=none "$programs/omponly"
cp "$work/out" "$work/plain"
run srun -n2 --balance --balance-report="$work/report.json" "$programs/omponly"
ok "a program that never uses MPI: phases from its own regions" \
	all_of "exits 0" "cmp $work/plain $work/out" \
	"report_has '.per_rank[0].boundaries > 50'" \
	"report_has '.per_rank[0].work_s > 0 and .per_rank[0].barrier_s >= 0'"
run srun -n2 --balance --balance-report="$work/report.json" "$programs/omponly" --mark-phases
ok "phases from its marks" all_of "exits 0" "report_has '.per_rank[0].boundaries == 100'"
run "$programs/omponly" --mark-phases
ok "marks do nothing outside a balanced step" \
	all_of "exits 0" "cmp <(head -n1 $work/plain) $work/out"
run srun -n2 "$programs/multiple"
cp "$work/out" "$work/plain"
run srun -n2 --balance "$programs/multiple"
ok "programs with MPI_THREAD_MULTIPLE print the same" all_of "exits 0" "cmp $work/plain $work/out"
run srun -n2 "$programs/told"
sort "$work/out" >"$work/plain"
run srun -n2 --balance --balance-report="$work/report.json" "$programs/told"
sort "$work/out" >"$work/sorted"
ok "a program that relies on its number of threads keeps it" \
	all_of "exits 0" "cmp $work/plain $work/sorted" \
	"report_has '.per_rank[0].told == 1'" "complains 'mode: cpuset'"
run srun -n2 --balance --balance-report="$work/report.json" "$programs/told" late
ok "one that asks late has kept it from the start" all_of "exits 0" "says 'threads 1'" \
	"report_has '.per_rank[0].told == 1 and .per_rank[0].mode == \"cpuset\"'"
begin srun -n2 --balance=max_threads=2 --balance-report="$work/report.json" "$programs/told" \
	--until="$work/stop"
borrowed() {
	"$stage/bin/malleable" status --here --json 2>/dev/null |
		jq -e '.[0].ranks | any(.borrowed > 0)' >/dev/null 2>&1
}
wait_until borrowed
ended
ok "max_threads=2 lets it gain: it is told 2 and has 2" all_of "exits 0" "says 'threads 2'" \
	"report_has '.per_rank[0].told == 2'" "report_has '.cpu_changes | .grants + .borrows > 0'"
run srun -n2 --balance --balance-report="$work/report.json" "$programs/fortran"
ok "Fortran: waits in MPI_BARRIER are seen" all_of "exits 0" \
	"report_has '[.per_rank[].mpi_s] | add > 0'" "report_has '.per_rank[1].boundaries >= 50'"
echo "#!/bin/sh
$programs/omponly
$programs/omponly" >"$work/script"
chmod 755 "$work/script"
run srun -n2 --balance --balance-report="$work/report.json" "$work/script"
ok "a shell script that runs two programs, one after the other" \
	all_of "exits 0" "[ \$(grep -c sum $work/out) = 4 ]" "report_has '.ranks == 2'"

# The same without the MPI interposition library, as where none was built for the site's MPI.
mkdir "$work/libdir"
cp "$stage/lib/malleable/malleabled" "$stage/lib/malleable/libmalleable.so" "$work/libdir"
sed -i "s|libdir=[^ ]*|libdir=$work/libdir|" "$BALANCE_CLUSTER/plugstack.conf"
run srun -n2 --balance --balance-report="$work/report.json" "$load" --iterations=10
ok "without MPI interposition phases come from regions, and nothing is lent" all_of "exits 0" \
	"report_has '.per_rank[0].boundaries > 20'" \
	"report_has '.cpu_changes.lends == 0'"
ok "nothing is left" nothing_left
done_testing
