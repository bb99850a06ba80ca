#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The epilog: what a killed slurmstepd leaves is removed at the job's end; what is another job's
# stays.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/faults.sh"
need_cluster
command -v python3 >/dev/null || skip_all "needs python3"
epilog=$stage/lib/malleable/slurm-epilog
start_cluster --conf "Epilog=$epilog"

files_of() { [ -e "/run/malleable/$1" ]; }
controller_of() {
	for p in $(pids_of malleabled); do grep -q "/job_$1/" "/proc/$p/cgroup" && echo "$p"; done
}
has_controller() { [ -n "$(controller_of "$1")" ]; }
# Before, the one that is seen may be the process that the controller detaches itself from.
serves() { "$stage/bin/malleable" status 2>/dev/null | grep -q "$1"; }
# A job NAME with a step that has files and a controller.
start_job() {
	timeout -k 5 600 salloc -Q -J "$1" -p shared -n2 -c1 srun \
		-Q --exact -n1 -c1 --balance=auto,grow=job \
		"$load" --until="$work/stop" >"$work/$1.out" 2>&1 </dev/null 8>&- &
	wait_until has_job "$1" && job=$(job_of "$1") && wait_until has_controller "$job" &&
		wait_until files_of "$job" && wait_until serves "$job"
}

start_job other
another=$job
start_job killed
# A stopped one would be woken by slurmstepd's end, and leave.
stopped=$(controller_of "$job")
hold "$stopped"
no_stepd() { [ -z "$(stepd_of "$job")" ]; }
kill -KILL "$(stepd_of "$job")"
wait_until no_stepd
ok "slurmstepd killed: files and a controller that is held are left" \
	all_of "files_of $job" "kill -0 ${stopped:-0}"
ranks=$(for p in $(pids_of load); do grep -q "/job_$job/" "/proc/$p/cgroup" && echo "$p"; done)
scancel "$job"
no_files_of() { ! files_of "$job"; }
no_controller() { ! has_controller "$job"; }
ok "at the job's end its controller is gone" wait_until no_controller
ok "the files of such a step are gone, too" wait_until no_files_of
ok "another job's controller and files are there" \
	all_of "files_of $another" "has_controller $another"
echo "$ranks" | xargs -r kill -KILL 2>/dev/null
scancel "$another"
without_lost() {
	remove_lost
	clean
}
ok "nothing else is left, and the node is not drained" \
	all_of "wait_until without_lost" unharmed

# By hand, about things that Slurm does not let happen.
mkdir -p /run/malleable/sockets /run/malleable/4711 /run/malleable/47110
touch /run/malleable/4711/{lock,0} /run/malleable/sockets/{4711.0,4711.1,47110.0}
run env SLURM_JOB_ID=../4711 "$epilog"
ok "a job that is no number is none" all_of "exits 0" "[ -e /run/malleable/4711/0 ]"
run env SLURM_JOB_ID=4711 SLURMD_NODENAME="$(hostname -s)" "$epilog"
ok "files and sockets of this job alone go" all_of "exits 0" "[ ! -e /run/malleable/4711 ]" \
	"[ -e /run/malleable/47110 ]" "[ \"\$(ls /run/malleable/sockets)\" = 47110.0 ]"
rm -rf /run/malleable/47110 /run/malleable/sockets/47110.0
rmdir /run/malleable/sockets /run/malleable
# A user may have thousands of processes with the controller's name.
freezer=$(awk '$3 == "cgroup" && $4 ~ /freezer/ {print $2; exit}' /proc/self/mounts)
if [ -n "$freezer" ]; then
	many=200
	if full; then many=1500; fi
	group=$freezer/slurm/uid_0/job_4711/step_0
	mkdir -p "$group"
	cp /bin/sleep "$work/malleabled"
	(
		echo "$BASHPID" >"$group/cgroup.procs"
		for ((i = 0; i < many; i++)); do "$work/malleabled" 3600 & done
	) 8>&- >/dev/null 2>&1
	members() { [ "$(wc -l <"$group/cgroup.procs")" = "$1" ]; }
	wait_until members "$many"
	SECONDS=0
	run env SLURM_JOB_ID=4711 SLURMD_NODENAME=none "$epilog"
	took=$SECONDS
	ok "$many processes with its name: the job's are killed" \
		all_of "exits 0" "wait_until members 0"
	if full; then ok "within two seconds" [ "$took" -le 2 ]; fi
	rmdir "$group" "${group%/*}"
else
	skip "many processes with its name" "no freezer of cgroup v1"
fi
# Slurm 26.05 calls a job's directory in cgroup v2 by its SLUID. Here it is made by hand, in a v2
# hierarchy that only the epilog sees.
v2() {
	unshare --mount bash -c 'mkdir "$1/v2" && mount -t cgroup2 none "$1/v2" || exit 77
		group=$1/v2/system.slice/slurmstepd.scope/s4SNKN57XZTE00/step_0
		mkdir -p "$group" "${group%/*/*}/s4SNKN57XZTE01" || exit 77
		cp /bin/sleep "$1/malleabled"
		for group in "$group" "${group%/*/*}/s4SNKN57XZTE01"; do
			(echo "$BASHPID" >"$group/cgroup.procs" && exec "$1/malleabled" 3600) 8>&- &
			until [[ $(readlink "/proc/$!/exe") == */malleabled ]]; do sleep 0.01; done
			pids+=($!)
		done
		env SLURM_JOB_ID=4711 SLURM_JOB_SLUID="$3" SLURMD_NODENAME=none "$2"
		for pid in "${pids[@]}"; do
			readlink "/proc/$pid/exe" >/dev/null && echo left || echo gone
		done
		kill -KILL "${pids[@]}"
		wait
		until find "${group%/*}" -mindepth 1 -depth -type d -name "s*" \
			-exec rmdir {} + ; do sleep 0.01; done
		rmdir "${group%/*}" "$1/v2/system.slice"' \
		v2 "$work" "$epilog" "$1" 2>/dev/null
	status=$?
	rmdir "$work/v2"
	return $status
}
killed=$(v2 s4SNKN57XZTE00 | tr '\n' ' ')
if [ -n "$killed" ]; then
	ok "cgroup v2, by the SLUID: the controller of this job alone goes" \
		[ "$killed" = "gone left " ]
	ok "what is no SLUID names no job" [ "$(v2 's*' | tr '\n' ' ')" = "left left " ]
else
	skip "cgroup v2, by the SLUID" "no cgroup v2"
	skip "what is no SLUID" "no cgroup v2"
fi
run "$epilog" --help
ok "slurm-epilog helps" all_of "exits 0" "says Usage"
run env SLURM_JOB_ID=4711 "$epilog"
ok "where there is nothing it succeeds and says nothing" \
	all_of "exits 0" "[ ! -s $work/out ]" "[ ! -s $work/err ]"
done_testing
