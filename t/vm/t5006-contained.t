#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Inside the virtual machine (8 CPUs, cgroup v2): a step of a job in namespaces of its own
# (contain_spank), whose cgroup is called by its SLUID (Slurm 26.05), moves CPUs.

# Jobs have a /tmp of their own, which hides ours.
export TMPDIR=/var/lib
. "$(dirname "$0")/../lib.sh"
unset TMPDIR
need_cluster
[ "$(nproc)" -ge 8 ] || skip_all "needs 8 CPUs: contrib/vm run $0"
cp -R "$stage" "$work/stage" && cp "$load" "$work/load" || exit 1
stage=$work/stage
load=$work/load
mkdir -p "$BALANCE_CLUSTER" "$work/private"
printf 'AutoBasePath=true\nBasePath=%s\n' "$work/private" >"$BALANCE_CLUSTER/job_container.conf"
start_cluster --conf "$(printf '%s\n' PrologFlags=Contain JobContainerType=job_container/tmpfs \
	SlurmdParameters=contain_spank)"
# since VERSION: this Slurm is that one or a later one. It tells with a slurm.conf alone.
version=$(scontrol --version | awk '{print $2}')
since() { [ "$(printf '%s\n' "$1" "$version" | sort -V | head -n1)" = "$1" ]; }
since 24.05 || skip_all "Slurm $version has no contain_spank"
plan 9
# PMIx 5 in slurmstepd would share files in a /tmp that jobs do not have.
export PMIX_MCA_gds=hash

limit=600 begin srun -n2 -c2 --balance=auto,lend=no --balance-report="$work/report.json" "$load" \
	--units=60000 --chunks=64 --regions=1 --work=200,20 --iterations=10 \
	--until="$work/stop"
nice -n -15 "$srcdir/t/watch.py" 600 load >"$work/masks" &
watcher=$!
ok "the ranks compute" wait_until computes
controller=$(pids_of malleabled | head -n1)
rank=$(pids_of load | head -n1)
# of_rank NAME: a variable of it.
of_rank() { tr '\0' '\n' <"/proc/$rank/environ" | sed -n "s/^$1=//p"; }
group() { sed 's/^0:://' "/proc/$1/cgroup"; }
namespace() { readlink "/proc/$1/ns/mnt"; }
echo "# Slurm $version: $(scontrol show config | grep '^SlurmdParameters')"
for pid in "$rank" "$controller"; do
	echo "# $(cat "/proc/$pid/comm"): $(namespace "$pid"), $(group "$pid")"
done
echo "# slurmd: $(namespace "$(cat "$BALANCE_CLUSTER/slurmd.pid")")"

name=job_$(of_rank SLURM_JOB_ID)
! since 26.05 || name=$(of_rank SLURM_JOB_SLUID)
job=$(group "$rank")
job=/sys/fs/cgroup${job%/step_0/*}
ok "the job's cgroup is called $name" [ "${job##*/}" = "$name" ]
ok "the controller is in the step's" [ "$(group "$controller" | cut -d/ -f1-5)" = \
	"$(group "$rank" | cut -d/ -f1-5)" ]
ok "the controller is in the job's namespace" all_of \
	"[ '$(namespace "$rank")' != '$(namespace self)' ]" \
	"[ '$(namespace "$controller")' = '$(namespace "$rank")' ]"
gets() { [ "$("$stage/bin/malleable" status --here --json | jq '.[0].ranks[0].count')" = "$1" ]; }
ok "the busy rank gets a CPU of the other one" wait_until gets 3
tr , '\n' <"$job/cpuset.cpus.effective" | awk -F- '
	{for (cpu = $1; cpu <= $NF; cpu++) print cpu}' | sort >"$work/allocated"
ended
kill "$watcher"
ok "the step ends well, and its report is printed" \
	all_of "exits 0" "says ^elapsed" "complains '2 ranks, 4 CPUs'"
sed 's/^/# /' "$work/out" "$work/err"
ok "with moves" report_has '.cpu_changes.moves > 0'
cut -d' ' -f2 "$work/masks" | grep -v '^-' | tr , '\n' | sort -u >"$work/used"
echo "# allocated: $(paste -sd, "$work/allocated"); used in $(wc -l <"$work/masks") looks:" \
	"$(paste -sd, "$work/used")"
ok "its threads might run on the CPUs of its allocation, at no look on others" \
	all_of "[ \$(wc -l <$work/allocated) = 4 ]" "cmp -s $work/allocated $work/used"
ok "nothing is left" all_of nothing_left "wait_until [ ! -d $job ]"
