#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# make check as an ordinary user: what it runs, what it builds for that, and what it says of the
# tests that it leaves out.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" = 0 ] || skip_all "needs root to become an ordinary user"
user=(setpriv --reuid=65534 --regid=65534 --clear-groups env)
cd "$builddir" || exit 1
"${user[@]}" test -r Makefile -a -r "$srcdir/t/lib.sh" || skip_all "users cannot read the tree"

# value NAME: of a variable of make's, where it is given no TESTS.
value() { make -s --eval="value: ; @echo \$($1)" value; }
as_user() { "${user[@]}" make -s --eval="value: ; @echo \$($1)" value; }
runs=$(as_user run_alone)
ok "it runs layers, style and the model" [ "$runs" = \
	"t/t0002-walls.t t/t0010-style.t t/t0006-model.t" ]
ok "check of an ordinary user builds nothing for others" [ -z "$(as_user check_SCRIPTS)" ]
ok "as root it runs those of the gate" all_of "value run_alone | grep -q t4001-faults" \
	"value check_SCRIPTS | grep -q stage.stamp" "! value run_alone | grep -q t0006-model"

# reasons: those of all that are left out, each on one line.
reasons() {
	local name
	for name in $(value integration_tests); do
		[[ " $runs " = *" $name "* ]] || TMPDIR=/nowhere RUN_ALONE=$runs \
			"${user[@]}" bash "$srcdir/$name" 2>&1
	done
}
reasons >"$work/out"
left_out=$(($(value integration_tests | wc -w) - $(wc -w <<<"$runs")))
one='^1\.\.0 # SKIP (needs root for a private Slurm$|takes minutes, .*: make check TESTS=t/t)'
ok "the others say why they are left out, and do nothing" all_of "[ $left_out -gt 50 ]" \
	"[ \$(grep -cE '$one' '$work/out') = $left_out ]" "[ \$(wc -l <'$work/out') = $left_out ]"
passes() { run "${user[@]}" "t/unit/$1" && exits 0; }
ok "unit tests pass that look at files, processes and control groups" all_of "passes test_files" \
	"passes test_confine" "passes test_cgroup"
done_testing
