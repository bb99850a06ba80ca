#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Another CPU, weakly ordered: core and policies build for it, and the stress test of the fast-path
# word runs emulated.
. "$(dirname "$0")/lib.sh"
for tool in aarch64-linux-gnu-gcc qemu-aarch64; do
	command -v $tool >/dev/null || skip_all "needs $tool"
done
plan 2

compiler=(aarch64-linux-gnu-gcc -O2 -Wall -Wextra -Wshadow -Werror)
build() {
	local source
	compile_core "${compiler[@]}" || return
	for source in "$srcdir"/policies/*.c \
		"$srcdir"/libmalleable/rank/{cpus/{bind,cpus},lend}.c; do
		"${compiler[@]}" -std=gnu11 -D_GNU_SOURCE -I"$srcdir" -c -o "$work/one.o" \
			"$source" >>"$work/err" 2>&1 || return
	done
}
ok "core, policies and the ranks' protocol build for aarch64" build
stress() {
	aarch64-linux-gnu-gcc -std=gnu11 -D_GNU_SOURCE -O2 -static -I"$srcdir" -o "$work/stress" \
		"$srcdir/t/unit/stress_word.c" "$work/core.a" -lpthread >"$work/err" 2>&1 &&
		timeout 120 qemu-aarch64 "$work/stress" 3 4 threads >"$work/err" 2>&1
}
ok "one user a CPU there too (qemu-user)" stress
