#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The fast-path word under ThreadSanitizer, all unit tests under AddressSanitizer and
# UBSan.
. "$(dirname "$0")/lib.sh"
need cmocka
plan 2
# Unit tests turn their own clock.
unset MALLEABLE_PATIENCE

tsan() {
	${CC:-gcc} -std=gnu11 -D_GNU_SOURCE -O1 -g -fsanitize=thread -fno-sanitize-recover=all \
		-I"$srcdir" -o "$work/tsan" "$srcdir/t/unit/stress_word.c" \
		"$srcdir/libmalleable/core/cpuword.c" -lcmocka -lpthread -lm >"$work/err" 2>&1 &&
		timeout 60 setarch -R "$work/tsan" 3 4 threads >"$work/err" 2>&1
}
ok "ThreadSanitizer finds no race in lend, borrow, reclaim, move" tsan

# test_known compares all bytes between what the linker placed, test_shares is timed, and
# test_patience replaces what the sanitizer's runtime waits with.
others='test_known|test_shares|test_patience'
asan() {
	# Functions that tests replace have other names where sources are fortified.
	local tests flags='-fsanitize=address,undefined -fno-sanitize-recover=all -U_FORTIFY_SOURCE'
	tests=$(grep -oE 't/unit/test_[a-z_]+' "$srcdir/t/Makefile.am.inc" | sort -u |
		grep -vE "/($others)\$" | xargs)
	mkdir "$work/sanitized" && cd "$work/sanitized" &&
		"$srcdir/configure" CFLAGS="-O1 -g $flags" >"$work/err" 2>&1 || return
	ASAN_OPTIONS=detect_leaks=0 CASES=5000 make -j"$(nproc)" check-unit style_tests= \
		unit_tests="$tests" >"$work/err" 2>&1 && return
	grep -E '^(FAIL|ERROR)' "$work/err"
	grep -l '^not ok' t/unit/*.log | xargs grep -h '^#'
	false
}
ok "AddressSanitizer and UBSan are content with the unit tests" asan
