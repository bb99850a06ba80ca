#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# configure: what is optional is left out with a line that says what is lost, and is an error where
# it was asked for. Without all of it the product builds, and says what it lacks.
. "$(dirname "$0")/lib.sh"
[ -x "$srcdir/configure" ] || skip_all "no configure"
plan 16
optional=(seccomp prover libdw pmix scdoc mpi clang fortran cxx tbb mpich cmocka)
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
		says "^ {8}$name( \(Debian: [a-z0-9+. -]*\))?: .*\bno " || return
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
configured
ok "what is not there is left out" all_of "exits 0" \
	"left_out seccomp pmix mpi fortran cmocka"
# refused WHAT PACKAGE OPTION: with one line.
refused() {
	configured "$3"
	all_of fails "complains '^configure: error: $1 .*not found: install the package $2 '" \
		"[ \$(wc -l <err) = 1 ]"
}
ok "one that was asked for is an error" refused PMIx libpmix-dev --with-pmix
ok "--with-all: the first part that is missing is an error" \
	refused libseccomp libseccomp-dev --with-all
configured --without-all --disable-hardening
ok "without all of them it ends well" all_of "exits 0" "says 'with: nothing that is optional'"
ok "configure says of each part that is left out what is lost" left_out "${optional[@]}"

# What it makes: no symbol of ours is missed, as modules are linked with whatever is not there.
limit=1200 run make -j2 malleable malleabled libmalleable.la balance.la CFLAGS=-O0
ok "the product builds without all that can be left out" exits 0
whole() {
	local file
	for file in .libs/libmalleable.so .libs/balance.so; do
		! nm -Du "$file" | grep -E ' (mal|balance)_' | sed 's/^/# /' | grep . || return
	done
}
ok "no module misses a symbol of ours" whole
run ./malleable --version
ok "malleable --version names what it has not" all_of "exits 0" "says '^malleable [0-9.]+$'" \
	"says '^built without:.* prover .*'"
run ./malleable inspect ./malleable
ok "malleable inspect says that there is no prover" all_of "exits 1" \
	"complains '^malleable inspect: built without the prover'" "[ ! -s out ]"
mkdir lib
cp .libs/libmalleable.so malleabled lib
echo "optional $work/.libs/balance.so libdir=$work/lib" >plugstack.conf
run ./malleable admin check plugstack.conf
ok "malleable admin check names what is left out" all_of "exits 0" \
	"says '^built without:.* prover'" "[ ! -s err ]"

# Where there is no Slurm, or only its programs: what users install at home. What is built already
# is not built again, but for what knows the directories and the parts.
export ac_cv_header_slurm_spank_h=no
configured --without-all --disable-hardening
ok "Slurm's headers are not left out silently: the error names the option" all_of fails \
	"complains 'slurm/spank.h not found: .*; or configure --without-slurm'"
configured --without-slurm --without-all --disable-hardening --prefix="$work/home"
ok "without Slurm it ends well, and says what is lost" all_of "exits 0" "left_out slurm"
find . -path '*/core/*.lo' -delete -o -path '*/cmd/*.o' -delete
mkdir -p trap/slurm
for name in slurm spank slurm_errno slurm_version; do echo "#error" >"trap/slurm/$name.h"; done
limit=1200 run make -j2 install CFLAGS=-O0 CPPFLAGS="-I$work/trap"
ok "it is installed then, and nothing of Slurm's" all_of "exits 0" \
	"[ -x home/lib/malleable/malleable-join ]" \
	"! find home -name '*slurm*' -o -name 'balance.*so' -o -name srun -o -name 'plug*' | grep ."
run home/bin/malleable --version
ok "malleable --version says so" says '^built without: slurm '
if built mpi && built clang; then
	run home/bin/malleable run --balance=auto -- "$programs/omponly"
	ok "it balances, and the report says why no region was classified" all_of "exits 0" \
		"complains 'regions: none could be classified: built without the prover'"
else
	skip "it balances, and the report says why no region was classified" "no OpenMP program"
fi
