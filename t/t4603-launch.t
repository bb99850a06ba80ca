#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Ways to start and watch steps: terminals, salloc, sattach, prolog and epilog.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/faults.sh"
need_cluster
printf '#!/bin/sh\nset >%s/prolog.$SLURM_JOB_ID\n' "$work" >"$work/prolog"
printf '#!/bin/sh\nset >%s/epilog.$SLURM_JOB_ID\n' "$work" >"$work/epilog"
chmod +x "$work/prolog" "$work/epilog"
start_cluster --conf "PrologFlags=Contain
Prolog=$work/prolog
Epilog=$work/epilog"

# in_terminal COMMAND: with a terminal, whose output is the last run's.
in_terminal() {
	status=0
	timeout -k 5 300 script -qec "$1" /dev/null >"$work/raw" 2>"$work/err" </dev/null 8>&- ||
		status=$?
	tr -d '\r' <"$work/raw" >"$work/out"
}
on_terminal='sh -c "tty >/dev/null && echo on a terminal; exit 6"'
in_terminal "srun -n1 --pty $on_terminal"
cp "$work/out" "$work/without" && plain_status=$status
in_terminal "srun -n1 --pty --balance --balance-report=off $on_terminal"
ok "--pty works" all_of "[ $plain_status = 6 ]" "exits 6" "says 'on a terminal'" \
	"grep -q 'on a terminal' $work/without"
ok "nothing is left by it" unharmed
in_terminal "salloc -Q -n2 --balance sh -c 'echo outer; exit 3'"
ok "salloc with a command" all_of "exits 3" "says outer"
ok "nothing is left by them" unharmed

# It is attached when a word has come through; what was printed before is not seen.
begin srun -J watched -n1 --balance sh -c \
	"until [ -e $work/stop ]; do echo word; sleep 0.1; done; echo seen; exit 4"
job=$(wait_until has_job watched && job_of watched)
wait_until grep -q word "$work/out"
timeout -k 5 300 sattach "$job.0" >"$work/seen" 2>"$work/seen.err" </dev/null 8>&- &
sattach=$!
wait_until grep -q word "$work/seen"
ended
attached=0
wait $sattach || attached=$?
ok "sattach sees what it prints and how it ends" \
	all_of "exits 4" "grep -qx seen $work/seen" "[ $attached = 4 ]"

run srun -n2 --balance "$load" --work=10 --iterations=2
job_epilogs() {
	[ "$(find "$work" -name 'epilog.*' | wc -l)" = "$(find "$work" -name 'prolog.*' | wc -l)" ]
}
ok "balanced with prolog, extern step and epilog" \
	all_of "exits 0" "says ^elapsed" "complains '2 ranks'" "wait_until job_epilogs"
ok "nothing is left at the end" unharmed
done_testing
