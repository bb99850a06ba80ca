#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Launchers in balanced jobs: what mpirun and the like start in a batch script is balanced, and
# launcher and shells are as without us.
. "$(dirname "$0")/lib.sh"
need_cluster
start_cluster
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
cd "$work" || exit 1
export load work stage programs

# job [OPTION...] <SCRIPT: run it with two CPUs; output and status as of run.
script() { { echo '#!/bin/bash' && cat; } >"$work/job"; }
batch() { run sbatch --wait --parsable -n2 -o "$work/job.out" -e "$work/job.err" "$@" "$work/job"; }
job() {
	script
	rm -f "$work"/job.out "$work"/job.err
	batch "$@"
	mv "$work/job.out" "$work/out" && mv "$work/job.err" "$work/err"
}
# The reports that the last job printed, of mpirun's ranks.
reports() { [ "$(grep -c "^balance: step [0-9]*\.${2:-mpirun}" "$work/err")" = "$1" ]; }

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
masks() { for pid in $(pids_of load); do taskset -acp "$pid" | sed 's/.*: //'; done; }
ok "all masks are inside the allocation" [ -z "$(masks | grep -vxE '0|1|0,1')" ]
ok "nothing of ours is in the shell or in mpirun, which the shell started" \
	all_of "grep -qx 'preload none' seen" "grep -qx child seen" "grep -qx 0 seen"
: >stop
wait $waiting
mv job.err err && mv job.out out
ok "it has one report of two ranks" all_of "reports 1" "report_has '.ranks == 2'" \
	"report_has '.cpu_changes.lends > 0'"
ok "and nothing is left" all_of nothing_left "[ ! -e /tmp/malleable-0 ]"
done_testing
