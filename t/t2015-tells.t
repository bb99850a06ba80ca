#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# A program sees of its CPUs, threads and children what it sees without --balance: each row of the
# table is a program that prints that (t/programs/tells.c and state.c), run both ways.
. "$(dirname "$0")/lib.sh"
need_cluster

# VARIABLE=VALUE, or -; ranks and CPUs of each; which build of tells; KIND
table="
	-                           n1c2        places
	OMP_PROC_BIND=close         n1c2        places
	OMP_PLACES=threads          n1c2        places
	KMP_AFFINITY=compact        n1c2        places
	GOMP_CPU_AFFINITY=1,0       n1c2        places
	-                           n1c2        others
	-                           n1c2        pinned
	-                           n2c1        nested
	-                           n2c1 -plain children
	-                           n2c1 -plain threads
	-                           n2c1 -plain process
	OMP_DISPLAY_AFFINITY=true   n2c1 -plain process
	-                           n2c1 -plain alarms
	-                           n1c2 -display display
	OMP_PROC_BIND=true          n1c2 -display display
	GOMP_CPU_AFFINITY=77        n2c1 -display display
	KMP_AFFINITY=explicit,proclist=[77] n2c1 -display display
	OMP_PLACES={0},{77}         n2c1 -display display
	-                           n2c1 -state kept
	-                           n1c2 -state kept
	-                           n2c1 -state rounding
	-                           n1c2 -state rounding
	-                           n2c1 -state names
	-                           n2c1 -cancels names
	OMP_CANCELLATION=true       n2c1 -cancels cancelled
	-                           n1c2 -placed placed
	-                           n1c2 -placed heirs
	OMP_PROC_BIND=true          n1c2 -placed heirs
	OMP_PROC_BIND=spread        n1c2 -placed heirs
	OMP_PLACES=threads          n1c2 -placed heirs
	OMP_SCHEDULE=guided,3       n1c2 -placed variables
"
# For libgomp alone: libomp clears flags of floating point, and may end its own programs for what
# libgomp leaves out because it cannot read it.
gomp="
	-                           n2c1 -state raised
	OMP_NUM_THREADS=            n1c2 -placed variables
	OMP_NUM_THREADS=0           n1c2 -placed variables
	OMP_NUM_THREADS=3,          n1c2 -placed variables
	OMP_NUM_THREADS=2,x         n1c2 -placed variables
	OMP_THREAD_LIMIT=0          n1c2 -placed variables
	OMP_SCHEDULE=x              n1c2 -placed variables
	OMP_PLACES=x                n1c2 -placed variables
"
rows=$(grep -c '[a-z]' <<<"$table")
plan $((2 * rows + $(grep -c '[a-z]' <<<"$gomp")))
start_cluster
unset OMP_NUM_THREADS

# seen [OPTION...]: what the program of this row prints, without numbers that differ each time.
seen() {
	local cpus=(-n1 -c2)
	[ "$ranks" = n1c2 ] || cpus=(-n2 -c1)
	run env "$variable" srun -Q -l "${cpus[@]}" "$@" "$program" "$kind"
	{
		echo "status $status"
		sed 's/^/out /' "$work/out"
		sed 's/^/err /' "$work/err"
	} | sed -E 's/(pid|tid|bound to OS proc) [0-9]+/\1/g' | sort
}
same() {
	seen >"$work/without"
	seen --balance --balance-report=off >"$work/with"
	diff "$work/without" "$work/with" >"$work/diff" && return
	sed 's/^/# /' "$work/diff" | head -n 20
	return 1
}
for compiler in "" -gcc; do
	name=${compiler#-}
	name=${name:-clang}
	[ "$name" = clang ] || table+=$gomp
	while read -r variable ranks build kind; do
		[ -n "$ranks" ] || continue
		[ -n "$kind" ] || { kind=$build && build=; }
		[ "$variable" != - ] || variable=NOTHING=
		program=$programs/tells$build$compiler
		ok "$name: $kind, $ranks, $variable" same
	done <<<"$table"
done
