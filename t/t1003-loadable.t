#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Policies that a site adds: built outside the tree against the installed header, listed, checked, used; broken ones do no harm.
. "$(dirname "$0")/lib.sh"
need_cluster
plan 19
policies=$stage/lib/malleable/policies
mkdir -p "$policies"
remove_policies() { rm -rf "$policies"; finish; }
trap remove_policies EXIT
cc=${CC:-cc}
compile() { (cd "$work" && $cc -Wall -Wextra -Werror -shared -fPIC -I"$stage/include" "${@:3}" -o "$policies/$1.so" "$2"); }
start_cluster
malleable="$stage/bin/malleable"

ok "the example compiles with the installed header alone" compile inch "$srcdir/contrib/examples/inch.c"
run "$malleable" policies --libdir "$stage/lib/malleable"
ok "malleable policies lists it" all_of "exits 0" "says '^inch: one CPU at a time'" "says 'threshold=0..100 .default 5.'"
step() { run srun -n2 --balance="$1" --balance-report="$work/report.json" "$load" --iterations=10; }
step inch
ok "srun --balance=inch uses it" all_of "exits 0" "complains 'policy inch, 2 ranks'" "report_has '.cpu_changes.lends > 0'" "silent_about 'set aside'"
step inch,threshold=20
ok "with its parameter" all_of "exits 0" "complains 'policy inch'"
step inch,threshold=200
ok "a wrong value is refused before a task starts" all_of fails "complains 'threshold=200: a number from 0 to 100'"
step inch,speed=2
ok "so is an unknown parameter" all_of fails "complains \"unknown key 'speed': .* policy inch's own: threshold\""
run "$malleable" replay --generate=drift --libdir "$stage/lib/malleable" --policy=inch --policy=off --json
ok "it can be replayed" all_of "exits 0" "[ \$(jq '.policies[0].moves > 10 and .policies[0].predicted_s < .policies[1].predicted_s' '$work/out') = true ]"

# broken NAME MESSAGE: a step with that policy runs to its end, unbalanced, and the report says why.
broken() {
	compile "$1" "$srcdir/t/programs/broken.c" "-DHOW=\"$1\""
	step "$1"
	ok "$1: $2; the step goes on without it" all_of "exits 0" "says elapsed" "complains 'policy $1 was set aside: .*$2'" nothing_left
}
broken crash "it crashed"
broken loop "it took longer than a second"
broken quits "it crashed"
broken nonsense "its CPUs are not as many as its counts say"
broken shrinks "its CPUs are not as many as its counts say"
ok "no host is left" [ -z "$(pids_of malleable-polic)" ]
run "$malleable" replay --generate=drift --libdir "$stage/lib/malleable" --policy=crash
ok "nor does it harm a replay, or leave a core" all_of "[ ! -e core ]" "exits 0" "says 'set aside: it crashed'"

refused() {
	step "$1"
	ok "refused: $2" all_of fails "complains '$2'"
}
compile old "$srcdir/t/programs/broken.c" '-DHOW="old"'
refused old "old.so: it is made for version 4711 of the policies, not for 1"
compile mine "$srcdir/t/programs/broken.c" '-DHOW="x"'
refused mine "mine.so: its policy is called .other."
echo nonsense >"$policies/text.so"
refused text "text.so: .*(invalid ELF header|file too short)"
echo 'int x;' >"$work/empty.c"
compile empty "$work/empty.c"
refused empty "empty.so: .*undefined symbol: malleable_policy"
refused none "unknown policy .none.: known are"
