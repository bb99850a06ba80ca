#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# What is built resists: relocations that are read-only from the start, code at random places,
# guarded stacks, checked string functions; and what runs gave up what it does not need.
. "$(dirname "$0")/lib.sh"
need mpi clang
lib=$stage/lib/malleable
binaries=("$stage/bin/malleable" "$lib/malleabled" "$lib/malleable-policy")
libraries=("$lib/libmalleable.so" "$lib/libmalleable_mpi.so" "$stage/lib/slurm/balance.so"
	"$lib/libmalleable_prove.so")
plan 16

# part FILE: what configure leaves it out with.
part() {
	case $1 in
	*/libmalleable_prove.so) echo prover ;;
	*) echo nothing ;;
	esac
}
set_by_configure() { grep -Eq "^HARDEN_CFLAGS = .*$1" "$builddir/Makefile"; }
segment() { readelf -lW "$1" | grep -q GNU_RELRO || { echo "# no RELRO"; false; }; }
now() {
	readelf -dW "$1" | grep -Eq '\((FLAGS|FLAGS_1)\).*\b(BIND_NOW|NOW)\b' || {
		echo "# no BIND_NOW"
		false
	}
}
pie() { readelf -dW "$1" | grep -q 'FLAGS_1.*PIE' || { echo "# no PIE"; false; }; }
uses() { readelf -sW --dyn-syms "$1" | grep -Eq "UND $2(@|$| )" || { echo "# no $2"; false; }; }
if set_by_configure stack-protector; then
	for file in "${binaries[@]}"; do
		ok_with "$(part "$file")" "$(basename "$file") has RELRO, BIND_NOW and PIE" \
			all_of "segment '$file'" "now '$file'" "pie '$file'"
	done
	for file in "${libraries[@]}"; do
		ok_with "$(part "$file")" "$(basename "$file") has RELRO and BIND_NOW" \
			all_of "segment '$file'" "now '$file'"
	done
	for file in "${binaries[@]:0:2}" "${libraries[0]}" "${libraries[2]}"; do
		ok_with "$(part "$file")" "$(basename "$file") guards its stack" \
			uses "$file" __stack_chk_fail
	done
else
	for i in 1 2 3 4 5 6 7 8 9 10 11; do
		skip "hardening $i" "configured with --disable-hardening"
	done
fi
for file in "$lib/malleabled" "$stage/lib/slurm/balance.so"; do
	if set_by_configure FORTIFY_SOURCE; then
		ok "$(basename "$file") checks the sizes of what it writes" uses "$file" \
			__snprintf_chk
	else
		skip "$(basename "$file") checks the sizes of what it writes" \
			"_FORTIFY_SOURCE is not ours here"
	fi
done

# confined FILE: the process whose status is in FILE gets no new privileges, and has a filter if
# there is one.
confined() {
	grep -q '^NoNewPrivs:[[:space:]]*1$' "$1" || {
		echo "# new privileges are possible"
		return 1
	}
	[ -z "$(sed -n 's/^SECCOMP_LIBS = //p' "$builddir/Makefile")" ] ||
		grep -q '^Seccomp:[[:space:]]*2$' "$1" || {
		echo "# no filter"
		return 1
	}
}
# The command may begin before the controller has given up what it does not need.
begin "$stage/bin/malleable" run --libdir "$lib" --balance=lewi -- \
	sh -c "until [ -e '$work/stop' ]; do sleep 0.1; done"
controllers_are_confined() {
	local pid some=1
	for pid in $(pids_of malleabled); do
		confined "/proc/$pid/status" || return
		some=0
	done
	return $some
}
ok "the controller is confined" wait_until controllers_are_confined
ended
# Without loadable policies it may not even run programs.
mkdir -p "$work/lib"
ln -s "$lib"/* "$work/lib"
rm -f "$work/lib/policies"
run "$stage/bin/malleable" run --libdir "$work/lib" --balance=auto -- "$programs/omponly"
ok "a program is balanced all the same" all_of "exits 0" "complains 'policy auto, 1 rank,'"

# compiles DIRECTORY: the plugin's arguments, with this one for the libraries.
compiles() {
	"${CC:-gcc}" -std=gnu11 -D_GNU_SOURCE -w -fsyntax-only -I"$srcdir" -I"$builddir" \
		-DMAL_LIBDIR="\"$1\"" "$srcdir/libmalleable/loadable/site.c" 2>"$work/err"
}
if [ -e "$stage/lib/slurm/balance.so" ]; then
	ok "a prefix that is too long for the plugin is refused when it is built" \
		all_of "compiles /usr/lib" "! compiles /$(printf '%0600d' 0)" \
		"complains 'directory of the libraries is too long'"
else
	skip "a prefix that is too long for the plugin is refused when it is built" "no plugin"
fi
