#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# configure: what is optional is left out with a line that says what is lost, and is an error where
# it was asked for.
. "$(dirname "$0")/lib.sh"
[ -x "$srcdir/configure" ] || skip_all "no configure"
plan 6
optional=(seccomp zydis libdw pmix ncurses scdoc mpi clang fortran cxx tbb mpich cmocka)
cd "$work" || exit 1

# pkg-config knows no more than must be there.
mkdir pc
for name in hwloc jansson; do
	cp "$(pkg-config --variable=pcfiledir "$name")/$name.pc" pc || exit 1
done
export PKG_CONFIG_LIBDIR=$work/pc
# configured OPTIONS...: what was looked for already is not looked for again.
configured() { run "$srcdir/configure" -C CC="${CC:-gcc}" "$@"; }
# left_out NAME...: the summary has a line for each of these, with what is lost.
left_out() {
	local name
	for name; do
		says "^ {8}$name \(Debian: [a-z0-9+. -]*\): .*\bno " || return
	done
}
has_options() {
	local name
	for name; do
		says " --without-$name " || return
	done
}

run "$srcdir/configure" --help
ok "each has an option" has_options all "${optional[@]}"
configured --without-all
ok "without all of them it ends well" all_of "exits 0" "says 'with: nothing that is optional'"
ok "and says of each what is lost" left_out "${optional[@]}"
configured
ok "what is not there is left out too" all_of "exits 0" \
	"left_out seccomp pmix ncurses mpi fortran cmocka"
# refused WHAT PACKAGE OPTION: with one line.
refused() {
	configured "$3"
	all_of fails "complains '^configure: error: $1 .*not found: install the package $2 '" \
		"[ \$(wc -l <err) = 1 ]"
}
ok "one that was asked for is an error" refused PMIx libpmix-dev --with-pmix
ok "and so is the first, where all were" refused libseccomp libseccomp-dev --with-all
