#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The archive for measuring on another machine: its size, that it runs where it is unpacked, and
# that it needs nothing of this machine but glibc and Python. No time.
. "$(dirname "$0")/lib.sh"
need mpi clang
mpirun --version 2>/dev/null | grep -q 'Open MPI) 4' || skip_all "mpirun is not Open MPI 4's"
plan 6
anywhere=$srcdir/t/bench/anywhere

run "$anywhere" --help
ok "t/bench/anywhere helps" all_of "exits 0" "says '^Usage: t/bench/anywhere '"
wrong() {
	local words
	for words in --nonsense -o "-o $work/one.zip" more; do
		# shellcheck disable=SC2086 # words are wanted
		run "$anywhere" --build "$builddir" $words
		all_of "exits 2" "[ ! -s $work/out ]" "complains '^anywhere: '" || return
	done
}
ok "wrong usage is refused" wrong

run "$anywhere" --build "$builddir" -o "$work/one.tar.gz"
ok "it makes an archive of 64 MB at most, and nothing beside it" all_of "exits 0" \
	"[ \$(stat -c %s $work/one.tar.gz) -le 64000000 ]" \
	"[ -z \"\$(find $work -name '.part*')\" ]"
mkdir "$work/else where" && tar xf "$work/one.tar.gz" -C "$work/else where"
there="$work/else where/malleable-anywhere"
cd / || exit 1
run env -i "$there/run" --list
ok "unpacked elsewhere, it lists the scenarios on real CPUs" all_of "exits 0" \
	"says '^here-even .* here: '" "[ -z \"\$(grep ' node: ' $work/out)\" ]"
# foreign: libraries of what is there that come from other places; glibc's may.
foreign() {
	find "$there" -type f \( -name '*.so*' -o -perm -100 \) -exec \
		env LD_LIBRARY_PATH="$there/lib" ldd {} + 2>/dev/null |
		awk -F ' => ' -v there="$there" '/=>/ && index($2, there) != 1 {print $1}' |
		grep -Ev '^[[:space:]]*(/.*/)?(ld-linux.*|lib(c|m|dl|rt|pthread|util|resolv))[.]so'
}
ok "no library but glibc's is this machine's" eval '! foreign'
# Before a command: none of this machine's own such libraries is there.
# shellcheck disable=SC2016
hidden=(unshare --mount bash -c '
	ldconfig -p | sed -nE "s,.* => (.*/lib($0).*),\1,p" |
		while read -r name; do mount --bind /dev/null "$name" || exit; done
	exec "$@"' 'hwloc|jansson|seccomp|Zydis|mpi|open-|pmix|event|omp')
what="its programs run without this machine's libraries"
if unshare --mount true 2>/dev/null; then
	run "${hidden[@]}" env -i "$there/run" --quick --rounds 1 --only here-even --only here-gcc \
		--policies auto
	ok "$what" all_of "exits 0" "says '^\| here-even \| [0-9.]+ \| [0-9.]+ to '" \
		"says '^\| here-gcc \| '"
else
	skip "$what" "needs root"
fi
