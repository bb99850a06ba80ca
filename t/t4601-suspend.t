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
plan 11

job_of() { squeue -h -o %A --name="$1" | head -n1; }
has_job() { [ -n "$(job_of "$1")" ]; }

begin load srun -J put-aside -n2 --balance=auto "$load" --work=40,20 --iterations=12
job=$(job_of put-aside)
run scontrol suspend "$job"
ok "a balanced step is suspended" all_of "exits 0" "reaches $job SUSPENDED"
sleep 2
ok "its processes are there" all_of "living load" "living malleabled"
run scontrol resume "$job"
ended
ok "resumed, it ends well and reports" all_of "exits 0" "says ^elapsed" "complains '2 ranks'"
ok "nothing is left" unharmed

begin load srun -J put-aside -n2 --balance=auto "$load" --work=40,20 --iterations=500
job=$(job_of put-aside)
scontrol suspend "$job"
reaches "$job" SUSPENDED
scancel "$job"
ended
ok "cancelled while suspended, it ends and leaves nothing" all_of fails unharmed

# As batch jobs: srun alone may be put aside before it has a step (22.05), with and without us.
gang() { # NAME
	printf '#!/bin/bash\nexec srun -n2 --balance=auto %s --work=20,10 --iterations=4\n' \
		"$load" >"$work/job"
	sbatch --parsable -p gang -n2 -o "$work/$1" "$work/job"
}
together() {
	local first second
	first=$(gang first) && second=$(gang second)
	reaches "$first" COMPLETED 120 && reaches "$second" COMPLETED 120 &&
		grep -q '^elapsed' "$work/first" &&
		grep -q '^elapsed' "$work/second" && grep -q '2 ranks' "$work/first" &&
		grep -q '2 ranks' "$work/second"
}
ok "two jobs that take turns on the same CPUs both end well" together
ok "nothing is left by them" unharmed

begin load srun -p low -J low -n2 --balance=auto "$load" --work=40,20 --iterations=15
job=$(job_of low)
timeout 50 srun -p high -n2 --balance=auto "$load" --work=20,10 --iterations=5 \
	>"$work/high" 2>"$work/high.err"
first=$?
ended
ok "a job preempted by suspension goes on afterwards" \
	all_of "[ $first = 0 ]" "exits 0" "says ^elapsed" "complains '2 ranks'"
ok "nothing is left by either" unharmed

printf '#!/bin/bash\nsrun -n2 --balance=auto %s --work=40,20 --iterations=8\n' "$load" >"$work/job"
run sbatch --parsable -p again --requeue -n2 -o "$work/batch.out" --open-mode=append "$work/job"
job=$(cat "$work/out")
wait_until living load
wait_until living malleabled
run srun -p high -n2 --balance=auto "$load" --work=20,10 --iterations=5
# Slurm lets a requeued job wait for some time: here it need not.
high=$status
again() {
	local i
	for i in $(seq 15); do
		scontrol update jobid="$job" StartTime=now 2>/dev/null
		[ "$i" = 15 ] && break
		reaches "$job" COMPLETED 10 >/dev/null && return
	done
	reaches "$job" COMPLETED 10
}
ok "a job preempted by requeueing begins again and ends well" \
	all_of "[ $high = 0 ]" again "grep -q ^elapsed $work/batch.out" \
	"grep -q '2 ranks' $work/batch.out"
ok "nothing is left by the two" unharmed
