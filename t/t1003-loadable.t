#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Policies that a site adds: built outside the tree against the installed header, listed, checked,
# used; broken ones do no harm.
. "$(dirname "$0")/lib.sh"
need_cluster
# Other tests run beside it: they shall not find these policies.
cp -R "$stage" "$work/stage" || exit 1
stage=$work/stage
policies=$stage/lib/malleable/policies
mkdir -p "$policies"
cc=${CC:-cc}
compile() {
	(cd "$work" && $cc -Wall -Wextra -Werror -shared -fPIC -I"$stage/include" "${@:3}" -o \
		"$policies/$1.so" "$2")
}
# A policy that takes too long is one of the full run's: it must not take a minute.
if full; then PATIENCE=1 start_cluster; else start_cluster; fi
malleable="$stage/bin/malleable"

ok "the example compiles with the installed header alone" compile inch \
	"$srcdir/contrib/examples/inch.c"
run "$malleable" policies --libdir "$stage/lib/malleable"
ok "malleable policies lists it" all_of "exits 0" "says '^inch: one CPU at a time'" \
	"says 'threshold=0..100 .default 5.'"
step() { run srun -n2 --balance="$1" --balance-report="$work/report.json" "$load" --iterations=2; }
# step_until POLICY COMMAND...: such a step, told to stop when the command succeeds.
step_until() {
	begin srun -n2 --balance="$1" --balance-report="$work/report.json" "$load" \
		--iterations=1 --until="$work/stop"
	wait_until "${@:2}"
	ended
}
of_status() {
	"$malleable" status --here --json 2>/dev/null | jq -e ".[0] | $1" >/dev/null 2>&1
}
step_until inch of_status 'any(.ranks[]; .lends > 0) and .windows > 0'
ok "srun --balance=inch uses it" all_of "exits 0" "complains 'policy inch, 2 ranks'" \
	"report_has '.cpu_changes.lends > 0'" "silent_about rejected"
step inch,threshold=20
ok "srun --balance=inch takes its parameter" all_of "exits 0" "complains 'policy inch'"
step inch,threshold=200
ok "a wrong value is refused before a task starts" \
	all_of fails "complains 'threshold=200: must be a number from 0 to 100'"
step inch,speed=2
ok "an unknown parameter is refused before a task starts" all_of fails \
	"complains \"unknown key 'speed': .* policy inch's own: threshold\""
# What the built-in policies share, for others too.
cat >"$work/shares.c" <<'C'
#include <malleable/policy.h>
#include <stdlib.h>
#include "policies/model/apportion.h"

static void *create(const double *values)
{
	(void)values;
	return calloc(1, sizeof(struct mal_forecast));
}

static int decide(void *state, const struct mal_view *view, struct mal_plan *plan)
{
	struct mal_load loads[MAL_MAX_RANKS];

	plan->bind = plan->lend = true;
	if (!view->samples || !mal_forecast_learn(state, view))
		return 0;
	mal_forecast_get(state, MAL_FORECAST_LAST, loads);
	plan->move = mal_apportion(view, loads, view->topology->cpu_count, plan->count);
	return 0;
}

const struct mal_policy malleable_policy = {
	.abi = MAL_POLICY_ABI, .name = "shares", .summary = "built of what is shared",
	.create = create, .decide = decide, .destroy = free,
};
C
sed -i "s|^prefix=.*|prefix=$stage|" "$stage/lib/pkgconfig/malleable.pc"
export PKG_CONFIG_PATH=$stage/lib/pkgconfig
# shellcheck disable=SC2046 # words are wanted
compile shares "$work/shares.c" $(pkg-config --cflags malleable)
"$builddir/t/bench/generate" drift "$work/drift"
run "$malleable" replay "$work/drift" --libdir "$stage/lib/malleable" --policy=shares
ok "policies may call what the built-in ones share" all_of "exits 0" "silent_about rejected" \
	"[ \$(awk '\$1 == \"shares\" {print (\$4 > 0.5)}' '$work/out') = 1 ]"
# Where it is the best there is nothing behind it.
loop() {
	run env MALLEABLE_POLICIES="$policies" "$builddir/t/bench/policies" \
		--libdir "$stage/lib/malleable" --load=drift "$@"
}
loop --policy=shares --policy=off
ok "the closed loop takes policies of MALLEABLE_POLICIES; exit status 1: one is behind" \
	all_of "exits 1" "says '^shares +[0-9.]+ +0[.]'"
loop --policy=shares
ok "its exit status is 0 where none is behind" exits 0
run "$malleable" replay "$work/drift" --libdir "$stage/lib/malleable" --policy=inch \
	--policy=off --json
ok "a loadable policy can be replayed" all_of "exits 0" \
	"[ \$(jq '.policies[0].moves > 10 and .policies[0].predicted_s < .policies[1].predicted_s' '$work/out') = true ]"

# The page's own commands, by a user without root, in a directory of the user's.
# Users have no place of their own here.
chmod 711 "$work"
mkdir -m 777 "$work/own"
cp "$srcdir/contrib/examples/inch.c" "$work/own/" && cp "$load" "$work/own/load"
printf '#!/bin/sh\nexec %s/own/load --iterations=3\n' "$work" >"$work/own/app"
chmod -R a+rX "$work/own" "$stage" && chmod 755 "$work/own/app"
{
	echo "set -eu; cd '$work/own'; export PKG_CONFIG_PATH='$stage/lib/pkgconfig'"
	python3 "$srcdir/t/typed.py" --blocks "$srcdir/doc/policies.md" Loadable
	echo "'$malleable' policies; cd /; '$malleable' run --libdir '$stage/lib/malleable'" \
		"--balance=inch -- ${mpirun[*]} -n 2 '$work/own/app'"
} >"$work/page"
chmod 644 "$work/page"
rm "$policies/inch.so" "$policies/shares.so"
run setpriv --reuid=65534 --regid=65534 --clear-groups env HOME="$work/own" bash "$work/page"
ok "what doc/policies.md types works for users, in a directory of their own" all_of "exits 0" \
	"says '^inch: one CPU at a time'" "[ \$(grep -c 'policy inch, 2 ranks' $work/err) = 2 ]" \
	"silent_about 'rejected|unbalanced'"
export MALLEABLE_POLICIES=own
step inch
ok "a directory that is not absolute is refused" all_of fails \
	"complains 'MALLEABLE_POLICIES=own: must be an absolute path'"
export MALLEABLE_POLICIES=$work/own
run "$malleable" policies --libdir "$stage/lib/malleable"
ok "root runs no policy that others can change" \
	all_of "complains 'inch.so: root runs it only where root alone can write'" \
	"silent_about '^inch'"
chown -R 0 "$work/own" && chmod 755 "$work/own"
mv "$work/own/inch.so" "$work/own/inched.so"
step inch
ok "root runs no policy whose file is not there" all_of fails "complains \"unknown policy 'inch'\""
step inched
ok "root runs no policy in a file of another name" \
	all_of fails "complains \"its policy is called 'inch'\""
for i in 1 2 3 4 5 6 7 8 9; do
	sed "s/\.name = \"inch\"/.name = \"many$i\"/" "$work/own/inch.c" >"$work/many.c"
	(cd "$work" && $cc -shared -fPIC -I"$stage/include" -o "$work/own/many$i.so" many.c)
done
run "$malleable" policies --libdir "$stage/lib/malleable"
ok "more than eight are not taken without a word" all_of "exits 0" \
	"[ \$(grep -c ^many $work/out) = 8 ]" \
	"complains 'there is room for 8 policies from files'"
unset MALLEABLE_POLICIES
compile inch "$srcdir/contrib/examples/inch.c"

# One rank on eight CPUs that do not exist, 2k and 2k + 1 on core k.
half() {
	compile half "$srcdir/t/programs/half.c"
	begin env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
		HWLOC_SYNTHETIC="core:4 pu:2" HWLOC_THISSYSTEM=1 FAKE_CPUS=8 \
		LD_PRELOAD="$programs/fakecpus.so" KMP_AFFINITY=disabled OMP_WAIT_POLICY=passive \
		OMP_NUM_THREADS=8 \
		"$malleable" run --libdir "$stage/lib/malleable" --balance=half -- \
		mpirun --bind-to none -n 1 "$load" --units=200000 --chunks=64 --iterations=1 \
		--until="$work/stop"
	wait_until apart
	local result=$?
	[ $result = 0 ] || "$malleable" status --json | sed 's/^/# /'
	ended
	return $result
}
apart() {
	[ "$("$malleable" status --json 2>/dev/null |
		jq -r '.[0].ranks[0] | "\(.use) \(.threads)"' 2>/dev/null)" = "4 0,2,4,6" ]
}
ok "a policy may leave CPUs off: second hardware threads first" half

# broken NAME MESSAGE: a step with that policy runs to its end, unbalanced, and the report says why.
broken() {
	compile "$1" "$srcdir/t/programs/broken.c" "-DHOW=\"$1\""
	step_until "$1" of_status '.rejected != null'
	ok "$1: $2; the step goes on without it" all_of "exits 0" "says elapsed" \
		"complains 'policy $1 was rejected: .*$2'" nothing_left
}
broken crash "it crashed"
if full; then broken loop "it took too long"; fi
broken quits "it crashed"
broken nonsense "its CPUs do not match its counts .window [0-9]+: counts .* of 2 CPUs"
broken shrinks "it leaves a rank without a CPU .window [0-9]+: counts 0 0 of 2 CPUs, rank 0 has 0"
ok "no host is left" [ -z "$(pids_of malleable-polic)" ]
run "$malleable" replay "$work/drift" --libdir "$stage/lib/malleable" --policy=crash
ok "a policy that crashes does not harm a replay, and leaves no core" \
	all_of "[ ! -e core ]" "exits 0" "says 'rejected: it crashed'"

refused() {
	step "$1"
	ok "refused: $2" all_of fails "complains '$2'"
}
compile old "$srcdir/t/programs/broken.c" '-DHOW="old"'
refused old "old.so: made for version 4711 of the policy interface, not 1"
compile mine "$srcdir/t/programs/broken.c" '-DHOW="x"'
refused mine "mine.so: its policy is called .other."
echo nonsense >"$policies/text.so"
refused text "text.so: .*(invalid ELF header|file too short)"
echo 'int x;' >"$work/empty.c"
compile empty "$work/empty.c"
refused empty "empty.so: .*undefined symbol: malleable_policy"
refused none "unknown policy .none.: known are"
done_testing
