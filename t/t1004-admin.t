#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# What the administrator rules while steps come and run: partitions, limits, the off switch, the
# line for each step.
. "$(dirname "$0")/lib.sh"
need_cluster
ordinary_users
start_cluster
off=$work/off
conf=$BALANCE_CLUSTER/plugstack.conf
with() {
	echo "optional $stage/lib/slurm/balance.so libdir=$stage/lib/malleable off_file=$off log=no" \
		"patience=$MALLEABLE_PATIENCE $*" >"$conf"
}
balanced='echo "<${MALLEABLE_SEGMENT_FD-none}>"'
admin() { run "$stage/bin/malleable" admin "$@" --file="$off"; }

with default@shared=lewi policies@shared=lewi,observe
run srun -n1 sh -c "$balanced"
ok "default@PARTITION= is not for other partitions" says '^<none>$'
run srun -p shared -n1 sh -c "$balanced"
ok "default@PARTITION= is for its own partition" says '^<[0-9]+>$'
run srun -p shared --balance=auto -n1 sh -c "$balanced"
ok "policies@PARTITION= refuses others there: the step runs unbalanced" \
	all_of "exits 0" "says '^<none>$'" \
	"complains 'not allowed here: allowed are lewi,observe; the step runs unbalanced'"
run srun --balance=auto -n1 sh -c "$balanced"
ok "policies@PARTITION= refuses nothing elsewhere" says '^<[0-9]+>$'

# Defaults for some steps: by what is set for them, and the last one of several holds.
default_is() { # PATTERN COMMAND...
	run "${@:2}" && exits 0 && says "$1"
}
with default=auto default=off@program=env,/none/sh default=off@user=nobody,somebody
ok "default=POLICY@program= is for programs of that name or path" all_of \
	"default_is '^<none>$' srun -n1 env sh -c '$balanced'" \
	"default_is '^<[0-9]+>$' srun -n1 sh -c '$balanced'" \
	"default_is '^<[0-9]+>$' srun --balance -n1 env sh -c '$balanced'"
with default=auto@user=somebody,0 default=off@account=physics default@shared=lewi@qos=slow
ok "by user, account and QOS likewise, in a partition too" all_of \
	"default_is '^<[0-9]+>$' srun -n1 sh -c '$balanced'" \
	"default_is '^<none>$' srun -A physics -n1 sh -c '$balanced'" \
	"default_is '^<none>$' env SLURM_JOB_QOS=slow srun -A physics -n1 sh -c '$balanced'" \
	"default_is '^<[0-9]+>$' env SLURM_JOB_QOS=slow srun -p shared -A physics -n1 sh -c '$balanced'"
with max_overcommit=4 max_overcommit@shared=2
run srun -n1 -c1 --balance=auto,max_threads=8 sh -c 'echo "<$MALLEABLE_MAX_THREADS>"'
ok "max_overcommit= limits the threads that users may ask for" says '^<4>$'
run srun -p shared -n1 -c1 --balance=auto,max_threads=8 sh -c 'echo "<$MALLEABLE_MAX_THREADS>"'
ok "max_overcommit@PARTITION= limits them there" says '^<2>$'
with min_cpus=0 wait=long patience=0 max_overcommit=many off_file=here \
	report_dir@shared=/tmp policies@shared=fast default=auto@group=x default=fast@user=x
run srun -n1 echo started
ok "wrong ones never keep a job from starting" all_of "exits 0" "says started" \
	"silent_about balance"
run "$stage/bin/malleable" admin check
ok "wrong arguments are named" all_of "exits 1" \
	"complains 'min_cpus=0: must be a number from 1 to 1024'" \
	"complains 'wait=long: must be a number from 1 to 60'" \
	"complains 'patience=0: must be a number from 1 to 1000'" \
	"complains 'max_overcommit=many: must be a number from 1 to 1024'" \
	"complains 'off_file=here: must be an absolute path'" \
	"complains 'report_dir@shared=/tmp: cannot be set by partition'" \
	"complains 'policies@shared=fast: unknown policy'" \
	"complains 'default=auto@group=x: behind @ comes user=, account=, qos= or program='" \
	"complains 'default=fast@user=x: unknown policy'"

# What the site set, and its default, reach the controller and the ranks; what a user sets does not.
told='echo "rank $MALLEABLE_PATIENCE"; pgrep -xa malleabled | grep -o -- "--patience.[0-9]*"'
with patience=7
MALLEABLE_PATIENCE=1000 run srun -n1 --balance sh -c "$told"
ok "patience= is the site's alone" all_of "says '^rank 7$'" "says '^--patience 7$'"
sed -i 's/patience=[0-9]* *//g' "$conf"
MALLEABLE_PATIENCE=1000 run srun -n1 --balance sh -c "$told"
ok "patience= is 1 where it is not set" all_of "says '^rank 1$'" "says '^--patience 1$'"

# The line for each step.
with log=slurmd
begin salloc -Q -n2 bash \
	-c 'echo $SLURM_JOB_ID;
	srun -n2 --balance --balance-report=off "$0" --iterations=1 --until="$1" >/dev/null' \
	"$load" "$work/stop"
wait_until computes
ended
job=$(head -n1 "$work/out")
# No estimate (nan) where others used the CPUs.
numbers='ranks=2 cpus=2 windows=[0-9]+ elapsed_s=[0-9.]+ unbalanced_s=([0-9.]+|nan) ideal_s=[0-9.]+ '
numbers+='lends=[0-9]+ moves=[0-9]+'
ok "log=slurmd: slurmd's log has it, with uid and job" wait_until \
	grep -Eq "balance: uid=0 job=$job step=$job.0 node=[^ ]+ policy=auto $numbers$" \
	"$BALANCE_CLUSTER/slurmd.log"
with log=syslog
if [ -e /dev/log ]; then
	skip "log=syslog: syslog has it" "this machine has a syslog"
else
	python3 -c 'import os, socket, sys; s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind("/dev/log"); s.settimeout(30); print("ready", flush=True)
while True: print(s.recv(4096).decode(), flush=True)' >"$work/syslog" 2>/dev/null &
	logger=$!
	trap 'rm -f /dev/log; finish' EXIT
	wait_until grep -q ready "$work/syslog"
	run srun -n2 --balance --balance-report=off "$load" --iterations=1
	ok "log=syslog: syslog has it" wait_until \
		grep -q 'balance: uid=0 job=[0-9]* step=.* policy=auto ranks=2 ' "$work/syslog"
	kill "$logger"
	rm -f /dev/log
fi

# The off switch.
with default=auto
run "$stage/bin/malleable" admin sideways
ok "malleable admin wants off, on, status or check" all_of "exits 2" \
	"complains 'give off, on, status or check'"
admin status
ok "balancing is on at first" all_of "exits 0" "says '^on$'"
admin off
ok "off: a new step says so and runs unbalanced" \
	all_of "run srun --balance -n1 sh -c '$balanced'" "exits 0" "says '^<none>$'" \
	"complains 'switched off by the administrator: the step runs unbalanced'"
run srun -n1 sh -c "$balanced"
ok "who asked for nothing is told nothing" all_of "exits 0" "says '^<none>$'" \
	"silent_about administrator"
admin status
ok "malleable admin status says off" all_of "exits 3" "says '^off$'"
admin on
ok "malleable admin on switches balancing on again" \
	all_of "exits 0" "run srun -n1 sh -c '$balanced'" "says '^<[0-9]+>$'"
touch "$work/others" && chown 65534 "$work/others"
run "$stage/bin/malleable" admin off --file="$work/others"
ok "a file of another user is no switch" all_of "exits 1" "complains 'root does not own it'"
run "${user[@]}" "$stage/bin/malleable" admin off
ok "users do not switch" all_of "exits 1" "complains 'only root'"

# A running step with an idle CPU of its job beside its own.
cat >"$work/job.sh" <<JOB
rm -f $work/stop
srun --exact -n1 -c1 --balance=auto,grow=job --balance-report=$work/report.json $load --work=10 \\
	--iterations=1 --until=$work/stop &
status() { $stage/bin/malleable status --here --json 2>/dev/null | jq -r ".[0] | \$1" 2>/dev/null; }
await() { # WHAT COMMAND...
	for _ in \$(seq 1200); do "\${@:2}" && return 0; sleep 0.1; done
	echo "never \$1"
	return 1
}
has() { [ "\$(status '.ranks[0].count')" = "\$1" ]; }
masks() {
	grep -h Cpus_allowed_list /proc/\$(pgrep -x load)/task/*/status | sort -u |
		awk '{printf "%s ", \$2}'
}
on_one() { [[ "\$(masks)" = [01]" " ]]; }
on_two() { [[ "\$(masks)" = "0 1 " || "\$(masks)" = "0-1 "* || "\$(masks)" = *" 0-1 "* ]]; }
await two has 2
$stage/bin/malleable admin off --file=$off
await one has 1; await "one mask" on_one && echo "off"; status .rejected
step=\$(status .step)
$stage/bin/malleable set "\$step.0" --count=1
$stage/bin/malleable admin on --file=$off
await two has 2; await "two masks" on_two && echo "on"
touch $work/stop; wait
JOB
chmod +x "$work/job.sh"
run salloc -Q -n2 -c1 bash "$work/job.sh"
ok "off in a running step: all its threads go back to its own CPU" \
	all_of "silent_about never" "says '^off$'"
ok "malleable status says why, and malleable set refuses" \
	all_of "says 'switched off by the administrator'" \
	"complains 'is switched off by the administrator'"
ok "on again: it goes on as before" says '^on$'

# mpirun in a batch script, whose ranks no slurmstepd starts: what rules at their start.
if [ $openmpi = no ]; then
	skip "mpirun in a script" "mpirun is MPICH's, which starts ranks in a step"
	done_testing
	exit 0
fi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# script WHAT: submit a script that does WHAT when $work/go is there; scripted: its end.
script() {
	rm -f "$work"/{go,begun,stop}
	printf '#!/bin/bash\n: >%s/begun\nuntil [ -e %s/go ]; do sleep 0.1; done\n%s\n' \
		"$work" "$work" "$1" >"$work/job"
	sbatch --wait -Q --balance -n2 -D "$work" -o "$work/out" -e "$work/err" "$work/job" 8>&- &
	waiting=$!
	wait_until [ -e "$work/begun" ]
}
# A step in its job, which reads plugstack.conf.
another_step() { run srun --jobid="$(squeue -ho %i)" --overlap -n1 true; }
scripted() {
	: >"$work/go"
	status=0
	wait "$waiting" || status=$?
}
quick="mpirun -n 2 $load --work=10,10 --iterations=1"
with
script "$quick"
: >"$off"
scripted
ok "off_file= is for mpirun in a script that runs already" all_of "exits 0" \
	"silent_about 'ranks,'" \
	"complains 'switched off by the administrator: the ranks run unbalanced'"
rm "$off"
moved=$work/moved
script "$quick"
off=$moved with
another_step
: >"$moved"
scripted
ok "off_file= changed meanwhile is for mpirun too, after a step" all_of "exits 0" \
	"complains 'switched off by the administrator: the ranks run unbalanced'"
rm "$moved"
with
script "mpirun -n 2 $load --iterations=1 --until=$work/stop"
: >"$work/go"
wait_until computes
off=$moved with
another_step
run "$stage/bin/malleable" admin off
is_off() {
	"$stage/bin/malleable" status --here --json 2>/dev/null |
		jq -e '.[0].rejected | test("administrator")' >/dev/null 2>&1
}
ok "malleable admin off finds it" [ -e "$moved" ]
ok "malleable admin off switches off mpirun's ranks that run" wait_until is_off
: >"$work/stop"
scripted
run "$stage/bin/malleable" admin on
ok "malleable admin on likewise" all_of "exits 0" "[ ! -e $moved ]"
with policies=auto,observe
script "SLURM_BALANCE=lewi $quick"
scripted
ok "policies= is for mpirun too" all_of "exits 0" "silent_about 'ranks,'" \
	"complains 'not allowed here: allowed are auto,observe'"
script "$quick"
with policies=observe
scripted
ok "what it was when the script began" all_of "exits 0" "complains 'policy auto, 2 ranks,'"
# What the site has for some programs holds for those that mpirun starts.
cp "$load" "$work/other"
with report=full default=auto default=off@program=other
once='--work=10,10 --iterations=1'
printf '#!/bin/bash\nmpirun -n 2 %s\nmpirun -n 2 %s\n' "$load $once" "$work/other $once" \
	>"$work/job"
run sbatch --wait -Q -n2 -D "$work" -o "$work/job.out" -e "$work/job.err" "$work/job"
ok "default=off@program= is for mpirun's ranks too" all_of "exits 0" \
	"[ \$(grep -c '^elapsed' $work/job.out) = 2 ]" \
	"[ \$(grep -c '^balance: step' $work/job.err) = 1 ]"
done_testing
