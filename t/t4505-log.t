#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The line of a step in logs: root makes it, from nothing but numbers that it has checked.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/faults.sh"
need_cluster
command -v python3 >/dev/null || skip_all "needs python3"
start_cluster --plugin-args "log=slurmd"
log=$BALANCE_CLUSTER/slurmd.log
cat >"$work/forge.py" <<'PY'
# forge.py PID WHAT: says something to root in the controller's name, before it does.
import os, struct, sys
pid, what = sys.argv[1:]
for fd in os.listdir(f"/proc/{pid}/fd"):
    path = f"/proc/{pid}/fd/{fd}"
    if os.readlink(path).startswith("pipe:") \
            and int(open(f"/proc/{pid}/fdinfo/{fd}").read().split()[3], 8) & 1:
        pipe = os.open(path, os.O_WRONLY); os.setgid(65534); os.setuid(65534)
        record = lambda elapsed, off=1e3: struct.pack("=IIQQQddd", 0x6d616c6f, 3, 9, 1, 2,
                                                      elapsed, off, 1.0)
        os.write(pipe, {
            "text": b"step 1.0 on here: forged\x1b[31m text\nuid=0 job=99 step=99.0 forged line\n",
            "nan": record(float("nan")),
            "none": record(2.0, float("-nan")),
            "numbers": record(2.0) +
            b"uid=0 job=99 step=99.0 forged line\nfor the user \x1b[31m\n"}[what])
        print("said")
        break
PY
# forged WHAT: a step whose controller says something else.
forged() {
	echo 'echo $SLURM_JOB_ID; srun -Q -n2 --balance "$@" >/dev/null' >"$work/forged.sh"
	begin salloc -Q -n2 bash "$work/forged.sh" "$load" --work=4,2 --regions=2 --iterations=1 \
		--until="$work/stop"
	# The controller has ended its start.
	wait_until computes
	says_it() { python3 "$work/forge.py" "$(pids_of malleabled)" "$1" >"$work/said" 2>&1; }
	wait_until says_it "$1"
	ended
	job=$(head -n1 "$work/out")
	grep -q said "$work/said"
}
forged text
ok "a text in the controller's place comes into no log" \
	all_of "grep -q said $work/said" "! grep -q forged $log"
forged nan
ok "numbers that are none come into no log" all_of "grep -q said $work/said" \
	"! grep -q 'job=$job step' $log"
forged numbers
numbers="elapsed_s=2.000 unbalanced_s=1000.000 ideal_s=1.000 lends=1 moves=2"
ok "other numbers do, in root's words" all_of "grep -q said $work/said" \
	"grep -q 'uid=0 job=$job step=$job.0 node=.* policy=auto ranks=2 cpus=2 windows=9 $numbers$' $log"
ok "what was for the user cannot look like a line of root's" \
	all_of "! grep -q forged $log" "complains 'balance: for the user .\[31m'"
forged none
ok "where there is no estimate, it has none" all_of "grep -q said $work/said" \
	"grep -q 'job=$job step=$job.0 .* elapsed_s=2.000 unbalanced_s=nan ideal_s=1.000 ' $log"
ok "nothing is left" nothing_left
done_testing
