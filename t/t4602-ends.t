#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# How steps end: time limit, signals, arrays, programs of several kinds; status and output as
# without us.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/faults.sh"
need_cluster
start_cluster --conf 'OverTimeLimit=0'

ok "status and output of tasks" same 4 srun -n2 @ sh \
	-c 'echo "$SLURM_PROCID $PWD"; exit $((SLURM_PROCID + 3))'
ok "a task that a signal ends" same 139 srun -n1 @ sh -c 'echo before; kill -SEGV $$'
ok "--kill-on-bad-exit ends a balanced step as any other" \
	same 143 srun -n2 @ --kill-on-bad-exit=1 sh \
	-c '[ "$SLURM_PROCID" = 0 ] || exit 7; sleep 300'
ok "nothing is left by them" unharmed

trapping='trap "echo got USR1; exit 9" USR1; echo waits; while sleep 0.1; do :; done'
begin srun -J signalled -n1 --balance bash -c "$trapping"
wait_until grep -q waits "$work/out"
scancel --signal=USR1 "$(job_of signalled)"
ended
ok "a signal from scancel reaches a balanced program" all_of "exits 9" "says '^got USR1'"
if full; then
	# Slurm looks at limits of a job by the minute, of a step more often.
	run srun -n1 --balance --signal=USR1@59 -t 1 bash -c "$trapping"
	ok "--signal reaches a balanced program" all_of "exits 9" "says 'got USR1'"
	printf '#!/bin/bash\nsrun -n1 --balance=auto bash -c "trap \\"\\" TERM; sleep 300"\n' \
		>"$work/job"
	run sbatch --parsable -n2 -t 1 -o "$work/batch.out" "$work/job"
	job=$(cat "$work/out")
	ok "a time limit ends a balanced step whose tasks ignore SIGTERM" \
		all_of "wait_until living malleabled" "reaches $job TIMEOUT"
	ok "nothing is left by it" unharmed
fi

printf '#!/bin/bash\nsrun -n1 --balance=auto sh -c "echo \\$SLURM_ARRAY_TASK_ID"\n' >"$work/job"
run sbatch --parsable -W -n1 -a 1-4 -o "$work/array.%a" "$work/job"
array() { [ "$(cat "$work"/array.[1-4] | grep -x '[0-9]' | tr -d '\n')" = 1234 ]; }
ok "each task of a job array is balanced" all_of "exits 0" array unharmed

printf '#!/bin/sh\necho "$SLURM_PROCID"; exit $((SLURM_PROCID + 4))\n' >"$work/small" &&
	chmod +x "$work/small"
printf '0 %s\n1 %s\n' "$work/small" "$work/small" >"$work/programs"
ok "--multi-prog runs as without us" same 5 srun -n2 --multi-prog @ "$work/programs"
printf '0 %s --work=20 --iterations=2\n1 %s --work=10 --iterations=2\n' "$load" "$load" \
	>"$work/programs"
run srun -n2 --multi-prog --balance "$work/programs"
ok "--multi-prog is balanced" all_of "exits 0" "says ^elapsed" "complains '2 ranks'"
ok "--export=NONE and --propagate work" same 0 srun -n1 --export=NONE --propagate=NOFILE @ /bin/sh \
	-c 'echo "${HOME-none}"; ulimit -n'
ok "nothing is left at the end" unharmed
done_testing
