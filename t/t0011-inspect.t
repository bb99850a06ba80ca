#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# malleable inspect: regions of which the truth is known, as compilers build them.
. "$(dirname "$0")/lib.sh"
need clang zydis
malleable=$abs_top_builddir/malleable
plan 16

for compiler in gcc clang-19; do
	for level in 0 2 3; do
		program=$work/$compiler.$level
		$compiler -O$level -fopenmp -w -o "$program" \
			"$srcdir/t/programs/inspect.c" || exit 1
		run "$malleable" inspect "$program"
		ok "$compiler -O$level: no bound one is called free" all_of "exits 0" \
			"says '19 regions'" \
			"! grep ' bound_.* free' '$work/out'"
		# An unrolled loop that reads its pointer anew each time is bound.
		least=$((level == 0 ? 4 : 1))
		ok "$compiler -O$level: free regions are found" \
			[ "$(grep -c ' free_.*: free' "$work/out")" -ge $least ]
	done
done
gcc -O2 -fopenmp -w -s -o "$work/stripped" "$srcdir/t/programs/inspect.c" || exit 1
run "$malleable" inspect --json "$work/stripped"
ok "a stripped program is read by its unwind information" \
	jq -e '.[0].regions | length == 19 and map(select(.free)) != []' "$work/out"
gcc -O2 -fopenmp -w -static -o "$work/static" "$srcdir/t/programs/inspect.c" || exit 1
run "$malleable" inspect "$work/static"
ok "a static one is bound" all_of "exits 0" "says 'all regions bound: statically linked'"
run "$malleable" inspect "$srcdir/t/programs/inspect.c"
ok "what is no program is an error" all_of "exits 1" "complains 'no ELF file'"
run "$malleable" inspect
ok "no file is one of usage" all_of "exits 2" "complains 'see malleable inspect --help'"
