#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# What else may be in a program: another OMPT tool, a sanitizer, constructors, MPI's newer ways, MPI
# libraries of all kinds.
. "$(dirname "$0")/lib.sh"
need_cluster
start_cluster

patterns=$programs/patterns-free
tool=$programs/tool.so
# The same result as without us.
plain() { run srun -n2 -c1 "$@"; cp "$work/out" "$work/plain"; }
same() { cmp -s "$work/plain" "$work/out" || { echo "# another result"; false; }; }
# lines TEXT NUMBER: so many lines of the error text are that.
lines() {
	[ "$(grep -c -- "$1" "$work/err")" = "$2" ] || {
		echo "# $(grep -c -- "$1" "$work/err") times '$1', not $2"
		false
	}
}

plain "$patterns" plain 20
run srun -n2 -c1 --balance --balance-report="$work/report.json" env OMP_TOOL_LIBRARIES="$tool" \
	"$patterns" plain 20
ok "a tool in OMP_TOOL_LIBRARIES is started, and one line says so" \
	all_of "exits 0" same "lines '^tool started' 2" \
	"lines '^balance: another OMPT tool' 1"
ok "the report names a tool in OMP_TOOL_LIBRARIES" \
	all_of "complains 'OMPT tool tool.so goes first'" \
	"report_has 'all(.per_rank[]; .bound == \"OMPT tool tool.so goes first\")'" \
	"report_has '.per_rank[0].why | test(\"^another OMPT tool goes first\")'"
run srun -n2 -c1 --balance --balance-report="$work/report.json" \
	env OMP_TOOL_LIBRARIES="$work/none" "$patterns" plain 20
ok "a file in OMP_TOOL_LIBRARIES that is not there is no tool" \
	all_of "exits 0" same "lines '^balance: another' 0" \
	"report_has '.per_rank[0].mode == \"team\"'"
run srun -n2 -c1 --balance --balance-report="$work/report.json" env \
	OMP_TOOL_LIBRARIES="$stage/lib/malleable/libmalleable.so" "$patterns" plain 20
ok "our own library in OMP_TOOL_LIBRARIES is no tool" \
	all_of "exits 0" same "lines '^balance: another' 0" \
	"report_has '.per_rank[0].mode == \"team\"'"
run srun -n2 -c1 --balance --balance-report=off bash \
	-c "LD_PRELOAD=\$LD_PRELOAD:$tool exec $patterns plain 20"
ok "a tool that is preloaded behind us is started" all_of "exits 0" same "lines '^tool started' 2" \
	"lines '^balance: another OMPT tool' 1"
run srun -n2 -c1 --balance --balance-report=off bash \
	-c "LD_PRELOAD=$tool:\$LD_PRELOAD exec $patterns plain 20"
ok "a tool that is preloaded before us is started, which one line says" \
	all_of "exits 0" same "lines '^tool started' 2" \
	"lines '^balance: another OMPT tool' 1"
run srun -n2 -c1 --balance=mode=team env MALLEABLE_SEGMENT_FD= OMP_TOOL_LIBRARIES="$tool" \
	"$patterns" plain 20
ok "a tool is started in a rank that is not balanced" \
	all_of "exits 0" same "lines '^tool started' 2"

run srun -n2 -c1 --balance --balance-report=off env OMP_TOOL_LIBRARIES="$tool" \
	"$programs/patterns-free-gcc" plain 20
ok "gcc: a tool in OMP_TOOL_LIBRARIES" all_of "exits 0" same "lines '^tool started' 2" \
	"lines '^balance: another OMPT tool' 1"

# MPI that is not theirs: sanitized programs run by themselves, two of them.
sanitized() {
	local build=$1
	if [ ! -x "$programs/sanitized-$build" ]; then
		skip "$build: it runs, with one line" "it does not build here"
		skip "$build: nothing of ours is in its environment" "it does not build here"
		return
	fi
	run srun -n2 -c1 --balance "$programs/sanitized-$build"
	ok "$build: it runs, with one line" all_of "exits 0" "lines '^constructed' 2" \
		"lines '^balance: the program has a sanitizer' 1" "lines balance: 1" \
		"[ \$(grep -c '^sum 42' $work/out) = 2 ]"
	ok "$build: nothing of ours is in its environment" \
		all_of "[ \$(grep -c '^preload none, 0 of ours' $work/out) = 2 ]"
}
sanitized address-gcc
sanitized address-clang
sanitized address-static
sanitized thread-gcc
sanitized thread-clang
sanitized thread-static
# mpirun closes the segment's descriptor.
if [ -x "$programs/sanitized-address-static" ]; then
	run "$stage/bin/malleable" run --libdir "$stage/lib/malleable" -- "${mpirun[@]}" -n 2 \
		"$programs/sanitized-address-static"
	ok "mpirun's ranks print it too" all_of "exits 0" "lines balance: 1" \
		"lines '^balance: the program has a sanitizer' 1" \
		"[ \$(grep -c '^preload none, 0 of ours' $work/out) = 2 ]"
else
	skip "mpirun's ranks print it too" "it does not build here"
fi

# Before the program's own constructors, those of its libraries run.
run srun -n1 --balance --balance-report=off bash \
	-c "LD_PRELOAD=\$LD_PRELOAD:$programs/constructed.so exec $programs/patterns-gcc plain 20"
ok "a program for libgomp is executed anew before any constructor" \
	all_of "exits 0" "lines '^constructed' 1"

# Before them nothing is called that a library replaces whose own constructor has not run.
ready() {
	local name="$1: a library that replaces libc's functions is ready before we call it"
	if [ "$(uname -m)" != x86_64 ]; then
		skip "$name" "its code is for x86-64"
		return
	fi
	"$2" -O1 -w -shared -fPIC -fno-builtin -o "$work/unready.so" \
		"$srcdir/t/programs/unready.c" -ldl || exit 1
	"$2" -O1 -fopenmp -DPROGRAM -o "$work/unready" "$srcdir/t/programs/unready.c" || exit 1
	rm -f "$work/report.json"
	run srun -n1 -c2 --balance --balance-report="$work/report.json" bash \
		-c "LD_PRELOAD=\$LD_PRELOAD:$work/unready.so exec $work/unready"
	ok "$name" all_of "exits 0" "says '^sum 4950, library there'" \
		"report_has '.per_rank[0].regions >= 1'"
}
ready libgomp "${CC:-gcc}"
ready libomp "$clang"

# Collective calls that do not block; 80 phases where MPI has persistent ones, else 60.
run srun -n2 -c1 --balance --balance-report="$work/report.json" "$programs/requests"
phases=$(median phases)
ok "their completion is a boundary" all_of "exits 0" "says '^phases (60|80)$'" \
	"report_has '.per_rank[1].boundaries == $phases'"
mpich() {
	run "$stage/bin/malleable" run --libdir "$stage/lib/malleable" \
		--balance --balance-report="$work/report.json" -- mpiexec.mpich -n 2 "$@"
}
if [ -x "$programs/requests-mpich" ]; then
	mpich "$programs/requests-mpich"
	ok "MPICH: of persistent ones too" all_of "exits 0" "says 'phases 80'" \
		"report_has '.per_rank[1].boundaries == 80'"
	mpich "$programs/requests-mpich" sessions
	ok "MPICH: in a session without MPI_COMM_WORLD" all_of "exits 0" "says 'phases 80'" \
		"report_has '.per_rank[1].boundaries == 80 and ([.per_rank[].mpi_s] | add) > 0'"
else
	skip "MPICH: of persistent ones too" "MPICH is not installed"
	skip "MPICH: in a session without MPI_COMM_WORLD" "MPICH is not installed"
fi
begin srun -n2 -c1 --balance --balance-report="$work/report.json" "$programs/load-toolsfirst" \
	--work=30,10 --iterations=1 --until="$work/stop"
lends() {
	"$stage/bin/malleable" status --here --json 2>/dev/null |
		jq -e '.[0].ranks | any(.lends > 0)' >/dev/null 2>&1
}
wait_until lends
ended
ok "MPI's tool interface before MPI: waits are lent all the same" \
	all_of "exits 0" "report_has '.cpu_changes.lends > 0'"

if [ -x "$programs/calls-mpich" ]; then
	unknown() { mpich bash -c "LD_PRELOAD=\$LD_PRELOAD:$programs/otherversion.so exec $1"; }
	run mpiexec.mpich -n 2 env OMP_NUM_THREADS=1 "$programs/patterns-mpich" plain 20
	cp "$work/out" "$work/plain"
	unknown "env OMP_NUM_THREADS=1 $programs/patterns-mpich plain 20"
	ok "an MPI library that nobody knows: one line, the same result" all_of "exits 0" same \
		"lines '^balance: unknown MPI library (Some MPI 1.0)' 1"
	unknown "$programs/calls-mpich recv"
	# A second without a collective call that is known as one, and any call ends a phase.
	ok "no handle of it is looked at" all_of "exits 0" "says done" \
		"report_has '(.per_rank[1].boundaries // 0) == 0 or .elapsed_s > 1'"
else
	skip "an MPI library that nobody knows: one line, the same result" "MPICH is not installed"
	skip "no handle of it is looked at" "MPICH is not installed"
fi

plain "$patterns" plain 20
run srun -n2 -c1 --balance --balance-report=off bash \
	-c "LD_PRELOAD=\$LD_PRELOAD:$programs/checkpoints.so exec $patterns plain 20"
ok "under DMTCP ranks run unbalanced, and one line says so" \
	all_of "exits 0" same "lines '^balance: DMTCP takes checkpoints .*unbalanced' 1"

# mpi4py refers weakly to what its MPI may not have, and ended with what we had instead.
# Libraries conclude from a name that exists what a program has.
${CC:-gcc} -O1 -o "$work/finds" "$srcdir/t/programs/finds.c" -ldl || exit 1
OMPI_CC=$clang mpicc -DMPI -O1 -o "$work/finds-mpi" "$srcdir/t/programs/finds.c" -ldl || exit 1
for program in finds finds-mpi; do
	plain -n1 "$work/$program"
	run srun -n1 -c1 --balance --balance-report=off "$work/$program"
	ok "$program: no function of OpenMP or MPI is found that would not be there without us" \
		all_of "exits 0" same "says '^end'"
done

plain "$programs/weak"
run srun -n2 -c1 --balance --balance-report=off "$programs/weak"
ok "calls that MPI lacks are not there with us either" all_of "exits 0" same
done_testing
