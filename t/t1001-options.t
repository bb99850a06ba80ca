#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# --balance and --balance-report in srun, sbatch and salloc; bad input ends before a task starts.
. "$(dirname "$0")/lib.sh"
need_cluster
start_cluster

run srun --help
ok "srun --help shows --balance" says '--balance=\[policy'
ok "srun --help shows --balance-report" says '--balance-report=\[brief\|full\|off\|file\]'
run sbatch --help
ok "sbatch --help shows --balance" says '--balance=\[policy'

# refused SPEC MESSAGE
refused() {
	run srun "--balance=$1" -n1 sh -c "echo started >>$work/started"
	ok "--balance=$1 is refused: $2" all_of fails "complains 'balance: .*$2'" \
		"[ ! -e $work/started ]"
}
refused foo \
	"unknown policy .foo.: known are auto, lewi, sabo, explore, external, observe, off"
refused auto,speed=1 "unknown key .speed."
refused auto,gain=much "gain=much: must be a number from 0 to 100"
refused auto,gain=101 "gain=101: must be a number from 0 to 100"
refused mode=x "mode=x: must be auto, team or cpuset"
refused auto,,x=1 "is not KEY=VALUE"
refused 'a/b' "has a character"
run sbatch --balance=foo --wrap "echo started >>$work/started"
ok "sbatch refuses a wrong --balance" \
	all_of fails "complains 'unknown policy'" "[ ! -e $work/started ]"
run env SLURM_BALANCE=foo srun -n1 sh -c "echo started >>$work/started"
ok "SLURM_BALANCE=foo is refused" all_of fails "complains \"unknown policy 'foo'\"" \
	"[ ! -e $work/started ]"

run srun --balance=help
ok "srun --balance=help lists policies and keys, and does nothing else" all_of "exits 0" \
	"says '^auto: '" "says 'gain='" "says 'max_threads='" "[ ! -s $work/err ]"
run sbatch --balance=help --wrap "echo started >>$work/started"
ok "sbatch --balance=help helps" all_of "exits 0" "says '^auto: '" "[ ! -e $work/started ]" \
	"[ -z \"\$(squeue -h)\" ]"
run srun -n1 --balance auto,gain=0.2 true
ok "a policy without its equals sign is hinted at" all_of fails \
	"complains 'write --balance=auto,gain=0.2 to choose that policy'"
run srun -n1 --balance true
ok "a program is not" all_of "exits 0" "silent_about 'to choose that policy'"

balanced='echo "<${MALLEABLE_SEGMENT_FD-none}>"'
run srun -n1 sh -c "$balanced"
ok "without --balance nothing is set" says '^<none>$'
vain='balance: --balance-report does nothing without --balance: add that, or --balance=observe'
run srun -n2 --balance-report="$work/vain.json" sh -c "$balanced"
ok "a report without --balance is not made, and that is said once" \
	all_of "exits 0" "says '^<none>$'" \
	"[ \"\$(cat $work/err)\" = '$vain' ]" "[ ! -e $work/vain.json ]"
run srun -n1 --balance=off --balance-report="$work/vain.json" true
ok "where reports are off nothing is said of one that is not made" \
	all_of "exits 0" "[ ! -s $work/err ]"
run env SLURM_BALANCE_REPORT=brief srun -n1 true
ok "a report that the environment wants of all steps is said by none without balancing" \
	all_of "exits 0" "[ ! -s $work/err ]"
run srun --balance -n1 sh -c "$balanced"
ok "a bare --balance balances" says '^<[0-9]+>$'
run env SLURM_BALANCE=lewi srun -n1 sh -c "$balanced"
ok "SLURM_BALANCE=lewi balances" says '^<[0-9]+>$'
run env SLURM_BALANCE=lewi srun --balance=off -n1 sh -c "$balanced"
ok "--balance=off wins over SLURM_BALANCE" says '^<none>$'
run env SLURM_BALANCE=foo srun --balance=lewi -n1 sh -c "$balanced"
ok "an option wins over a wrong SLURM_BALANCE" says '^<[0-9]+>$'

run sbatch -W -n2 -o "$work/batch" --balance=lewi --wrap "
	echo batch; $balanced; srun -Qn1 sh -c '$balanced'
	srun --balance=off -Qn1 sh -c '$balanced'"
grep -v 'balance: no rank connected' "$work/batch" >"$work/out"
printed() {
	[ "$(sed 's/[0-9][0-9]*/N/' "$work/out" | tr '\n' ' ')" = "$1" ] ||
		{ sed 's/^/# /' "$work/out" && return 1; }
}
ok "sbatch --balance reaches the step, not the script, and a step's own option wins" \
	all_of "exits 0" "printed 'batch <none> <N> <none> '"
run sbatch -W -n2 -o "$work/batch" --export=NONE --balance=lewi \
	--wrap \
	"srun -n2 --balance-report=$work/report.json /usr/bin/env HOME=/ $load --iterations=1"
cp "$work/batch" "$work/out"
ok "sbatch --balance reaches the step with --export=NONE" \
	all_of "exits 0" "report_has '.policy == \"lewi\"'"
run salloc -Q -n2 --balance=lewi srun -n1 sh -c "$balanced"
ok "salloc --balance reaches the step" says '^<[0-9]+>$'
run salloc -Q -n2 --balance --balance-report srun -n1 sh -c "$balanced"
ok "without a value too" all_of "exits 0" "says '^<[0-9]+>$'"
run sbatch -W -n2 -o "$work/batch" --balance --wrap \
	"srun -n2 --balance-report=$work/report.json $load --iterations=1; srun -n1 sh -c '$balanced'"
cp "$work/batch" "$work/out"
ok "sbatch --balance without a value balances" all_of "exits 0" "says '^<[0-9]+>$'" \
	"report_has '.policy == \"auto\"'"

begin srun -n2 --balance "$load" --iterations=1 --until="$work/stop"
wait_until computes
ended
# How many lines there are depends on what was tried, and on a busy machine on others too.
ok "the report comes on srun's standard error and fits a screen" \
	all_of "complains 'balance: step .* policy auto, 2 ranks, 2 CPUs'" \
	"complains '(estimated .* s without|no estimate|nothing to gain)'" \
	"[ \$(grep -c balance: $work/err) -le 24 ]"
run srun -n2 --balance --balance-report=off "$load" --iterations=1
ok "--balance-report=off silences the report" all_of "exits 0" "silent_about balance:"
run srun -n2 --balance --balance-report=brief "$load" --iterations=1
ok "--balance-report=brief prints the verdict alone" all_of "exits 0" \
	"complains 'balance: .*(times as|not faster|nothing to gain|no estimate|too short)'" \
	"[ \$(grep -c balance: $work/err) = 1 ]" "[ ! -e brief ]"
begin env SLURM_BALANCE_REPORT=brief srun -n2 --balance --balance-report=full "$load" \
	--iterations=1 --until="$work/stop"
wait_until computes
ended
ok "--balance-report=full prints all, whatever the environment says" all_of "exits 0" \
	"complains 'balance: overhead'" "[ ! -e full ]"
cd "$work" || exit 1
run srun -n2 --balance --balance-report=./brief "$load" --iterations=1
ok "a file of that name is written as ./brief" \
	all_of "exits 0" "jq -e .version $work/brief >/dev/null"
begin srun -n2 --balance --balance-report=mine.json "$load" --iterations=1 --until="$work/stop"
wait_until computes
ended
ok "--balance-report=FILE is relative to where srun was called" \
	all_of "exits 0" "jq -e '.measured.windows > 0' $work/mine.json"
begin srun -n2 -J my/name --balance --balance-report=%j-%s-%n-%h-%x.json --balance-trace=%3j.%x \
	sh -c "echo \$SLURM_JOB_ID >$work/id; exec $load --iterations=1 --until=$work/stop"
wait_until computes
ended
# shellcheck disable=SC2046 # a number
ok "names of files have %j and the like, as Slurm's" all_of "exits 0" \
	"jq -e .version $work/$(cat "$work/id")-0-0-$(hostname -s)-my_name.json >/dev/null" \
	"[ -s $work/$(printf %03d $(cat "$work/id")).my_name ]"
run srun -n2 --balance --balance-report=/dev/null/x.json "$load" --iterations=1
ok "a report that cannot be written is said, the step's status stays" \
	all_of "exits 0" "complains 'cannot write the report'"
ok "nothing is left" nothing_left
done_testing
