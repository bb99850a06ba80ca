#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Launchers in balanced jobs: what mpirun and the like start in a batch script is balanced, and
# launcher and shells are as without us.
. "$(dirname "$0")/lib.sh"
[ $openmpi = yes ] || skip_all "mpirun is MPICH's, which starts ranks in a step"
need_cluster
start_cluster --plugin-args "log=slurmd"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
cd "$work" || exit 1
export load work stage programs

# job [OPTION...] <SCRIPT: run it with two CPUs; output and status as of run.
script() { { echo '#!/bin/bash' && cat; } >"$work/job"; }
batch() { run sbatch --wait --parsable -n2 -o "$work/job.out" -e "$work/job.err" "$@" "$work/job"; }
job() {
	script
	rm -f "$work"/job.out "$work"/job.err "$work/stop"
	batch "$@"
	mv "$work/job.out" "$work/out" && mv "$work/job.err" "$work/err"
}
# The reports that the last job printed, of mpirun's ranks.
reports() { [ "$(grep -c "^balance: step [0-9]*\.${2:-$launcher}" "$work/err")" = "$1" ]; }

lends() {
	"$stage/bin/malleable" status --json 2>/dev/null |
		jq -e '.[0].ranks | any(.lends > 0)' >/dev/null 2>&1
}
cat >job <<'JOB'
#!/bin/bash
echo "preload ${LD_PRELOAD-none}" >seen
taskset -cp $$ | sed 's/.*: /cpus /' >>seen
mpirun -n 2 "$load" --iterations=1 --until="$work/stop" &
until pgrep -x load >/dev/null; do sleep 0.1; done
ps -o ppid= -p $! | grep -qw $$ && echo child >>seen
tr '\0' '\n' </proc/$!/environ | grep -c libmalleable >>seen
wait $!
JOB
rm -f stop
batch --balance --balance-report="$work/report.json" 8>&- &
waiting=$!
wait_until lends
ok "mpirun in a batch script is balanced" lends
inside() { [ -n "$(masks)" ] && ! masks | grep -qvxE '0|1|0,1'; }
masks() { for pid in $(pids_of load); do taskset -acp "$pid" | sed 's/.*: //'; done; }
ok "all masks are inside the allocation" inside
ok "nothing of ours is in the shell or in mpirun, which the shell started" \
	all_of "grep -qx 'preload none' seen" "grep -qx child seen" "grep -qx 0 seen"
: >stop
wait $waiting
mv job.err err && mv job.out out
ok "mpirun in a script has one report of two ranks" all_of "reports 1" "report_has '.ranks == 2'" \
	"report_has '.cpu_changes.lends > 0'"
ok "nothing is left of mpirun in a script" all_of nothing_left "[ ! -e /tmp/malleable-0 ]"

# quick: a run that needs no more than to be seen.
quick="$load --work=10,10 --iterations=1"
export quick

job --balance <<'JOB'
mpirun -n 2 $quick; echo "status $?"
mpirun -n 2 sh -c 'exit 7'; echo "status $?"
mpirun -n 1 $quick
JOB
ok "each mpirun has a report, and the status of its ranks" all_of "exits 0" \
	"reports 2" "says 'status 0'" "says 'status 7'" "complains ', 1 rank,'"
last=$(grep -o "^balance: step [0-9]*" "$work/err" | head -n1 | tr -dc 0-9)
# logged FIELDS: slurmd's log has one line of the last job with them, and nothing of reports.
logged() {
	[ "$(grep -c "balance: uid=0 job=$last $1" "$BALANCE_CLUSTER/slurmd.log")" = 1 ] &&
		! grep -q 'balance: .*regions: ' "$BALANCE_CLUSTER/slurmd.log"
}
ok "slurmd's log has a line for each" all_of \
	"logged 'step=$last.$launcher.1 node=.* policy=auto ranks=2 cpus=2 windows='" \
	"logged 'step=$last.$launcher.2 node=.* policy=auto ranks=1 '"

orterun=$(command -v orterun || echo mpirun)
export orterun
job --balance=lewi <<'JOB'
time -p mpirun -n 2 $quick
timeout 100 mpirun -n 2 $quick
env A=b "$orterun" -n 2 $quick
printf 'all:\n\tmpiexec -n 2 $(quick)\n' | make -s -f -
python3 -c 'import os, subprocess
done = subprocess.run(["/usr/bin/mpirun", "-n", "2", *os.environ["quick"].split()],
	capture_output=True, text=True)
print("python saw", done.stderr.count("policy lewi, 2 ranks"), done.returncode)'
JOB
named() {
	if [ $launcher = prterun ]; then
		reports 4
	else
		all_of "reports 2" "reports 1 orterun" "reports 1 mpiexec"
	fi
}
ok "mpirun is balanced under time, timeout, env, make and Python, with the job's policy" all_of \
	"exits 0" "says 'python saw 1 0'" named

job --balance --balance-report="$work/%j.json" <<'JOB'
"$stage/bin/malleable" run --libdir "$stage/lib/malleable" --balance-report=off -- \
	mpirun -n 2 $quick
SLURM_BALANCE=off mpirun -n 2 $quick
srun --balance=off -n1 mpirun -n 2 --oversubscribe $quick
JOB
ok "malleable run is not doubled, and off is off" all_of "exits 0" "reports 0" \
	"silent_about 'balance: '" "[ ! -e $work/0.json ]"

job --balance <<'JOB'
srun -n2 sh -c 'env | grep -E "fork_agent|MALLEABLE_JOB"'
srun -n2 $quick
JOB
ok "srun is as ever" all_of "silent_about fork_agent" "silent_about MALLEABLE_JOB" \
	"silent_about 'nothing in this script'" \
	"complains '^balance: step [0-9]+\.1'" "reports 0"

job --balance <<'JOB'
mpirun --cpu-set 0 -n 1 "$load" --iterations=1 --until="$work/stop" &
mpirun --cpu-set 1 -n 1 "$load" --iterations=1 --until="$work/stop" &
until [ "$(pgrep -xc malleabled)" = 2 ] || [ $((tries += 1)) -gt 300 ]; do sleep 0.1; done
mpirun --bind-to none -n 2 $quick
: >"$work/stop"
wait
JOB
ok "two at once have CPUs of their own" all_of "exits 0" "reports 2" "silent_about '2 ranks'"
ok "a third one has one line" \
	[ "$(grep -c "ranks of another launcher have CPU 0.*$launcher run unbalanced" err)" = 1 ]

mkdir -p elsewhere
printf '#!/bin/sh\necho "named $0 $1"\n' | tee elsewhere/named >named
chmod +x named elsewhere/named
job --balance <<'JOB'
mpirun -n 1 named "a  b"
mpirun -n 1 --path "$work/elsewhere" named c
mpirun -n 1 named --path "$work/elsewhere"
mpirun -n 1 -wdir elsewhere ./named d
mpirun -n 1 nonexistent || echo "none $?"
JOB
ok "programs are found as without us" all_of "exits 0" "says 'named ./named a  b'" \
	"says 'named $work/elsewhere/named c'" "says 'named ./named d'" \
	"says 'named ./named --path'" "complains nonexistent"

job --balance <<'JOB'
unshare -m sh -c 'mount -t tmpfs none "$stage" && exec mpirun -n 2 $quick'
JOB
hinted() {
	[ "$(grep -c 'balance: ' err)" = 1 ] &&
		grep -q 'balance: nothing in this script was balanced: .* type srun ./app' err
}
ok "where our files are not it runs without, and one line says what to type" all_of "exits 0" \
	hinted "says checksum"

job --balance <<'JOB'
env -i PATH="$PATH" HOME="$HOME" OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
	mpirun -n 2 $quick
false
JOB
ok "where the environment was cleared one line says what to type" \
	all_of fails hinted "says checksum"
job --balance <<'JOB'
srun -n1 true
env -i PATH="$PATH" HOME="$HOME" OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
	mpirun -n 2 "$load" --work=60,60 --iterations=1
JOB
hint='balance: nothing in this script was balanced: no ranks of srun'
ok "where srun ran besides, but no ranks, one line says what to type" \
	all_of "exits 0" "complains 'nothing to balance'" \
	"complains '$hint'"
job --balance <<<'for i in 1 2 3; do srun -n1 env; done; srun -n1 env -i env'
ok "of a script that computes nothing each reason has one line, of however many steps" \
	all_of "exits 0" "[ \$(grep -c 'balance: ' $work/err) = 2 ]" \
	"complains 'nothing to balance'" "complains 'no rank connected'" "silent_about '$hint'"
job --balance </dev/null
ok "a script that starts no rank has one line" all_of "exits 0" hinted
job --balance <<'JOB'
env -i PATH="$PATH" HOME="$HOME" "$stage/bin/malleable" run --libdir "$stage/lib/malleable" -- \
	"$load" --work=1 --iterations=1
JOB
ok "where malleable run balances no line says what to type" \
	all_of "exits 0" "silent_about 'nothing in this script'"
job --balance --balance-report=off <<<'true'
ok "where no report is wanted no line says what to type" all_of "exits 0" "silent_about balance"

job <<'JOB'
env | grep fork_agent
mpirun -n 2 $quick
JOB
ok "without --balance nothing is changed" all_of "exits 0" "silent_about fork_agent" \
	"silent_about balance"

script <<'JOB'
mpirun -n 2 "$load" --iterations=1 --until="$work/never"
JOB
for way in "" --full; do
	id=$(sbatch --balance --parsable -n2 -o "$work/job.out" -e "$work/job.err" "$work/job")
	wait_until computes
	# shellcheck disable=SC2086 # no word if it is empty
	scancel $way "$id"
	gone() { ! living load && ! living malleable-join; }
	ok "scancel${way:+ }$way ends it, and nothing is left" all_of "wait_until gone" nothing_left
done

job --balance <<<'mpirun -n 2 $quick'
ok "what was killed there is tidied up" all_of "reports 1" "[ ! -e /tmp/malleable-0 ]"

# shellcheck disable=SC2086 # words are wanted
run salloc --balance -n2 mpirun -n 2 $quick
ok "in the shell of salloc, one line says what to type" all_of "exits 0" \
	"[ \$(grep -c 'outside of the job.*srun --balance' err) = 1 ]" "reports 0"

if [ -x "$programs/load-mpich" ]; then
	job --balance --balance-report="$work/report.json" <<'JOB'
mpiexec.hydra -n 2 "$programs/load-mpich" --work=10,10 --iterations=1
JOB
	ok "mpiexec.hydra, whose ranks are its daemon's, is balanced" all_of "exits 0" \
		"report_has '.ranks == 2'" "complains '^balance: step [0-9]+\.0.* 2 ranks'"
else
	skip "mpiexec.hydra, whose ranks are its daemon's, is balanced" "without MPICH"
fi
ok "nothing is left at the end" nothing_left
done_testing
