#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# How steps end: time limit, signals, arrays, programs of several kinds; status and output as
# without us.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/faults.sh"
need_cluster
start_cluster --conf 'OverTimeLimit=0'
plan 13

ok "status and output of tasks" same 4 srun -n2 @ sh \
	-c 'echo "$SLURM_PROCID $PWD"; exit $((SLURM_PROCID + 3))'
ok "a task that a signal ends" same 139 srun -n1 @ sh -c 'echo before; kill -SEGV $$'
ok "--kill-on-bad-exit" same 143 srun -n2 @ --kill-on-bad-exit=1 sh \
	-c '[ "$SLURM_PROCID" = 0 ] || exit 7; sleep 30'
ok "nothing is left by them" unharmed

trapping='trap "echo got USR1; exit 9" USR1; echo waits; for i in $(seq 300); do sleep 0.1; done'
signalled() { # the signal comes from scancel: when it comes is ours to say
	begin bash srun -J signalled -n1 "$@" bash -c "$trapping" || [ $# = 0 ]
	wait_until grep -q waits "$work/out"
	scancel --signal=USR1 "$(squeue -h -o %A --name=signalled)"
	ended
	grep -q '^got USR1' "$work/out" && [ "$status" = 9 ]
}
ok "a signal from scancel reaches a balanced program" signalled --balance
# Slurm looks at limits of a job by the minute, of a step more often.
late() {
	run srun -n1 "$@" --signal=USR1@59 -t 1 bash -c "$trapping"
	[ "$status" = 9 ] && grep -q 'got USR1' "$work/out"
}
limit=90
ok "--signal" late --balance

printf '#!/bin/bash\nsrun -n1 --balance=auto bash -c "trap \\"\\" TERM; sleep 300"\n' >"$work/job"
run sbatch --parsable -n2 -t 1 -o "$work/batch.out" "$work/job"
job=$(cat "$work/out")
wait_until living malleabled
# Root may shorten it to nothing, so that the test need not wait for a minute.
started=$(living malleabled && echo yes)
ok "a time limit ends a balanced step whose tasks ignore SIGTERM" \
	all_of "[ '$started' = yes ]" "reaches $job TIMEOUT 100"
ok "nothing is left by it" unharmed

printf '#!/bin/bash\nsrun -n1 --balance=auto sh -c "echo \\$SLURM_ARRAY_TASK_ID"\n' >"$work/job"
run sbatch --parsable -W -n1 -a 1-4 -o "$work/array.%a" "$work/job"
array() { [ "$(cat "$work"/array.[1-4] | tr -d '\n')" = 1234 ]; }
ok "a job array" all_of "exits 0" array unharmed

printf '#!/bin/sh\necho "$SLURM_PROCID"; exit $((SLURM_PROCID + 4))\n' >"$work/small" &&
	chmod +x "$work/small"
printf '0 %s\n1 %s\n' "$work/small" "$work/small" >"$work/programs"
ok "--multi-prog" same 5 srun -n2 --multi-prog @ "$work/programs"
printf '0 %s --work=20 --iterations=2\n1 %s --work=10 --iterations=2\n' "$load" "$load" \
	>"$work/programs"
run srun -n2 --multi-prog --balance "$work/programs"
ok "--multi-prog, balanced" all_of "exits 0" "says ^elapsed" "complains '2 ranks'"
ok "--export=NONE and --propagate" same 0 srun -n1 --export=NONE --propagate=NOFILE @ /bin/sh \
	-c 'echo "${HOME-none}"; ulimit -n'
ok "nothing is left at the end" unharmed
