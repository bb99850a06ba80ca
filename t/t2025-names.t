#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# dlb=yes, geopm=yes: programs that call DLB or GEOPM get our answers, and lend and borrow by them.
# Libraries made up here have the names of DLB's and GEOPM's.
. "$(dirname "$0")/lib.sh"
need mpi
[ "$(nproc)" -ge 2 ] || skip_all "needs two CPUs"
compat=$stage/lib/malleable/compat
limit=60
malleable() { run "$stage/bin/malleable" run --libdir "$stage/lib/malleable" "$@"; }
# library NAME FUNCTION...: one that is loaded only where ours is not.
library() {
	printf '#include <stdio.h>\n__attribute__((constructor)) static void loaded(void)\n%s\n' \
		"{ puts(\"loaded: $1\"); }" >"$work/$1.c"
	printf 'int %s(void) { return 99; }\n' "${@:2}" >>"$work/$1.c"
	${CC:-cc} -shared -fPIC -o "$work/lib$1.so" -Wl,-soname,"lib$1.so" "$work/$1.c"
}
# program NAME LIBRARY
program() {
	${CC:-cc} -O1 -Wall -Wextra -Werror -I"$srcdir" -o "$work/$1" "$srcdir/t/programs/$1.c" \
		-pthread -L"$work" -l"$2" -Wl,-rpath,"$work"
}
of_fortran='dlb_barriernamedget_ dlb_barriernamedregister_ dlb_drom_setprocessmaskstr_'
of_fortran+=' dlb_getvariable_ dlb_init_ dlb_mngo_regionregister_ dlb_monitoringregionregister_'
of_fortran+=' dlb_setvariable_ dlb_talp_querypopnodemetrics_'
mapfile -t names < <(grep -oE '\bDLB_[A-Za-z_]+\(' "$srcdir/t/programs/names.c" | tr -d '(' |
	sort -u)
library dlb "${names[@]}" dlb_init_ dlb_monitoringregionregister_
program names dlb

run "$work/names" codes
ok "a program of DLB runs with DLB outside a step" all_of "exits 0" "says '^loaded: dlb\$'" \
	"says '^99 99'"
malleable -- "$work/names" codes
ok "a program of DLB runs with DLB in a step without dlb=yes" \
	all_of "exits 0" "says '^loaded: dlb\$'" "says '^99 99'"
# Finalize, Lend, Disable before Init; Init twice; callbacks; Disable twice, Lend, Enable twice;
# Reclaim, Return, LendCpus(0), SetMaxParallelism(0); LendCpu, CPU -1, a mask, Barrier, no version.
codes='2 -2 -2 0 -3 -10 -10 0 0 2 -4 0 2 2 2 2 2 -12 -8 -12 -12 0 0 2'
malleable --balance=dlb=yes -- "$work/names" codes
ok "with dlb=yes each call has its code, and DLB is not loaded" all_of "exits 0" \
	"says '^$codes\$'" "! grep -q loaded $work/out"
malleable --balance=dlb=yes -- env DLB_ARGS="--talp --lewi=no" "$work/names" codes
ok "options of DLB turn lending off" all_of "exits 0" \
	"says '^${codes/%-4 */-17} 0 2 -17 -17 -17 -17 -17 -17 -17 -12 0 0 2\$'"
malleable --balance=dlb=yes -- env DLB_ARGS=--lewi "$work/names" codes
ok "options of DLB turn lending on" says "^${codes}\$"
malleable --balance=lewi,dlb=yes --balance-report="$work/report.json" -- "${mpirun[@]}" -n 2 \
	"$work/names" lend "$work/lend"
ok "a rank lends by DLB_Lend, another one borrows, and is told" all_of "exits 0" \
	"says '^borrowed: 2 threads, 1 enabled, 0 disabled, available 0\$'" \
	"report_has '.cpu_changes | .lends > 0 and .borrows + .grants > 0'"
ok "the owner has its CPU back, and the borrower is told of it" all_of \
	"says '^lent 0, reclaimed 0, again 2, finalized 0\$'" \
	"says '^given back: 1 threads, 1 enabled, 1 disabled, available -8\$'" \
	"says '^returned 2, finalized 0\$'"
malleable --balance=dlb=yes --balance-report="$work/report.json" -- "$work/names" regions
ok "monitoring regions have DLB's codes and struct, whatever the handle is" all_of "exits 0" \
	"says '^1 1 2 0 0 2 0 2 0 1 0 0 -11 -11 -11 0 1 0 1 -6 0 1 -12 solve\$'" \
	"complains '^balance: region solve: 1 runs, '"
ok "monitoring regions of DLB are in the report" \
	report_has 'any(.regions[]; .name == "solve" and .runs == 1)'
malleable --balance=dlb=yes -- "$work/names" handles
ok "each name has a handle: long, of Fortran, not ASCII, of another thread, one too many" all_of \
	"exits 0" "says '^1 0 -17 1 1 1 1 0 0 2 1 -8\$'"
mkdir -p "$work/bare" && cp "$stage"/lib/malleable/{malleabled,libmalleable*.so} "$work/bare"
run "$stage/bin/malleable" run --libdir "$work/bare" --balance=dlb=yes -- echo started
ok "a library that is not installed is named in one line" all_of \
	"complains 'dlb=yes: there is no $work/bare/compat/libdlb.so'" \
	"[ \$(grep -c . $work/err) = 1 ]"
malleable --balance=dlb=maybe -- echo started
ok "dlb= is yes or no" all_of "exits 2" "complains 'dlb=maybe: must be yes or no'" "! says started"
# What DLB has for the calling process: a function that is not there ends a program that calls it.
exported() { nm -D --defined-only "$compat/libdlb.so" | awk '{print $3}'; }
ok "it has DLB's name, and its functions for the calling process, in C and for Fortran" all_of \
	"readelf -d $compat/libdlb.so | grep -q 'SONAME.*\[libdlb.so\]'" \
	"[ \$(exported | grep -c '^DLB_') = 97 ]" "! exported | grep -q '_sp\$'" \
	"[ \"\$(exported | grep -v '^DLB_' | sort | xargs)\" = '$of_fortran' ]"
library geopm geopm_prof_{region,enter,exit,epoch,shutdown,overhead} geopm_tprof_{init,post}
cat >"$work/epochs.c" <<'PROGRAM'
#include <stdint.h>
#include <stdio.h>
extern int geopm_prof_region(const char *name, uint64_t hint, uint64_t *region);
extern int geopm_prof_enter(uint64_t region), geopm_prof_exit(uint64_t region);
extern int geopm_prof_epoch(void), geopm_prof_shutdown(void), geopm_prof_overhead(double seconds);
extern int geopm_tprof_init(uint32_t units), geopm_tprof_post(void);
int main(void)
{
	uint64_t region = 0, other = 0, same = 0;
	int none = geopm_prof_region(NULL, 0, NULL), wrong = geopm_prof_region("a", 0, &region);

	geopm_prof_region("b", 1, &other);
	geopm_prof_region("a", 2, &same);
	for (int step = 0; step < 100; step++) {
		wrong |= geopm_prof_enter(region) | geopm_tprof_init(4) | geopm_tprof_post();
		wrong |= geopm_prof_exit(region) | geopm_prof_epoch();
	}
	wrong |= geopm_prof_overhead(0.5) | geopm_prof_shutdown();
	return printf("%d %d %d %d\n", none, wrong, region == same, region == other) < 0;
}
PROGRAM
${CC:-cc} -o "$work/epochs" "$work/epochs.c" -L"$work" -lgeopm -Wl,-rpath,"$work"
run "$work/epochs"
ok "a program of GEOPM runs with GEOPM outside a step" says '^99 99 1 1$'
malleable --balance=geopm=yes --balance-report="$work/report.json" -- "$work/epochs"
ok "with geopm=yes its regions are named ones, and an epoch is a phase" all_of "exits 0" \
	"says '^-3 0 1 0\$'" "report_has '.per_rank[0].boundaries == 100'" \
	"report_has 'any(.regions[]; .name == \"a\" and .runs == 100)'"
ok "nothing is left" nothing_left
done_testing
