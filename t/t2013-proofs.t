#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# prove=yes, the default: regions that cannot tell have a thread for each CPU, though the program
# was told its number of threads; all others have exactly that number, and the same threads of the
# system (t/programs/proofs.c). Which teams they have is seen from outside (libm.watch.c), while
# malleable set moves CPUs. Four CPUs are made up; told one, or two instead, with real ones.
. "$(dirname "$0")/lib.sh"
need_cluster
need prover
command -v "$clang" >/dev/null || skip_all "needs $clang"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_oob_tcp_if_include=lo
export XDG_CACHE_HOME=$work/cache
unset OMP_NUM_THREADS
malleable=$stage/bin/malleable
stop=$work/stop

# build NAME COMPILER [FLAG...]: $work/NAME. No compiler computes cbrt() itself.
build() {
	local name=$1
	OMPI_CC=$2 MPICH_CC=$2 mpicc -O2 -fno-builtin -fopenmp -w -o "$work/$name" \
		"$srcdir/t/programs/proofs.c" "${@:3}" -lm || exit 1
}
results() { grep -o 'rank [0-9]* sum .*' "$work/out" | sort; }
same() {
	[ "$(results)" = "$plain" ] || { echo "# $plain expected, got $(results)" && false; }
}
told() {
	[ "$(grep -c "told $1 of $1\$" "$work/out")" = 2 ] || { echo "# not told $1" && false; }
}

# balanced KEYS COMMAND...: two ranks of two CPUs each, in the background until ended.
balanced() {
	rm -f "$work"/watch.*
	begin env FAKE_CPUS=4 WATCH="$work/watch" KMP_AFFINITY=disabled OMP_WAIT_POLICY=passive \
		LD_PRELOAD="$programs/fakecpus.so:$programs/libm.watch.so" \
		"$malleable" run --libdir "$stage/lib/malleable" --balance="external$1" \
		--balance-report="$work/report.json" -- \
		"${mpirun[@]}" -n 2 "${@:2}"
}
# last RANK KIND, got RANK KIND TEAM...: the team of that kind of region; all that there were.
last() {
	awk -v kind="$2" '$1 == kind && $2 != "threads" {team = $2} END {print team}' \
		"$work/watch.$1" 2>/dev/null
}
has_ended() { ! kill -0 "$step" 2>/dev/null; }
has() { [ "$(last "$1" "$2")" = "$3" ]; }
has_or_ended() { has "$@" || has_ended; }
comes_to() {
	wait_until has_or_ended "$@" && has "$@" && return
	echo "# region $2 of rank $1: $(last "$1" "$2")"
	return 1
}
got() {
	local all
	all=$(awk -v kind="$2" '$1 == kind {print $2}' "$work/watch.$1" | sort -u | tr '\n' ' ')
	[ "$all" = "${*:3} " ] || { echo "# region $2 of rank $1: $all" && false; }
}
# bound_got TEAM: all bound regions but the one with a clause, which has three.
bound_got() {
	local rank kind
	for rank in 0 1; do
		for kind in 3 4 5 6 7; do got "$rank" "$kind" "$1" || return 1; done
		got "$rank" 8 3 || return 1
	done
}
moves() { "$malleable" set mpirun --free && "$malleable" set mpirun.0 --count=3; } >/dev/null 2>&1
is_moved() { [ "$("$malleable" status --here --json | jq '.[0].ranks[0].count')" = 3 ]; }
moves_back() { "$malleable" set mpirun --count=2; } >/dev/null 2>&1
# resized KIND: it has a thread for each CPU that its rank has, whenever that changes.
resized() {
	all_of "wait_until moves" "comes_to 0 $1 3" "comes_to 1 $1 1" "wait_until moves_back" \
		"comes_to 0 $1 2" "comes_to 1 $1 2"
}
# reads_code PROGRAM: whether a process of it has loaded what reads code.
reads_code() {
	local pid
	for pid in $(pids_of "$1"); do
		grep -q libmalleable_prove "/proc/$pid/maps" && return
	done
	return 1
}
# once COMMAND...: without us, one round.
once() {
	touch "$stop"
	run env LD_PRELOAD="$programs/libm.watch.so" "${mpirun[@]}" -n 2 "$@"
	plain=$(results)
	[ "$(wc -l <<<"$plain")" = 2 ] || echo "# the plain run: $plain"
}

for compiler in gcc clang; do
	[ $compiler = clang ] && cc=$clang || cc=gcc
	build "$compiler" "$cc"
	once env OMP_NUM_THREADS=2 "$work/$compiler" "$stop"
	balanced "" "$work/$compiler" "$stop"
	ok "$compiler: free regions follow the CPUs" all_of "comes_to 0 0 2" "resized 0"
	reads_code "$compiler" && first=yes || first=no
	ended
	ok "$compiler: bound ones keep what was told, and their threads" all_of "exits 0" "told 2" \
		same "bound_got 2"
	ok "$compiler: nor has a region that shares its jump with another one more" all_of \
		"got 0 1 2 3" "got 0 2 1 2 3"
	balanced "" "$work/$compiler" "$stop"
	comes_to 0 0 2
	reads_code "$compiler" && second=yes || second=no
	ended
	ok "$compiler: the program's code is read at its first start alone" \
		[ "$first $second" = "yes no" ]

	build libproofs.so "$cc" -DREGIONS -shared -fPIC
	build linked "$cc" -DCALLER "-L$work" "-Wl,-rpath,$work" -lproofs
	balanced "" "$work/linked" "$stop"
	comes_to 0 0 2 && resized 0
	moves=$?
	ended
	ok "$compiler: so it is in a shared library" \
		all_of "[ $moves = 0 ]" "exits 0" same "bound_got 2"

	build later "$cc" -DCALLER -DLATER -ldl
	balanced "" "$work/later" "$stop" "$work/libproofs.so"
	comes_to 0 0 2 && resized 0
	moves=$?
	ended
	ok "$compiler: and in one that is loaded later, again and again" all_of "[ $moves = 0 ]" \
		"exits 0" same "bound_got 2"
done

balanced ,prove=no "$work/gcc" "$stop"
comes_to 0 0 2
wait_until moves
wait_until is_moved
moves=$?
ended
ok "prove=no: a program that asked keeps all of its teams" all_of "[ $moves = 0 ]" "exits 0" same \
	"bound_got 2" "got 0 0 2"
balanced ,mode=team "$work/gcc" "$stop"
comes_to 0 0 2 && resized 0 && resized 3
moves=$?
ended
ok "mode=team: every region follows the CPUs" all_of "[ $moves = 0 ]" "exits 0" "got 0 4 2 3"
export KMP_HOT_TEAMS_MODE=0
balanced "" "$work/gcc" "$stop"
unset KMP_HOT_TEAMS_MODE
comes_to 0 0 2
wait_until moves
wait_until is_moved
moves=$?
ended
ok "a runtime that keeps no threads: they stay, as each team keeps its size" all_of \
	"[ $moves = 0 ]" "exits 0" same "bound_got 2" "got 0 0 2" \
	"complains 'regions: none could be classified: .*KMP_HOT_TEAMS_MODE'"
build quiet gcc -DQUIET
balanced "" "$work/quiet" "$stop"
comes_to 0 0 2 && resized 0
moves=$?
ended
ok "a program that asks for nothing: its bound regions keep theirs too" all_of "[ $moves = 0 ]" \
	"exits 0" "bound_got 2"

start_cluster
# lent COMMAND...: two ranks of one CPU each, of which one waits for the other and lends its CPU,
# in the background until ended. alone COMMAND...: twenty times.
lent() {
	rm -f "$work"/watch.*
	begin env FIRST="${rounds:-0}" WATCH="$work/watch" LD_PRELOAD="$programs/libm.watch.so" \
		srun -n2 -c1 --balance=auto --balance-report="$work/report.json" "$@"
}
alone() {
	rounds=20 lent "$@"
	status=0
	wait "$step" || status=$?
}
build free "$clang" -DFREE_ONLY
lent "$work/free" "$stop"
comes_to 0 0 2
widened=$?
ended
ok "one CPU and no bound region: told two, and a region has two while it borrows" all_of \
	"exits 0" "told 2" "[ $widened = 0 ]"
alone env OMP_NUM_THREADS=1 "$work/free" "$stop"
ok "OMP_NUM_THREADS=1 with one CPU, as scripts set it: told two all the same" all_of \
	"exits 0" "told 2"
build set_one "$clang" -DFREE_ONLY -DSET_ONE
alone "$work/set_one" "$stop"
ok "omp_set_num_threads(1): no region has two" all_of "exits 0" "got 0 0 1" "got 0 1 1"
alone "$work/clang" "$stop"
ok "a bound region: told one, no region has two, and the report says why and what would help" \
	all_of "exits 0" "told 1" "got 0 0 1" "got 0 3 1" \
	"complains 'bound: run_[a-z]*.omp_outlined: .*program sees 1 thread, .*two CPUs.*max_threads=2'"
rm -rf "$work/cache"
mkdir "$work/cache"
ln -s /etc/passwd "$work/cache/malleable"
lent "$work/free" "$stop"
comes_to 0 0 2
widened=$?
ended
ok "verdicts that cannot be kept are found again" all_of "exits 0" "told 2" "[ $widened = 0 ]"
ok "nothing is left" nothing_left
done_testing
