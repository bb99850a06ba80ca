#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Files that cannot be written, or never answer: report and trace, /run, the descriptors and
# processes that a step may have.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/faults.sh"
need_cluster
# A memory limit of 60 MB is to end a program, not slurmstepd: hwloc's OpenCL plugin may load LLVM
# (pocl) into it.
export HWLOC_COMPONENTS=-opencl
start_cluster --memory 1500 --cgroup 'ConstrainRAMSpace=yes
ConstrainSwapSpace=no' --conf 'SelectTypeParameters=CR_CPU_Memory
DefMemPerNode=1500'
mounted=
more_finish() { [ -z "$mounted" ] || umount -l /run/malleable; finish; }
trap more_finish EXIT

short=("$load" "--work=4,2" --iterations=2)
# The program ends well, with its output.
well() { exits 0 && says ^elapsed; }
step() { run srun -n2 "$@" "${short[@]}"; }
mkfifo "$work/fifo"
step --balance --balance-report="$work/fifo"
ok "a report into a FIFO that nobody reads" well
step --balance --balance-trace="$work/fifo"
ok "a trace into it" well
ok "nothing is left by either" unharmed
step --balance --balance-report=/dev/full
ok "a report onto a full disk" well
step --balance --balance-trace=/dev/full
ok "a trace onto it" well
step --balance --balance-report=/dev/null/report.json --balance-trace="$work"
ok "a report into no directory, a trace that is one" all_of well unharmed
# A value that was forgotten: the program is taken for it.
slips() {
	local option
	for option in report trace; do
		cp "$load" "$work/app"
		step --balance "--balance-$option=$work/app"
		all_of well "cmp '$work/app' '$load'" \
			"[ \$(grep -c 'malleable did not write the file there' '$work/err') = 1 ]" \
			"complains 'balance: cannot write the $option to $work/app: '" || return
	done
}
ok "no file of others is written over, and one line reports it" slips

# Each of these steps has files of its own, whole: NAMES of reports and traces.
whole() {
	local name
	for name; do
		jq -e '.ranks == 1' "$work/many/r$name" >/dev/null 2>&1 &&
			[ "$(jq -r 'select(.type == "step") | .step' "$work/many/t$name")" = \
				"$(jq -r .step "$work/many/r$name")" ] 2>/dev/null ||
			{ ls "$work/many" && return 1; }
	done
	[ "$(find "$work/many" -type f ! -name 'out*' | wc -l)" = $((2 * $#)) ]
}
many=(--balance=observe --balance-report="$work/many/r" --balance-trace="$work/many/t")
job() {
	rm -rf "$work/many" && mkdir "$work/many"
	run sbatch -W -n2 -o "$work/many/out.%a" "$@"
}
one="srun --overlap -n1 -c1 $load --work=10 --iterations=40"
job -n1 -a 1-2 "${many[@]}" --wrap "$one"
ok "tasks of an array have files of their own" all_of "exits 0" "whole .1 .2"
job -n1 -a 1-2 --balance=observe --balance-report="$work/many/r.%j" --wrap "$one"
ok "a name with the job's number is enough" all_of "exits 0" \
	"[ \$(find $work/many -name 'r.*' | wc -l) = 2 ]" "! ls $work/many/r.*.* 2>/dev/null"
job "${many[@]}" --wrap "$one; $one"
this=$(jq -r .job "$work/many/r" 2>/dev/null)
ok "steps of a job one after the other have names of their own, which is said" all_of "exits 0" \
	"whole '' .$this.1" "grep -q 'balance: the report is in .*r.$this.1, as ' $work/many/out*" \
	"grep -q 'balance: the trace is in .*t.$this.1, as ' $work/many/out*"
# Both write their traces before one of them ends.
until_told="srun --overlap -n1 -c1 $load --work=10 --iterations=1 --until=$work/stop"
rm -f "$work/stop"
job "${many[@]}" --wrap "$until_told & $until_told &
	until [ \$(cat $work/many/t* 2>/dev/null | grep -c window) -gt 1 ] && ls $work/many/t.*; do
		sleep 0.1; done; touch $work/stop; wait"
ok "steps at the same time have files of their own" \
	all_of "exits 0" "[ \$(find $work/many -name 't*' | wc -l) = 2 ]" \
	"[ \$(find $work/many -name 'r*' | wc -l) = 2 ]" \
	"[ \$(cat $work/many/r* | jq -r .step | sort -u | wc -l) = 2 ]"
step --balance --balance-report="$work/again.json"
step --balance --balance-report="$work/again.json"
ok "a file of an earlier job is written anew" all_of well "[ ! -e \$(echo $work/again.json.*) ]" \
	"silent_about 'is in'"
ok "nothing is left by these" unharmed

pooled() { step --balance=auto,grow=job; }
# run_is OPTIONS: /run/malleable as root finds it.
run_is() {
	mkdir -p /run/malleable && mount -t tmpfs -o "$1" none /run/malleable && mounted=yes
}
run_was() {
	umount -l /run/malleable && mounted= && rmdir --ignore-fail-on-non-empty /run/malleable
}
run_is mode=755,size=4k,nr_inodes=2
dd if=/dev/zero of=/run/malleable/full 2>/dev/null
pooled
ok "a full /run ends no program" well
run_was
run_is ro
pooled
ok "a read-only /run ends no program" well
run_was
ok "nothing is left then" unharmed

# A step of a pool cannot write what it has: the others must not get its CPUs.
cat >"$work/job.sh" <<JOB
#!/bin/bash
cpuset() { find /sys/fs/cgroup \\( -path '*/job_*/step_0/cpuset.cpus' -o \\
	-path '*/job_*/step_0/user/cpuset.cpus' \\) -exec cat {} + | grep . | head -n1; }
srun --exact -n1 -c1 --balance=auto,pool=job --balance-report=off \
	$load --work=10 --iterations=1 --until=/nowhere >/dev/null 2>&1 &
for i in {1..1200}; do [[ \$(cpuset) = *[-,]* ]] && break; sleep 0.1; done
mkdir /run/malleable/\$SLURM_JOB_ID/1
srun --exact -n1 -c1 --balance=auto,pool=job sh -c "\$(declare -f cpuset); echo has \\\$(cpuset)"
rmdir /run/malleable/\$SLURM_JOB_ID/1
for i in {1..1200}; do [[ \$(cpuset) = *[-,]* ]] && echo again && break; sleep 0.1; done
scancel -s KILL \$SLURM_JOB_ID.0
wait
JOB
chmod 755 "$work/job.sh"
run salloc -Q -n2 -c1 "$work/job.sh"
ok "a step that cannot enter its pool keeps to its own CPUs, and the others to theirs" \
	all_of "complains 'grow=job: cannot write .*; the step keeps to its own CPUs'" \
	"says '^has [0-9]*$'" "says '^again$'"
ok "nothing is left by these" unharmed

ok "a program with four descriptors ends as without us" \
	same 3 srun -n1 @ sh -c 'ulimit -n 4; ulimit -n; exit 3'
# The soft limit alone: we may not be allowed to raise the hard one again.
few() {
	local slurmd
	slurmd=$(cat "$BALANCE_CLUSTER/slurmd.pid")
	local saved
	saved=$(prlimit --noheadings --raw -o SOFT --nofile --pid "$slurmd")
	prlimit --nofile="$1": --pid "$slurmd"
	step --propagate=NONE --balance
	prlimit --nofile="$saved": --pid "$slurmd"
}
few 64
ok "few descriptors in slurmd and slurmstepd" all_of well unharmed

ok "a memory limit ends a program as without us" same 1 srun -n1 --mem=60 @ sh \
	-c 'x=$(head -c 200000000 /dev/zero | tr "\0" x); echo "${#x}"'
ok "nothing is left at the end" unharmed
done_testing
