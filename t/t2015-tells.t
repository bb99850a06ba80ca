#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# A program sees of its CPUs, threads and children what it sees without --balance: each row of the
# table is a program that prints that (t/programs/tells.c and state.c), run both ways.
. "$(dirname "$0")/lib.sh"
need_cluster

# For which compilers in the gate: c clang, g gcc, - none; a full run has all. Then VARIABLE=VALUE,
# or -, or how to balance; ranks and CPUs of each; which build of tells; KIND
table="
	cg -                           n1c2        places
	-  OMP_PROC_BIND=close         n1c2        places
	-  OMP_PLACES=threads          n1c2        places
	-  KMP_AFFINITY=compact        n1c2        places
	g  GOMP_CPU_AFFINITY=1,0       n1c2        places
	c  -                           n1c2        others
	g  -                           n1c2        pinned
	c  -                           n2c1        nested
	c  -                           n2c1 -plain children
	g  -                           n2c1 -plain threads
	c  -                           n2c1 -plain process
	-  OMP_DISPLAY_AFFINITY=true   n2c1 -plain process
	-  -                           n2c1 -plain alarms
	c  prove=no                    n2c1 -plain blocked
	g  -                           n1c2 -display display
	-  OMP_PROC_BIND=true          n1c2 -display display
	-  GOMP_CPU_AFFINITY=77        n2c1 -display display
	-  KMP_AFFINITY=explicit,proclist=[77] n2c1 -display display
	-  OMP_PLACES={0},{77}         n2c1 -display display
	cg -                           n2c1 -state kept
	-  -                           n1c2 -state kept
	g  -                           n2c1 -state rounding
	g  SLURM_CPU_BIND=none         n2c1 -state rounding
	-  -                           n1c2 -state rounding
	-  -                           n2c1 -state names
	g  -                           n2c1 -cancels names
	c  OMP_CANCELLATION=true       n2c1 -cancels cancelled
	g  -                           n1c2 -placed placed
	c  -                           n1c2 -placed heirs
	g  OMP_PROC_BIND=true          n1c2 -placed heirs
	-  OMP_PROC_BIND=spread        n1c2 -placed heirs
	-  OMP_PLACES=threads          n1c2 -placed heirs
	g  OMP_SCHEDULE=guided,3       n1c2 -placed variables
	cg -                           n2c1 -placed variables
	cg OMP_PLACES=cores            n2c1 -placed variables
	-  OMP_PROC_BIND=true          n2c1 -placed variables
"
# For libgomp alone: libomp clears flags of floating point, and may end its own programs for what
# libgomp leaves out because it cannot read it.
gomp="
	-  -                           n2c1 -state raised
	-  OMP_NUM_THREADS=            n1c2 -placed variables
	-  OMP_NUM_THREADS=0           n1c2 -placed variables
	-  OMP_NUM_THREADS=3,          n1c2 -placed variables
	-  OMP_NUM_THREADS=2,x         n1c2 -placed variables
	-  OMP_THREAD_LIMIT=0          n1c2 -placed variables
	-  OMP_SCHEDULE=x              n1c2 -placed variables
	g  OMP_PLACES=x                n1c2 -placed variables
"
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
	local keys=auto
	seen >"$work/without"
	[[ $variable = prove=* ]] && keys=$variable
	# Nobody asked: ranks that are not bound stay so, and run unbalanced.
	[ "$variable" != SLURM_CPU_BIND=none ] || keys=bits=strict
	seen --balance="$keys" --balance-report=off >"$work/seen"
	if [ "$keys" = bits=strict ]; then
		grep -q 'stay so (bits=strict); .* unbalanced' "$work/seen" || return 1
		sed -i '/this rank runs unbalanced/d' "$work/seen"
	fi
	mv "$work/seen" "$work/with"
	diff "$work/without" "$work/with" >"$work/diff" && return
	sed 's/^/# /' "$work/diff" | head -n 20
	return 1
}
for compiler in "" -gcc; do
	name=${compiler#-}
	name=${name:-clang}
	[ "$name" = clang ] || table+=$gomp
	while read -r gate variable ranks build kind; do
		[ -n "$ranks" ] || continue
		full || [[ $gate = *${name:0:1}* ]] || continue
		[ -n "$kind" ] || { kind=$build && build=; }
		[ "$variable" != - ] || variable=NOTHING=
		program=$programs/tells$build$compiler
		ok "$name: $kind, $ranks, $variable" same
	done <<<"$table"
done
done_testing
