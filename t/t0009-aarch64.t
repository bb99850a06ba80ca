#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Another CPU, weakly ordered: core and policies build for it, and the stress test of the fast-path
# word runs emulated.
. "$(dirname "$0")/lib.sh"
for tool in aarch64-linux-gnu-gcc qemu-aarch64; do
	command -v $tool >/dev/null || skip_all "needs $tool"
done
plan 2

sources=$(find "$srcdir"/libmalleable/{base,core} "$srcdir/policies" -name '*.c')
build() {
	local source
	for source in $sources "$srcdir"/libmalleable/rank/{cpus/bind,cpus/cpus,lend}.c; do
		aarch64-linux-gnu-gcc -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -Wshadow -Werror \
			-DMAL_BUILT_WITH='""' -DMAL_BUILT_WITHOUT='""' \
			-I"$srcdir" -c -o "$work/one.o" "$source" \
			>>"$work/err" 2>&1 || return 1
	done
}
ok "core, policies and the ranks' protocol build for aarch64" build
stress() {
	aarch64-linux-gnu-gcc -std=gnu11 -D_GNU_SOURCE -O2 -static -I"$srcdir" -o "$work/stress" \
		"$srcdir/t/unit/stress_word.c" \
		"$srcdir/libmalleable/core/cpuword.c" -lpthread >"$work/err" 2>&1 &&
		timeout 120 qemu-aarch64 "$work/stress" 3 4 threads >"$work/err" 2>&1
}
ok "one user a CPU there too (qemu-user)" stress
