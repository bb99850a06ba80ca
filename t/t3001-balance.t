#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Policies end to end: what they do, not how fast (t/bench measures that).
. "$(dirname "$0")/lib.sh"
need_cluster
start_cluster
plan 16

balance() {
	run srun -n2 --balance="$1" --balance-report="$work/report.json" "$load" --iterations=10 \
		"${@:2}"
}

balance auto
ok "auto lends to the heavy rank, and grows regions that run" \
	all_of "exits 0" "report_has '.cpu_changes.lends > 0 and .cpu_changes.grants > 0'"
balance auto --work=100,30 --regions=1
ok "with one long region an iteration it grows inside it" \
	all_of "exits 0" "report_has '.cpu_changes.grants >= 4'"
balance lewi
ok "lewi borrows at region start and grows nothing" \
	all_of "exits 0" "report_has '.cpu_changes.borrows > 0 and .cpu_changes.grants == 0'"
balance lewi,keep=yes
ok "lewi,keep=yes does not lend a rank's only CPU" \
	all_of "exits 0" "report_has '.cpu_changes.lends == 0'"
balance lewi,most=1
ok "lewi,most=1 borrows nothing" all_of "exits 0" "report_has '.cpu_changes.borrows == 0'"
balance lewi,calls=collective,affinity=any
ok "lewi,calls=collective lends in MPI_Barrier" \
	all_of "exits 0" "report_has '.cpu_changes.lends > 0 and .cpu_changes.borrows > 0'"
run srun -n2 -c1 --balance=lewi --balance-report="$work/report.json" "$programs/waits" 6
ok "lewi lends in MPI_Recv" all_of "exits 0" "report_has '.cpu_changes.lends >= 4'"
run srun -n2 -c1 --balance=lewi,calls=collective --balance-report="$work/report.json" \
	"$programs/waits" 6
ok "but not with calls=collective" all_of "exits 0" "report_has '.cpu_changes.lends <= 1'"
balance observe
ok "observe changes nothing and says what could be gained" \
	all_of "exits 0" "complains 'only observed: at best 1.[0-9]* times as fast'" \
	"report_has '.cpu_changes | .lends + .borrows + .grants + .moves == 0'" \
	"report_has '.measured.unbalanced_s > 1.2 * .measured.ideal_s'"
balance auto,lend=no
ok "auto,lend=no lends nothing" all_of "exits 0" "report_has '.cpu_changes.lends == 0'"
# What else runs on the machine can make any trial look bad: one of three runs must find it.
leaves_one_off() {
	for _ in 1 2 3; do
		run srun -n1 -c2 --balance=explore --balance-report="$work/report.json" \
			"$programs/contended" 3000
		exits 0 && says 'sum 1200000000' || return 1
		report_has '.per_rank[0].use == 1' &&
			complains 'faster with fewer threads: 1 of 2 CPUs are used' && return
	done
	return 1
}
ok "explore leaves a CPU off where threads are in each other's way" leaves_one_off
run srun -n1 -c2 --balance=explore --balance-report="$work/report.json" "$load" --work=40 \
	--iterations=40
ok "and none where they are not" all_of "exits 0" "report_has '.per_rank[0].use == 0'"
finds_schedule() {
	for _ in 1 2 3; do
		run srun -n1 -c2 --balance=explore,schedule=tune \
			--balance-report="$work/report.json" "$programs/scheduled" 1500
		exits 0 || return 1
		report_has '.schedule | test("dynamic|guided")' &&
			complains 'faster with another loop schedule: OMP_SCHEDULE=' && return
	done
	return 1
}
ok "explore,schedule=tune finds a better schedule for a skewed loop" finds_schedule
run srun -n1 -c2 --balance=explore --balance-report="$work/report.json" "$programs/scheduled" 60
ok "explore alone keeps it" all_of "exits 0" "report_has '.schedule == \"\"'"
run env OMP_SCHEDULE=static_steal srun -n1 -c2 --balance=explore,schedule=tune \
	"$programs/scheduled" 150
ok "what the user chose is left alone" all_of "exits 0" "says elapsed"
affinity() {
	srun -n2 --balance "$load" --iterations=20 >/dev/null 2>&1 &
	local task allowed bad=0 seen=0
	wait_until living load
	for _ in $(seq 100); do
		for task in $(pids_of load | sed 's|.*|/proc/&/task/*/status|'); do
			allowed=$(awk '/^Cpus_allowed_list/ {print $2}' "$task" 2>/dev/null) ||
				continue
			case $allowed in 0 | 1 | 0-1) seen=1 ;; "") ;; *) bad=1 ;; esac
		done
		sleep 0.01
	done
	wait
	[ $seen = 1 ] && [ $bad = 0 ]
}
ok "no thread is ever allowed a CPU outside the step" affinity
