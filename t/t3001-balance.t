#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Policies end to end: what they do, not how fast (t/bench measures that). A step runs until what it
# has to do has been seen.
. "$(dirname "$0")/lib.sh"
need_cluster
start_cluster

status_of() { "$stage/bin/malleable" status --here --json 2>/dev/null | jq -r "$1" 2>/dev/null; }
# sum COUNTER: of all ranks of the one step that runs.
sum() { status_of "[.[0].ranks[].$1] | add"; }
counts() { [ "$(sum "$1")" -gt 0 ] 2>/dev/null; }
# step POLICY COMMAND...: two ranks on a CPU each, in the background.
step() {
	begin srun -Q -n2 -c1 --balance="$1" --balance-report="$work/report.json" "${@:2}"
}
# balance POLICY LOAD-OPTION...: until there was a window, at least.
balance() {
	step "$1" "$load" --iterations=1 --until="$work/stop" "${@:2}"
	wait_until computes
}
# does WHAT POLICY COUNTERS CHECK...: counted by and by, then seen in the report.
does() {
	local counter
	balance "$2" "${options[@]}"
	for counter in $3; do wait_until counts "$counter"; done
	ended
	ok "$1" all_of "exits 0" "${@:4}"
}
none_of() { report_has ".cpu_changes.$1 == 0"; }

options=()
does "auto lends, and grows regions that run" auto "lends grants"
options=("--work=100,30" --regions=1)
does "with one long region an iteration it grows inside it" auto grants
options=()
does "lewi borrows at region start and grows nothing" lewi borrows "none_of grants"
does "lewi,keep=yes does not lend a rank's only CPU" lewi,keep=yes "" "none_of lends"
does "lewi,most=1 borrows nothing" lewi,most=1 "" "none_of borrows"
does "lewi,calls=collective lends in MPI_Barrier" lewi,calls=collective,affinity=any \
	"lends borrows"
does "auto,lend=no lends nothing" auto,lend=no "" "none_of lends"
options=("--work=30,0")
does "observe changes nothing" observe "" \
	"report_has '.cpu_changes | .lends + .borrows + .grants + .moves == 0'"
if full; then
	ok "observe says what could be gained" \
		all_of "complains 'only observed: at best [12].[0-9]*'" \
		"report_has '.measured.unbalanced_s > 1.2 * .measured.ideal_s'"
fi
step lewi "$programs/waits" "$work/stop"
wait_until counts lends
wait_until computes
ended
ok "lewi lends in MPI_Recv, and measures without collective calls" all_of "exits 0" \
	"report_has '.measured.windows > 0'"
for how in pauses ticks; do
	step lewi "$programs/waits" "$work/stop" "$how"
	wait_until counts lends
	wait_until computes
	ended
	ok "$how: lewi lends too" exits 0
done
step lewi "$programs/waits" "$work/stop" computes
wait_until says 'ten times' >"$work/log"
lends=$(sum lends)
ended
ok "lewi lends nothing where a thread of the rank computes" all_of "exits 0" "says 'ten times'" \
	"[ $lends = 0 ]"
# Of 20 bursts; the first may come before there is anything to lend.
had() { [ "$(grep -c alone "$work/out")" -gt 21 ]; }
median() { grep alone "$work/out" | sed -n 2,21p | cut -d' ' -f3 | sort -n | sed -n 10p; }
if full; then
	step lewi "$programs/waits" "$work/stop" bursts
	wait_until had
	ended
	echo "# a thread that begins to compute while CPUs are lent is alone after $(median) ms"
	ok "a thread that begins to compute has its rank's CPU within 5 ms" all_of "exits 0" \
		"report_has '.cpu_changes.evictions > 0'" 'awk "BEGIN { exit !($(median) < 5) }"'
fi
step lewi,calls=collective "$programs/waits" "$work/stop"
wait_until says 'ten times' >"$work/log"
lends=$(sum lends)
ended
ok "calls=collective lends in no other calls" all_of "exits 0" "says 'ten times'" "[ $lends = 0 ]"

# one POLICY COMMAND...: a rank on both CPUs.
one() {
	run srun -Q -n1 -c2 --balance="$1" --balance-report="$work/report.json" "${@:2}"
}
# What else runs on the machine can make any trial look bad: one of three runs must find it.
leaves_one_off() {
	for _ in 1 2 3; do
		one explore "$programs/contended" 3000
		exits 0 && says 'sum 1200000000' || return 1
		report_has '.per_rank[0].use == 1' &&
			complains 'faster with fewer threads: 1 of 2 CPUs are used' && return
	done
	return 1
}
finds_schedule() {
	for _ in 1 2 3; do
		one explore,schedule=tune "$programs/scheduled" 1500
		exits 0 || return 1
		report_has '.schedule | test("dynamic|guided")' &&
			complains 'faster with another loop schedule: OMP_SCHEDULE=' && return
	done
	return 1
}
if full; then
	ok "explore leaves a CPU off where threads are in each other's way" leaves_one_off
	one explore "$load" --work=40 --iterations=40
	ok "explore leaves no CPU off where threads are not in each other's way" \
		all_of "exits 0" "report_has '.per_rank[0].use == 0'"
	ok "explore,schedule=tune finds a better schedule for a skewed loop" finds_schedule
	one explore "$programs/scheduled" 1500
	ok "explore alone keeps it" all_of "exits 0" "report_has '.schedule == \"\"'"
	export OMP_SCHEDULE=static_steal
	one explore,schedule=tune "$programs/scheduled" 1500
	unset OMP_SCHEDULE
	ok "explore,schedule=tune keeps a schedule that the user chose" \
		all_of "exits 0" "report_has '.schedule == \"\"'"
fi
done_testing
