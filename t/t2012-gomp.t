#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Programs for libgomp: those that libomp ends keep theirs, and nothing of libomp's is printed.
. "$(dirname "$0")/lib.sh"
need_cluster
plan 5
start_cluster

${CC:-gcc} -O1 -fopenmp -w -DDOACROSS -o "$work/doacross" "$srcdir/t/programs/gomp.c" || exit 1
run srun -n2 -c1 --balance --balance-report=off "$work/doacross"
ok "a doacross loop in a team of one thread" all_of "exits 0" \
	"[ \$(grep -c '^cells 1023' $work/out) = 2 ]"
run srun -n2 -c1 --balance --balance-report=off "$programs/gomp"
ok "omp_set_nested() prints nothing" all_of "exits 0" "[ \$(grep -c '^cells 91' $work/out) = 2 ]" \
	"! grep -q OMP: $work/err"
# As libgomp has it, and children see what the user set.
${CC:-gcc} -O1 -fopenmp -w -DSCHEDULE -o "$work/scheduled" "$srcdir/t/programs/gomp.c" || exit 1
same_schedule() {
	local plain
	run srun -n1 -c1 "$@" "$work/scheduled"
	plain=$(cat "$work/out")
	run srun -n1 -c1 --balance --balance-report=off "$@" "$work/scheduled"
	exits 0 && says '^schedule [1-4]' && [ "$(cat "$work/out")" = "$plain" ]
}
ok "loops with schedule(runtime) are shared out as libgomp does it" same_schedule
ok "and as the user says" same_schedule --export=ALL,OMP_SCHEDULE=guided,7
if command -v valgrind >/dev/null; then
	run srun -n1 -c1 --balance --balance-report=off valgrind "$programs/gomp"
	ok "valgrind keeps its program" all_of "exits 0" "complains 'ERROR SUMMARY: 0 errors'"
else
	skip "valgrind keeps its program" "valgrind is not installed"
fi
