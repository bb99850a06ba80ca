#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Every parser of bytes that come from elsewhere, fuzzed for some seconds each (t/fuzz/run --help;
# FUZZ_SECONDS, 20 by default: some four minutes for all of them on two CPUs).
. "$(dirname "$0")/lib.sh"
fuzzer=${FUZZ_CC:-clang-$("$srcdir/contrib/llvm")}
[ -n "$(command -v "$fuzzer")" ] || skip_all "no $fuzzer"
printf 'int LLVMFuzzerTestOneInput(const char *data, long size) {return !data && size;}\n' \
	>"$work/try.c"
"$fuzzer" -fsanitize=fuzzer,address,undefined "$work/try.c" -o "$work/try" \
	2>/dev/null || skip_all "no libFuzzer: libclang-rt-dev"

mapfile -t targets < <("$srcdir/t/fuzz/run" --list)
plan $((${#targets[@]} + 1))
# It gives way to tests that look at the clock, under make -j.
chrt -i -p 0 $$ 2>/dev/null || true
limit=5000 run "$srcdir/t/fuzz/run"
sed 's/^/# /' "$work/out"
tested() {
	# Seeds alone are some ten executions.
	awk -v name="$1" '$1 == name && $2 > 100 && /: passed$/ {found = 1} END {exit !found}' \
		"$work/out" && return 0
	tail -n 30 "$builddir/fuzz/log/$1" 2>/dev/null | sed 's/^/# /'
	false
}
for target in "${targets[@]}"; do
	ok "$target stands whatever it reads" tested "$target"
done
ok "nothing was found" exits 0
