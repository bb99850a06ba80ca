#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The line of a step in logs and in the job's comment: root makes it, others' comments stay,
# slurmctld holds up nobody.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/faults.sh"
need_cluster
command -v python3 >/dev/null || skip_all "needs python3"
start_cluster --plugin-args "comment=admin log=slurmd"
log=$BALANCE_CLUSTER/slurmd.log
comment() { scontrol show job "$1" | sed -n 's/^ *AdminComment=\(.*[^ ]\) *$/\1/p'; }
cat >"$work/job.sh" <<'JOB'
echo "$SLURM_JOB_ID"
step() { srun -Q -n2 --balance --balance-report=off "$1" --iterations=5 >/dev/null; }
step "$1"
scontrol show job "$SLURM_JOB_ID" | sed -n 's/^ *AdminComment=//p' >"$2"
scontrol update job="$SLURM_JOB_ID" admincomment="$(cat "$2"); of others; last"
step "$1"
JOB
run salloc -Q -n2 bash "$work/job.sh" "$load" "$work/first"
job=$(head -n1 "$work/out")
line='step [0-9.]* on [^:]*: auto, 2 ranks, 2 CPUs, [0-9]* lends, [0-9]* moves: [^;]*'
comment "$job" >"$work/comment"
ok "the later step's line takes the place of the first, what others wrote behind it stays" \
	all_of "grep -q 'balance: step $job.0 ' $work/first" \
	"grep -Eqx 'balance: ${line/\[0-9.\]\*/$job.1}; of others; last' $work/comment"
ok "the log has both" \
	[ "$(grep -Ec "balance: uid=0 job=$job step=$job.[01] .* ranks=2 " "$log")" = 2 ]

# As Jobstats has it: with a text behind it nobody could decode it.
cat >"$work/taken.sh" <<'JOB'
echo "$SLURM_JOB_ID"
scontrol update job="$SLURM_JOB_ID" admincomment="JS1:H4sIAAAA; balance: x"
srun -Q -n2 --balance --balance-report=off "$1" --iterations=5 >/dev/null
JOB
run salloc -Q -n2 bash "$work/taken.sh" "$load"
job=$(head -n1 "$work/out")
ok "a comment that is of others is left as it is, and the log has that" \
	all_of "[ '$(comment "$job")' = 'JS1:H4sIAAAA; balance: x' ]" \
	"grep -q 'comment=admin: job $job has another tool.s comment there' $log"

cat >"$work/forge.py" <<'PY'
# forge.py PID WHAT: says something to root in the controller's name, before it does.
import os, struct, sys
pid, what = sys.argv[1:]
for fd in os.listdir(f"/proc/{pid}/fd"):
    path = f"/proc/{pid}/fd/{fd}"
    if os.readlink(path).startswith("pipe:") \
            and int(open(f"/proc/{pid}/fdinfo/{fd}").read().split()[3], 8) & 1:
        pipe = os.open(path, os.O_WRONLY); os.setgid(65534); os.setuid(65534)
        record = lambda elapsed, off=1e3: struct.pack("=IIQQQdddd", 0x6d616c6f, 2, 9, 1, 2,
                                                      elapsed, off, 1.0, 3.0)
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
ok "a text in the controller's place comes into no log and no comment" \
	all_of "grep -q said $work/said" "! grep -q forged $log" \
	"[ -z \"$(comment "$job")\" ]"
forged nan
ok "nor do numbers that are none" all_of "grep -q said $work/said" \
	"! grep -q 'job=$job step' $log" "[ -z \"$(comment "$job")\" ]"
forged numbers
numbers="elapsed_s=2.000 unbalanced_s=1000.000 ideal_s=1.000 lends=1 moves=2"
ok "other numbers do, in root's words" all_of "grep -q said $work/said" \
	"grep -q 'uid=0 job=$job step=$job.0 node=.* policy=auto ranks=2 cpus=2 windows=9 $numbers$' $log"
whole="1003.000 s unbalanced, at best 4.000 s, took 5.000 s: 100 % of the possible gain, 200.60 times as fast"
ok "the comment is of the whole step, as the verdict is" grep -q ": $whole$" <(comment "$job")
ok "what was for the user cannot look like a line of root's" \
	all_of "! grep -q forged $log" "complains 'balance: for the user .\[31m'"
forged none
ok "where there is no estimate, neither has one" all_of "grep -q said $work/said" \
	"grep -q 'job=$job step=$job.0 .* elapsed_s=2.000 unbalanced_s=nan ideal_s=1.000 ' $log" \
	"comment $job | grep -q ': no estimate: 5.000 s, others used the CPUs\$'"

# slurmctld is stopped when the step ends: the time that it has passes, and is as short as it is for
# users.
users_deadlines
ctld=$(cat "$BALANCE_CLUSTER/slurmctld.pid")
cat >"$work/last.sh" <<SH
#!/bin/bash
"$load" --iterations=5 >/dev/null
[ \$SLURM_PROCID = 0 ] && kill -STOP $ctld && date +%s.%N >$work/ended
exit 0
SH
chmod 755 "$work/last.sh"
begin srun -Q -n2 --balance --balance-report=off "$work/last.sh"
given_up() { grep -q 'comment=admin: cannot set the comment of job' "$log"; }
ok "slurmctld does not answer: the log says so" wait_until given_up
if full; then
	seconds=$(awk -v ended="$(cat "$work/ended")" -v now="$(date +%s.%N)" \
		'BEGIN {print now - ended}')
	ok "after a second and no more ($seconds s)" awk "BEGIN {exit !($seconds < 8)}"
fi
nobody_asks() { ! living malleable-slurm; }
ok "and nobody asks any more" wait_until nobody_asks
kill -CONT "$ctld"
ended
ok "nothing is left" nothing_left
done_testing
