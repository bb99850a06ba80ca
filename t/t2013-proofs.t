#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# prove=yes, the default: regions that cannot tell get other teams though the program was told its
# number of threads; all others have exactly that number, and results stay (t/programs/proofs.c).
. "$(dirname "$0")/lib.sh"
need_cluster
command -v clang-19 >/dev/null || skip_all "needs clang-19"
if "$abs_top_builddir/malleable" inspect /bin/true | grep -q "built without Zydis"; then
	plan 1
	start_cluster
	run srun -n1 -c1 --balance=auto,prove=strict "$programs/omponly"
	ok "without Zydis one line says so" all_of "exits 0" \
		"complains 'prove=strict: no region is known'"
	exit 0
fi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
plan 25
start_cluster

# build NAME COMPILER [FLAG...]: $work/NAME.
build() {
	local name=$1
	OMPI_CC=$2 mpicc -O2 -fopenmp -w "${@:3}" -o "$work/$name" "$srcdir/t/programs/proofs.c" ||
		exit 1
}
# balanced KEYS COMMAND...
balanced() {
	run srun -n2 -c1 --balance="auto$1" --balance-report="$work/report.json" "${@:2}"
	sort -o "$work/out" "$work/out"
}
# helped: whether a rank got CPUs of the other one, lent to a region when it began or while it ran.
helps() { report '.cpu_changes.borrows + .cpu_changes.grants'; }
helped() { [ "$(helps)" -ge 20 ] || { echo "# only $(helps) borrows and grants"; false; }; }
unhelped() { [ "$(helps)" = 0 ] || { echo "# $(helps) borrows and grants"; false; }; }
told() { [ "$(grep -c "told $1\$" "$work/out")" = 2 ] || { echo "# not told $1"; false; }; }
# results: what the last run computed.
results() { grep -o 'rank [0-9]* sum .*' "$work/out" | sort; }
same() {
	[ "$(results)" = "$plain" ] || {
		echo "# $plain expected, got $(results)"
		false
	}
}
# plain COMMAND...: results without us.
plainly() {
	run srun -n2 -c1 "$@"
	plain=$(results)
	[ "$(wc -l <<<"$plain")" = 2 ] || echo "# the plain run: $plain"
}
runs_free() { complains "mode: $1 region runs free"; }

for compiler in gcc clang-19; do
	build "$compiler" "$compiler"
	for heavy in first last; do
		plainly "$work/$compiler" "$heavy"
		balanced ,prove=no "$work/$compiler" "$heavy"
		ok "$compiler, heavy rank $heavy: without proofs a banner keeps its team" all_of \
			"exits 0" same "told 1" unhelped
		balanced "" "$work/$compiler" "$heavy"
		ok "$compiler, heavy rank $heavy: with them it is helped" all_of "exits 0" same \
			"told 2" helped "runs_free '80 of 80'"
	done
done

# Of regions that can tell one is enough: a rank with one CPU is told 1.
bound=(SLOTS START COUNT PART STORAGE NUMBERS)
for compiler in gcc clang-19; do
	failed=
	for kind in "${bound[@]}"; do
		build "$kind" "$compiler" "-D$kind" -DROUNDS=10
		plainly "$work/$kind" first
		balanced "" "$work/$kind" first
		# A clause's own threads may have CPUs of their own.
		all_of "exits 0" same "told 1" "[ $kind = NUMBERS ] || unhelped" \
			"runs_free '20 of 40'" \
			"complains 'bound: run_bound.*told 1 thread: no team was changed'" ||
			failed+=" $kind"
	done
	ok "$compiler: told 1 because of a bound region, no team is changed" [ -z "$failed" ]
	failed=
	for kind in "${bound[@]}"; do
		build "$kind" "$compiler" "-D$kind" -DROUNDS=10
		plainly env OMP_NUM_THREADS=2 "$work/$kind" first
		balanced "" env OMP_NUM_THREADS=2 "$work/$kind" first
		all_of "exits 0" same "told 2" || failed+=" $kind"
	done
	ok "$compiler: two threads that the user chose stay two" [ -z "$failed" ]
done

# Two CPUs are told as they are: bound regions have two threads, free ones others.
run_wide() {
	run env OMPI_MCA_oob_tcp_if_include=lo FAKE_CPUS=4 LD_PRELOAD="$programs/fakecpus.so" \
		KMP_AFFINITY=disabled OMP_WAIT_POLICY=passive "$stage/bin/malleable" run \
		--libdir "$stage/lib/malleable" \
		--balance="$1" --balance-report="$work/report.json" -- \
		mpirun --bind-to none --oversubscribe -n 2 "${@:2}"
	sort -o "$work/out" "$work/out"
}
for compiler in gcc clang-19; do
	failed=
	sum=0
	for kind in "${bound[@]}"; do
		build "$kind" "$compiler" "-D$kind" -DROUNDS=10
		run_wide off "$work/$kind" first
		plain=$(results)
		run_wide random "$work/$kind" first
		all_of "exits 0" same "told 2" "runs_free '20 of 40'" || failed+=" $kind"
		sum=$((sum + $(helps)))
	done
	# Each run is so short that nothing may have moved in it.
	[ "$sum" -gt 0 ] || failed+=" none was helped"
	ok "$compiler: CPUs that move at random do not move bound regions' teams" [ -z "$failed" ]
done

plainly "$work/gcc"
balanced "" env OMP_NUM_THREADS=1 "$work/gcc"
ok "one thread that the user chose stays one" all_of "exits 0" same "told 1" unhelped
balanced ,mode=cpuset "$work/gcc"
ok "mode=cpuset stands above proofs" all_of "exits 0" same "told 1" unhelped
balanced ,prove=strict "$work/gcc"
ok "prove=strict: a loop that the runtime divides is free" all_of "exits 0" same "told 2" helped

build static gcc -DSTATIC
plainly "$work/static"
balanced "" "$work/static"
ok "gcc's static loop is free" all_of "exits 0" same "told 2" helped
balanced ,prove=strict "$work/static"
ok "and bound with prove=strict" all_of "exits 0" same "told 1" unhelped \
	"complains 'bound: run_free.*thread numbers; told 1'"

failed=
for compiler in gcc clang-19; do
	for flags in "-s -fPIE -pie" "-s -no-pie -fno-pie" "-no-pie -fno-pie -fno-plt"; do
		# shellcheck disable=SC2086
		build other "$compiler" $flags
		plainly "$work/other"
		balanced "" "$work/other"
		all_of "exits 0" same "told 2" helped || failed+=" $compiler: $flags"
	done
done
ok "stripped programs, and others that are not position-independent" [ -z "$failed" ]

build quiet gcc -DQUIET
plainly "$work/quiet"
balanced "" "$work/quiet"
ok "a program that asks for nothing" all_of "exits 0" same helped
build both gcc -DQUIET -DCOUNT
plainly "$work/both"
balanced "" "$work/both"
ok "nor does a bound region of it have another team" all_of "exits 0" same helped

# What asks for nothing gains whatever is proved of it, but with prove=strict.
cg=$builddir/contrib/examples/cg
of_cg() {
	run srun -n2 -c1 --balance="auto$1" --balance-report="$work/report.json" "$cg" \
		--n=48 --iterations=60 --imbalance=200
}
of_cg ""
ok "regions of a program that knows no number have any team" all_of "exits 0" helped \
	"complains 'mode: ([0-9]+) of \\1 region runs free$'"
of_cg ,prove=strict
ok "with prove=strict only those that were proved" all_of "exits 0" "complains 'bound: multiply'"
ok "nothing is left" nothing_left
