#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Traces and replays: what is recorded is what happened, what is predicted fits it, and bad input is
# refused in one line.
. "$(dirname "$0")/lib.sh"
need_cluster
start_cluster

malleable=$stage/bin/malleable
trace=$work/trace
replay() { run "$malleable" replay "$@"; }
# predicted JQ: a value of the JSON that the last replay printed.
predicted() {
	[ "$(jq "$1" "$work/out")" = true ] || {
		echo "# not true: $1: $(jq -c '.policies[] | [.policy, .predicted_s]' "$work/out")"
		false
	}
}

# recorded COMMAND...: a step that runs until the controller has seen six windows.
recorded() {
	begin "$@" "$load" --iterations=1 --until="$work/stop"
	wait_until has_six
	ended
}
has_six() {
	"$malleable" status --here --json 2>/dev/null | jq -e '.[0].windows > 5' >"$work/said" 2>&1
}
recorded srun -Q -n2 -c1 --balance=observe --balance-trace="$trace" \
	--balance-report="$work/report.json"
ok "a step is recorded" all_of "exits 0" "[ -s '$trace' ]"
ok "as JSON lines: the step, its windows, what was decided" all_of \
	"[ \"\$(head -n1 '$trace' | jq -r '.type, .version, .ranks' | xargs)\" = 'step 1 2' ]" \
	"[ \$(jq -r .type '$trace' | grep -c window) -gt 5 ]" \
	"[ \$(jq -r .type '$trace' | grep -c plan) -gt 5 ]"
ok "observe tells what each policy would have made of it" \
	all_of "complains 'predicted with --balance: auto ([0-9.]+ s|no estimate)'" \
	"report_has '.predicted | map(.elapsed_s | . == null or . > 0) | length == 3 and all'"
ok_with prover "it classifies regions, and its ranks could have any team" all_of \
	"report_has '.per_rank | all(.free_regions > 0 and .free_regions == .regions)'" \
	"[ \$(jq 'select(.type == \"window\").ranks[].most' '$trace' | tail -n1) = 0 ]"
replay "$trace" --json
ok "an observed step can be replayed" all_of "exits 0" "predicted '.recorded_s > 0 and .cpus == 2'"
if full; then
	ok "without balancing it takes what it took, within 5 %" \
		predicted '.policies[0].predicted_s / .recorded_s | . > 0.95 and . < 1.05'
	ok "a recorded step would have been shorter with auto, not with sabo" \
		report_has '(.predicted.auto.elapsed_s < 0.95 * .elapsed_s) and
			.predicted.sabo.share_of_attainable < 0.1'
	# On the timed node, where no other program takes CPUs.
	on_node() {
		run "$builddir/t/node/node" --cores=2 --per-rank=1 -- "$malleable" run \
			--libdir "$stage/lib/malleable" --balance="$1" \
			--balance-report="$work/report.json" -- "${mpirun[@]}" -n 2 \
			"$builddir/t/bench/gen" --work=60,20 --regions=2 --iterations=30
	}
	as_predicted() {
		on_node observe
		local predicted
		predicted=$(report ".predicted.$1.elapsed_s")
		on_node "$1"
		report_has ".elapsed_s / $predicted | . > 0.95 and . < 1.05"
	}
	ok "a step takes what was predicted as it was observed, within 5 %" as_predicted auto
	ok "lewi takes what was predicted as it was observed" as_predicted lewi
fi
# One that was recorded before: two ranks of one CPU, with work of 15 and 5 ms in each region.
stored=$srcdir/t/recorded.trace
replay "$stored" --json
ok "replayed without balancing a step takes what it took, within 5 %" all_of "exits 0" \
	"predicted '.policies[0].predicted_s / .recorded_s | . > 0.95 and . < 1.05'"
ok "auto saves most of the imbalance, sabo nothing on one CPU a rank" all_of \
	"predicted '.policies | map({key: .policy, value: .share_of_attainable}) | from_entries | .auto > 0.9 and .sabo < 0.05 and .lewi > 0.5'"
replay "$stored" --policy=auto,lend=no --cores=8 --topology="pack:2 core:4 pu:1" --json
ok "on a larger machine CPUs can be moved" all_of "exits 0" \
	"predicted '.cpus == 8 and .policies[0].moves >= 2'"
generate=$builddir/t/bench/generate
"$generate" --ranks=2 --cpus=4 --windows=40 steady "$work/steady"
replay "$work/steady" --policy=auto,lend=no --policy=sabo --policy=auto,move=no --json
ok "where the load stays as it is it pays off, unless no CPU may move" all_of "exits 0" \
	"predicted '.policies | map(.moves >= 2) == [true, true, false]'" \
	"predicted '.policies[:2] | all(.share_of_attainable > 0.9)'"
replay "$stored" --phases --policy=off
ok "replay prints phase by phase" all_of "exits 0" "says '^ +1 +0\.'" "says '^off '"
cp "$trace" "$work/cut" && truncate -s -20 "$work/cut"
replay "$work/cut"
ok "the trace of a step that was killed can be replayed" \
	all_of "exits 0" "says 'its last line is not finished'"

run srun -Q -n2 --balance --balance-trace="$work/nowhere/trace" "$load" --iterations=2
ok "a trace that cannot be written is said, and harms nothing" \
	all_of "exits 0" \
	"complains 'balance: cannot write the trace to .*/nowhere/trace: No such file'"
recorded env SLURM_BALANCE_TRACE="$work/trace2" srun -Q -n2 --balance
ok "SLURM_BALANCE_TRACE does the same" all_of "exits 0" "[ -s '$work/trace2' ]"
recorded "$malleable" run --libdir "$stage/lib/malleable" --balance=observe \
	--balance-trace="$work/trace3" -- "${mpirun[@]}" -n 2
ok "malleable run --balance-trace records" all_of "exits 0" "[ -s '$work/trace3' ]"

# Beside a program that takes half of the step's CPUs, and waits for nobody, no model holds.
cat >"$work/half.py" <<'END'
import os, sys, time
cpus = [int(cpu) for part in sys.argv[1].split(",") for ends in [part.split("-")]
        for cpu in range(int(ends[0]), int(ends[-1]) + 1)]
while len(cpus) > 1 and os.fork():
    cpus.pop()
os.sched_setaffinity(0, {cpus[-1]})
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
while os.path.exists(sys.argv[2]):
    end = time.monotonic() + 0.005
    while time.monotonic() < end:
        pass
    time.sleep(0.005)
END
status() { "$malleable" status --here "$@" 2>/dev/null; }
# Much more than there need be, so that it is still so at the end, whatever others did before.
is_beside() {
	status --json | jq -e '.[0] | .unbalanced_s == null and .share_of_attainable == null and
		(.no_estimate | capture("^others used (?<part>[0-9]+) ").part |
		tonumber >= 25)' >"$work/said" 2>&1
}
mkdir "$work/reports" "$work/busy"
touch "$work/busy/on"
begin srun -Q -n2 -c1 --balance --balance-trace="$work/busy/trace" \
	--balance-report="$work/reports/1.0.n.json" "$load" --iterations=1 --until="$work/stop"
wait_until computes
python3 "$work/half.py" "$(status --json | jq -r '.[0].cpus')" "$work/busy/on" &
ok "beside others malleable status has no estimate" all_of "wait_until is_beside" \
	"status >'$work/said'" "grep -q '^  no estimate: others used [0-9]* % of ' '$work/said'"
ended
rm "$work/busy/on"
others='others used [0-9]+ % of (the CPUs|a CPU)'
cp "$work/reports/1.0.n.json" "$work/report.json"
ok "beside others the report has no estimate" all_of "exits 0" \
	"complains 'balance: no estimate: [0-9.]+ s, $others: try a quiet node'" \
	"report_has '.measured | .unbalanced_s == null and .share_of_attainable == null and
		.taken_part > 0.1'"
replay "$work/busy/trace"
ok "beside others a replay of the trace has no estimate" all_of "exits 0" \
	"says '^no estimate: $others: record it on a quiet node$'" "says '^auto +- +- +- +[0-9]+$'"
replay "$work/busy/trace" --json
ok "beside others the JSON of a replay has no estimate" \
	all_of "exits 0" "predicted '.policies | map(.predicted_s, .unbalanced_s,
	.ideal_s, .share_of_attainable) | all(. == null)'" "predicted '.no_estimate | length > 9'"
if [ -x "$tools/malleable-report" ]; then
	run env PATH="$stage/bin:$PATH" "$tools/malleable-report" "$work/busy/trace"
	ok "beside others a page has no estimate" all_of "exits 0" \
		"grep -qE 'There is no estimate of what balancing brought: $others' '$work/busy/trace.html'"
	run "$tools/malleable-acct" --json "$work/reports"
	ok "beside others the report is in no sum" all_of "exits 0" \
		"jq -e '.total | .reports == 1 and .no_estimate == 1 and .saved_cpu_s == 0 and
			.left_cpu_s == 0' '$work/out' >'$work/said'"
else
	skip "beside others the page of a replay has no estimate" "needs contrib/prepare's Python"
	skip "beside others the report is in no sum" "needs contrib/prepare's Python"
fi

refuses replay 1 "cannot read .*: No such file" "$work/absent"
echo '{"type":"step","version":9}' >"$work/wrong"
refuses replay 1 "line 1: not a trace of version 1" "$work/wrong"
refuses replay 2 "give one trace" "$trace" "$trace"
refuses replay 2 "unknown policy .best." --policy=best "$trace"
refuses replay 1 "2 ranks cannot share 1 CPU" --cores=1 "$trace"
refuses replay 1 "is not a synthetic topology" --topology=rubbish "$trace"
refuses replay 2 "--cores=many: not a number" --cores=many "$trace"
run "$generate" fast "$work/fast"
ok "a kind of step that nobody makes up is refused" all_of "exits 1" \
	"complains 'known are steady, drift'"
done_testing
