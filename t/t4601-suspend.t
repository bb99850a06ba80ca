#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Steps that are suspended, and jobs that others put aside: they go on, or begin again, as without
# us.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/faults.sh"
need_cluster
start_cluster --conf 'PreemptType=preempt/partition_prio
PreemptMode=SUSPEND,GANG
SchedulerTimeSlice=5
PartitionName=gang Nodes=ALL OverSubscribe=FORCE:2 PriorityTier=1
PartitionName=low Nodes=ALL PriorityTier=1 PreemptMode=SUSPEND
PartitionName=again Nodes=ALL PriorityTier=1 PreemptMode=REQUEUE
PartitionName=high Nodes=ALL PriorityTier=9 PreemptMode=OFF'
endless=("$load" "--work=4,2" --regions=2 --until="$work/stop")

# The ranks are there and do nothing.
all_stopped() { [ "$(ps -o stat= -C load | cut -c1 | tr -d '\n')" = TT ]; }
begin srun -J aside -n2 --balance=auto "${endless[@]}"
wait_until computes
job=$(job_of aside)
run scontrol suspend "$job"
cp "$work/err" "$work/said"
ok "a balanced step is suspended" all_of "exits 0" "reaches $job SUSPENDED" "[ ! -s $work/said ]"
ok "its processes are there" all_of "wait_until all_stopped" "living malleabled"
run scontrol resume "$job"
ended
ok "resumed, it ends well and reports" all_of "exits 0" "says ^elapsed" "complains '2 ranks'"
ok "nothing is left" unharmed

begin srun -J aside -n2 --balance=auto "${endless[@]}"
wait_until computes
job=$(job_of aside)
scontrol suspend "$job"
# Slurm calls it suspended before it freezes it, and loses a step that is cancelled in between.
frozen() {
	find /sys/fs/cgroup -path "*/job_$job/*" \( -name freezer.state -o -name cgroup.events \) \
		-exec grep -qxE 'FROZEN|frozen 1' {} \; -print 2>/dev/null | grep -q .
}
all_of "reaches $job SUSPENDED" "wait_until frozen"
scancel "$job"
ended
ok "cancelled while suspended, it ends and leaves nothing" all_of fails unharmed
if ! full; then
	done_testing
	exit
fi

# As batch jobs: srun alone may be put aside before it has a step (22.05), with and without us.
gang() { # NAME
	printf '#!/bin/bash\nexec srun -n2 --balance=auto %s --work=20,10 --iterations=4\n' \
		"$load" >"$work/job"
	sbatch --parsable -p gang -n2 -o "$work/$1" "$work/job"
}
together() {
	local first second
	first=$(gang first) && second=$(gang second)
	reaches "$first" COMPLETED && reaches "$second" COMPLETED &&
		grep -q '^elapsed' "$work/first" && grep -q '^elapsed' "$work/second" &&
		grep -q '2 ranks' "$work/first" && grep -q '2 ranks' "$work/second"
}
ok "two jobs that take turns on the same CPUs both end well" together
ok "nothing is left by them" unharmed

preempting() {
	timeout -k 5 300 srun -p high -n2 --balance=auto "$load" --work=20,10 --iterations=5 \
		>"$work/high" 2>&1 </dev/null 8>&-
}
begin srun -p low -n2 --balance=auto "${endless[@]}"
wait_until computes
preempting
first=$?
ended
ok "a job preempted by suspension goes on afterwards" \
	all_of "[ $first = 0 ]" "exits 0" "says ^elapsed" "complains '2 ranks'"
ok "nothing is left by either" unharmed

rm "$work/stop"
printf '#!/bin/bash\nsrun -n2 --balance=auto %s\n' "${endless[*]}" >"$work/job"
run sbatch --parsable -p again --requeue -n2 -o "$work/batch.out" --open-mode=append "$work/job"
job=$(cat "$work/out")
wait_until computes
preempting
high=$?
: >"$work/stop"
# Slurm lets a requeued job wait for some time: here it need not.
again() {
	scontrol update jobid="$job" StartTime=now 2>/dev/null
	in_state "$job" COMPLETED
}
ok "a job preempted by requeueing begins again and ends well" \
	all_of "[ $high = 0 ]" "wait_until again" "grep -q ^elapsed $work/batch.out" \
	"grep -q '2 ranks' $work/batch.out"
ok "nothing is left by the two" unharmed
done_testing
