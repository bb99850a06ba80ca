#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Jobs in namespaces of their own, interactive steps, and nodes on which processes cannot be
# started.

# Linux 6.18 numbers namespaces by CPU, and one is mounted only where its number is the higher one:
# job_container/tmpfs fails by chance. So this runs in a namespace where it does not.
read -ra cpus < <(python3 -c 'import os; print(*os.sched_getaffinity(0))')
mounts_those_of() { # CPU...
	local cpu file
	file=$(mktemp)
	for cpu in "$@"; do
		taskset -c "$cpu" unshare --mount="$file" true 2>/dev/null || return
		umount "$file"
	done
	rm "$file"
}
if [ -z "${LOW_NAMESPACE:-}" ] && [ "$(id -u)" = 0 ]; then
	export LOW_NAMESPACE=yes
	export -f mounts_those_of
	all=$(IFS=, && echo "${cpus[*]}")
	for cpu in "${cpus[@]}"; do
		here=(taskset -c "$cpu" unshare --mount taskset -c "$all" bash)
		"${here[@]}" -c 'mounts_those_of "$@"' bash "${cpus[@]}" || continue
		"${here[@]}" "$0"
		exit
	done
fi
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/faults.sh"
need_cluster

# The job's own /tmp and /var/tmp hide what is below ours: what runs there is in a third place, and
# so is the directory that Slurm makes them in.
outside=$(mktemp -d /var/lib/balance-test.XXXXXX)
more_finish() {
	finish
	rm -rf "$outside"
	[ -z "${pids:-}" ] || [ ! -d "$pids" ] || wait_until rmdir "$pids"
}
trap more_finish EXIT
chmod 755 "$outside"
hidden=$(mktemp -d /tmp/balance-hidden.XXXXXX)
chmod 755 "$hidden"
cp -R "$stage/lib/malleable" "$hidden"
cp -R "$stage" "$outside/stage" && cp "$load" "$outside/load" || exit 1
stage=$outside/stage
load=$outside/load
cd / || exit 1

short=("$load" "--work=20,10" --iterations=2)
# PMIx 5 in slurmstepd would share files in a /tmp that jobs do not have.
export PMIX_MCA_gds=hash
# start_contained LINE...: with more lines in slurm.conf.
start_contained() {
	mkdir -p "$BALANCE_CLUSTER" "$outside/private"
	printf 'AutoBasePath=true\nBasePath=%s\n' "$outside/private" \
		>"$BALANCE_CLUSTER/job_container.conf"
	start_cluster --conf "$(printf '%s\n' PrologFlags=Contain \
		JobContainerType=job_container/tmpfs "$@")"
}
start_contained
touch "$hidden/outside"
namespaces() { srun -n1 sh -c "[ ! -e $hidden/outside ] && echo private"; }
if [ "$(namespaces 2>/dev/null)" = private ]; then
	run srun -n2 --balance "${short[@]}"
	ok "job_container/tmpfs: balanced with a /tmp and a /dev/shm of its own" \
		all_of "exits 0" "says ^elapsed" "complains '2 ranks, 2 CPUs'"
	run srun -n2 --balance=auto,grow=job --balance-report="$outside/report.json" "${short[@]}"
	ok "the report of a step with a /tmp of its own is written" \
		all_of "exits 0" "jq -e '.ranks == 2' $outside/report.json >/dev/null"
	sed -i "s,libdir=[^ ]*,libdir=$hidden/malleable," "$BALANCE_CLUSTER/plugstack.conf"
	run srun -n2 --balance "${short[@]}"
	ok "libraries that it hides: the program runs, and one line is printed" \
		all_of "exits 0" "says ^elapsed" \
		"complains 'cannot load $hidden/.* in the job: No such'" \
		"[ \$(grep -Ec 'balance:|ld.so' $work/err) = 1 ]"
	"$srcdir/contrib/cluster" stop >/dev/null
	# Callbacks run in a child of slurmstepd, in the job's namespace (Slurm 24.05 and later).
	start_contained SlurmdParameters=contain_spank
	run srun -n2 --balance "${short[@]}"
	ok "contain_spank: balanced, and its report is printed" \
		all_of "exits 0" "says ^elapsed" "complains '2 ranks, 2 CPUs'"
	rm "$outside/report.json"
	run srun -n2 --balance=auto,grow=job --balance-report="$outside/report.json" "${short[@]}"
	ok "contain_spank: so is a step that grows" \
		all_of "exits 0" "jq -e '.ranks == 2' $outside/report.json >/dev/null"
else
	for what in "balanced with a /tmp of its own" "its report" "hidden libraries" \
		"contain_spank" "contain_spank, a step that grows"; do
		skip "job_container/tmpfs: $what" "job_container/tmpfs does not work here"
	done
fi
rm -rf "$hidden"
ok "nothing is left" unharmed
if ! full; then
	done_testing
	exit
fi

"$srcdir/contrib/cluster" stop >/dev/null
start_cluster --conf "LaunchParameters=use_interactive_step"

# Refused or not, by srun itself.
same_x11() {
	local plain
	run srun -n1 --x11 true
	plain=$status
	run srun -n1 --x11 --balance --balance-report=off true
	exits "$plain"
}
# A shell in an interactive step, and steps of it.
cat >"$work/typed" <<TYPED
echo "shell in step \$SLURM_STEP_ID"
srun -n2 --balance ${short[*]} </dev/null
echo "srun's status \$?"
exit 5
TYPED
typed() {
	status=0
	# Slurm starts $SHELL, which those who run the tests need not have.
	SHELL=/bin/bash timeout -k 5 300 python3 - "$work/typed" salloc -Q -n2 "$@" \
		>"$work/raw" 2>"$work/err" 8>&- <<'PY' || status=$?
import os, pty, select, sys, time
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
def until(text, seconds):
    global seen
    end = time.time() + seconds
    while text not in seen and time.time() < end:
        if not select.select([terminal], [], [], 0.2)[0]: continue
        try: got = os.read(terminal, 4096)
        except OSError: return False
        if not got: return False
        seen += got
    return text in seen
seen = b""
until(b"# ", 60) or until(b"$ ", 5)
for line in open(sys.argv[1]):
    os.write(terminal, line.encode())
until(b"never", 280)
sys.stdout.write(seen.decode(errors="replace"))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
PY
	tr -d '\r' <"$work/raw" >"$work/out"
}
typed
ok "the shell of an interactive step starts balanced steps" \
	all_of "exits 5" "says 'shell in step 4294967290'" "says 'elapsed [0-9]'" \
	"says '2 ranks, 2 CPUs'" 'says "srun.s status 0"'
typed --balance
ok "the shell of salloc --balance is not balanced, and starts balanced steps" \
	all_of "[ \$(grep -c 'balance: step' $work/out) = 1 ]" "exits 5" \
	"says 'shell in step 4294967290'" "says 'elapsed [0-9]'" "says '2 ranks, 2 CPUs'"
ok "nothing is left by them" unharmed
ok "--x11, which this Slurm has or has not" same_x11
"$srcdir/contrib/cluster" stop >/dev/null

# slurmd may have N processes more, from too few for a step on.
if [ ! -d /sys/fs/cgroup/pids ] || ! mkdir "/sys/fs/cgroup/pids/balance-test.$$"; then
	skip "few processes and threads: what suffices without us suffices for teams that grow" \
		"no pids controller"
	skip "the node serves others then" "no pids controller"
	done_testing
	exit
fi
pids=/sys/fs/cgroup/pids/balance-test.$$
start_cluster
cat "$BALANCE_CLUSTER/slurmd.pid" >"$pids/cgroup.procs"
now() { cat "$pids/pids.current"; }
# The most processes and threads beyond those of slurmd that a program needs without us.
need=0
# Those of an earlier step are gone.
settled() { wait_until eval '! living slurmstepd' && sleep 0.5; }
find_need() {
	local before n
	settled
	before=$(now)
	timeout 30 srun -n2 "${short[@]}" >/dev/null 2>&1 8>&- &
	while kill -0 $! 2>/dev/null; do
		n=$(($(now) - before))
		[ "$n" -le "$need" ] || need=$n
	done
	wait $!
}
# The controller is a process too, and there are two more while it starts; what grows must leave
# some to others.
suffices() {
	local more
	for more in 4 6 10 20; do
		settled
		echo $(($(now) + need + more)) >"$pids/pids.max"
		limit=20 run srun -n2 --balance "${short[@]}"
		{
			exits 0 && says ^elapsed
		} || { echo "# $need without us, not $((need + more)) with us"; return 1; }
		[ "$more" != 4 ] || complains 'the system allows it no more threads' || return 1
		wait_until no_jobs
	done
}
ok "few processes and threads: what suffices without us suffices for teams that grow" \
	all_of find_need find_need find_need suffices
echo max >"$pids/pids.max"
ok "the node serves others then" all_of "run srun -n2 --balance ${short[*]}" "exits 0" \
	"says ^elapsed" "complains '2 ranks'"
"$srcdir/contrib/cluster" stop >/dev/null
wait_until rmdir "$pids"
done_testing
