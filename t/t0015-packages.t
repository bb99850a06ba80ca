#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# What packages are made of: versions agree, each file that is installed is in one package, and
# Python reads what is Python.
. "$(dirname "$0")/lib.sh"
package=$srcdir/contrib/package
plan 12

# names FILE PATTERN: what sed finds there between parentheses, of the first line that has it.
names() { sed -nE "s/$2.*/\1/p" "$package/$1" | head -n 1; }
version=$(sed -nE 's/^AC_INIT\(\[malleable\],\[(.*)\]\)/\1/p' "$srcdir/configure.ac")
ok "the versions of packages and NEWS agree" all_of "[ -n '$version' ]" \
	"[ '$(names debian/changelog '^malleable \((.*)-[0-9]+\)')' = $version ]" \
	"[ '$(names malleable.spec '^Version: *([0-9.]+)')' = $version ]" \
	"[ '$(names malleable.spec '^\* .* ([0-9.]+)-[0-9]+$')' = $version ]" \
	"[ '$(names spack/package.py '^    version\("(.*)"\)')' = $version ]" \
	"grep -q 'malleable-$version.tar.xz' $package/spack/package.py" \
	"grep -qx '__version__ = .$version.' $srcdir/contrib/python/malleable/__init__.py" \
	"grep -qx \"version = '$version'\" $package/malleable-$version-*.eb" \
	"grep -q '^$version' $srcdir/NEWS"
parsed() { python3 -c 'import ast, sys; [ast.parse(open(f).read()) for f in sys.argv[1:]]' "$@"; }
ok "Python reads Spack's and EasyBuild's files" parsed "$package"/spack/package.py "$package"/*.eb

# Without the prover no region is free: whoever follows a recipe, or the README, has it.
# with PART RECIPE...: they have it.
with() {
	local recipe
	for recipe in "${@:2}"; do
		recipe=$(compgen -G "$srcdir/contrib/$recipe")
		sed -n '/--without-all/,/^$/p' "$recipe" | grep -qw "$1" ||
			{ echo "# not in $recipe" && return 1; }
	done
}
ok "each way to build it, the demonstration too, has the prover" all_of \
	"with prover package/debian/rules package/malleable.spec package/spack/package.py \
		'package/*.eb' prepare" "! grep -q 'built without' $srcdir/README.md"

# As a distribution does it: below a directory of its own, with libraries and Slurm's plugins where
# these are there.
root=$work/root
lib=usr/lib/triplet
run make -C "$builddir" install DESTDIR="$root" prefix=/usr exec_prefix=/usr libdir="/$lib" \
	plugindir="/$lib/slurm-wlm" completed=
ok "it is installed into a directory of its own" all_of "exits 0" "[ -x $root/usr/bin/malleable ]" \
	"[ -r $root/$lib/slurm-wlm/balance.so ]"
find "$root" ! -type d -printf '%P\n' | sed "s,^$lib,usr/lib/*," | sort >"$work/installed"
# debian's and the spec's names for them; those that are no files of `make install` have a second
# word, or begin otherwise.
sed -n '/^usr/p' "$package"/debian/*.install "$package/debian/not-installed" >"$work/debian"
expanded() {
	sed -nE 's,^%\{_bindir\},usr/bin,p; s,^%\{_libdir\}/slurm/,usr/lib/*/slurm-wlm/,p
		s,^%\{_libdir\},usr/lib/*,p; s,^%\{_datadir\},usr/share,p
		s,^%\{_mandir\}(.*)\*$,usr/share/man\1,p; s,^%\{_includedir\},usr/include,p'
}
sed -n '/^%files/,/^%changelog/p' "$package/malleable.spec" | expanded >"$work/spec"
# What configure left out is in the lists alone.
built prover || sed -i '/\/libmalleable_prove.so$/d' "$work/debian" "$work/spec"
# matches LIST: each installed file is in LIST once, and nothing else is; *.la of one directory are
# one line.
matches() {
	local found
	found=$(sed 's,[^/]*\.la$,*.la,' "$work/installed" | sort -u |
		diff - <(sed 's,[^/]*\.la$,*.la,' "$1" | sort) | sed -n 's/^[<>]/# &/p')
	[ -z "$found" ] || { echo "$found" && false; }
}
ok "Debian's packages have each file once" matches "$work/debian"
grep -v '\.la$' "$work/installed" >"$work/kept" && mv "$work/kept" "$work/installed"
ok "packages for RPM have each file once" matches "$work/spec"
echo usr/bin/new >>"$work/installed"
ok "a file that no package has is found" eval '! matches "$work/spec" >/dev/null'

documents() {
	sed -nE '/^(usr|#)/!s/ .*//p' "$package/debian/malleable-doc.install" |
		while read -r pattern; do
			compgen -G "$srcdir/$pattern" >/dev/null || echo "# no $pattern"
		done
}
ok "the documents are there" [ -z "$(documents)" ]

# What is below /run, by the names that the source has for it: removed with the packages, but for
# what steps that run need; kept where they are upgraded.
sed -nE 's,^#define MAL_[A-Z_]+ "(/run/malleable[^"/]*)"$,\1,p' \
	"$srcdir"/libmalleable/core/*.h >"$work/names"
sed -n '/^%postun/,/^%files/p' "$package/malleable.spec" | sed '1d;$d' >"$work/erase"
grep -v '^#DEBHELPER#' "$package/debian/slurm-wlm-balance-plugin.postrm" >"$work/postrm"
cp "$(command -v sleep)" "$work/malleabled" && cp "$work/malleabled" "$work/slurmstepd"
# left SCRIPT ARGUMENT [PROGRAM USER]: what it leaves of these, with a socket that has the number of
# a process of that program and user.
left() {
	# shellcheck disable=SC2016
	unshare --mount --pid --fork --mount-proc --kill-child sh -c '
		mount -t tmpfs none /run && xargs touch <"$0/names" && rm /run/malleable &&
			mkdir -p /run/malleable/sockets || exit
		if [ -n "$3" ]; then
			setpriv --reuid="$4" "$0/$3" 60 &
			touch "/run/malleable/sockets/1.0.$!"
			until grep -qsx "$3" "/proc/$!/comm"; do :; done
		fi
		sh "$0/$1" "$2" >&2; cd /run && echo malleable*' "$work" "$@"
}
leaves() { [ "$(left "${@:2}")" = "$1" ] || { echo "# left: $(left "${@:2}")" && false; }; }
if unshare --mount --pid --fork true 2>/dev/null; then
	none='malleable*'
	all='malleable malleable.off malleable.switch'
	used='malleable malleable.off'
	ok "removed, packages leave nothing in /run" all_of "[ \$(wc -l <'$work/names') = 3 ]" \
		"leaves '$none' erase 0" "leaves '$used' postrm remove" \
		"leaves '$none' postrm purge"
	ok "removed beside a step that runs, packages leave what it needs" \
		all_of "leaves '$used' erase 0 slurmstepd 0" \
		"leaves '$used' postrm purge slurmstepd 0"
	ok "no process of a user's keeps them" all_of "leaves '$none' erase 0 slurmstepd 65534" \
		"leaves '$none' postrm purge malleabled 65534"
	ok "an upgrade leaves all in /run" \
		all_of "leaves '$all' erase 1" "leaves '$all' postrm upgrade"
else
	for what in "removed, packages leave nothing in /run" \
		"removed beside a step that runs, packages leave what it needs" \
		"no process of a user's keeps them" "an upgrade leaves all in /run"; do
		skip "$what" "needs root"
	done
fi
