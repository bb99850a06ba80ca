#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The fast-path word under ThreadSanitizer, everything in core and policies under AddressSanitizer
# and UBSan.
. "$(dirname "$0")/lib.sh"
need cmocka
plan 5

compile() {
	local sanitizer=$1 out=$2
	shift 2
	${CC:-gcc} -std=gnu11 -D_GNU_SOURCE -O1 -g "-fsanitize=$sanitizer" \
		-fno-sanitize-recover=all \
		-I"$srcdir" -o "$out" "$@" -lcmocka -lpthread -lm >"$work/err" 2>&1
}
unit=$srcdir/t/unit
core=$(find "$srcdir"/libmalleable/{base,core} -name '*.c')
policies=$(find "$srcdir/policies" -name '*.c')

tsan() {
	compile thread "$work/tsan" "$unit/stress_word.c" "$srcdir/libmalleable/core/cpuword.c" &&
		timeout 60 setarch -R "$work/tsan" 3 4 threads >"$work/err" 2>&1
}
ok "ThreadSanitizer finds no race in lend, borrow, reclaim, move" tsan
asan() { # TEST MORE-SOURCES-AND-LIBRARIES...
	# shellcheck disable=SC2086
	compile address,undefined "$work/asan" "$unit/$1.c" $core $policies "${@:2}" &&
		CASES=5000 timeout 120 "$work/asan" >"$work/err" 2>&1
}
ok "AddressSanitizer and UBSan are content with core" asan test_core
ok "AddressSanitizer and UBSan are content with the policies" asan test_policies
ok "and with simulated steps" asan test_simulation
read -ra json_and_hwloc <<<"$(pkg-config --cflags --libs jansson hwloc)"
ok "and with traces" asan test_trace "$srcdir"/libmalleable/trace/{trace,read,write,places}.c \
	"${json_and_hwloc[@]}"
