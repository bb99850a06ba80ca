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
	# It takes fences for nothing, and warns.
	local compiler=("${CC:-gcc}" -O1 -g -fsanitize=thread -fno-sanitize-recover=all -Wno-tsan)
	compile_core "${compiler[@]}" &&
		"${compiler[@]}" -std=gnu11 -D_GNU_SOURCE -I"$srcdir" -o "$work/tsan" \
			"$srcdir/t/unit/stress_word.c" "$work/core.a" -lpthread >"$work/err" 2>&1 &&
		timeout 60 setarch -R "$work/tsan" 3 4 threads >"$work/err" 2>&1
}
ok "ThreadSanitizer finds no race in lend, borrow, reclaim, move" tsan

# test_known compares all bytes between what the linker placed, test_shares is timed, test_pages
# finds its own maps to be most of the process, and test_patience replaces what the sanitizer's
# runtime waits with.
others='test_known|test_shares|test_pages|test_patience'
asan() {
	# Functions that tests replace have other names where sources are fortified.
	local tests flags='-fsanitize=address,undefined -fno-sanitize-recover=all -U_FORTIFY_SOURCE'
	tests=$(make_value unit_tests | tr ' ' '\n' | grep -vE "/($others)\$" | xargs)
	mkdir "$work/sanitized" && cd "$work/sanitized" &&
		"$srcdir/configure" CFLAGS="-O1 -g $flags" >"$work/err" 2>&1 || return
	ASAN_OPTIONS=detect_leaks=0 CASES=5000 make -j"$(nproc)" check-unit style_tests= \
		unit_tests="$tests" >"$work/err" 2>&1 && return
	grep -E '^(FAIL|ERROR)' "$work/err"
	grep -l '^not ok' t/unit/*.log | xargs grep -h '^#'
	false
}
ok "AddressSanitizer and UBSan are content with the unit tests" asan
