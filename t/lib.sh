# SPDX-License-Identifier: LGPL-2.1-or-later
# lib.sh: what the integration tests share: TAP, a private cluster, and the look for what was left
# behind.
# shellcheck shell=bash disable=SC2034
set -u

# make check runs RUN_ALONE alone. The others say why they are left out.
if [[ " ${RUN_ALONE:-t/${0##*/}} " != *" t/${0##*/} "* ]]; then
	reason="takes minutes, or a quiet machine: make check TESTS=t/${0##*/}"
	[ "$(id -u)" = 0 ] || ! grep -q '^need_cluster' "$0" ||
		reason="needs root for a private Slurm"
	echo "1..0 # SKIP $reason"
	exit 0
fi

# Whatever the caller's shell, runtime, MPI, job or make has set means nothing here. (A test that
# runs make would get the caller's list of tests.)
foreign='OMP|KMP|GOMP|OMPI|PMIX?|PRTE|MPICH|HYDRA|I_MPI|SLURM|SBATCH|SALLOC|MALLEABLE|LD'
for name in $(compgen -e | grep -E "^($foreign)_"); do unset "$name"; done
unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL
export SHELL=/bin/bash LANG=C.UTF-8

builddir=${abs_top_builddir:-$(pwd)}
srcdir=$(cd "${abs_top_srcdir:-$(dirname "${BASH_SOURCE[0]}")/..}" && pwd)
stage=$builddir/t/stage
load=$builddir/contrib/examples/load
programs=$builddir/t/programs
# The tools for analysts and their Python, as contrib/prepare installs them. They leave nothing in
# the source tree.
tools=$builddir/t/python/bin
export PYTHONDONTWRITEBYTECODE=1
# The compiler for LLVM's libomp, as configure found it.
clang=${OMPCC:-clang-$("$srcdir/contrib/llvm")}
# A launcher that binds no rank, and counts no cores: Open MPI's, or MPICH's where that is mpirun.
mpirun=(mpirun --bind-to none)
# What mpirun's process is called: Open MPI 5, which has no orterun, executes prterun.
launcher=mpirun
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
case $(readlink -f "$(command -v mpirun || true)") in
*hydra*) openmpi=no ;;
*) openmpi=yes && mpirun+=(--oversubscribe) ;;
esac
[ $openmpi = no ] || command -v orterun >/dev/null || launcher=prterun
work=$(mktemp -d "${TMPDIR:-/tmp}/balance-test.XXXXXX")
chmod 755 "$work"
export BALANCE_CLUSTER=$work/cluster
number=0

# need_tools: skip all if the tools for analysts are not there.
need_tools() { [ -x "$tools/malleable-report" ] || skip_all "needs contrib/prepare's Python"; }

# linking NAME...: what pkg-config prints for programs that use these libraries of the stage.
linking() {
	local name
	for name in "$@"; do
		sed "s|^prefix=.*|prefix=$stage|" "$stage/lib/pkgconfig/$name.pc" >"$work/$name.pc"
	done
	PKG_CONFIG_PATH=$work pkg-config --cflags --libs "$@"
}

# make_value NAME: a variable of the build's makefile.
make_value() {
	make -s --no-print-directory -C "$builddir" --eval="show: ; @echo '\$($1)'" show | tail -1
}

# compile_core COMPILER…: all of base and core, into $work/core.a, as the build defines it.
compile_core() {
	local source objects=() definitions
	eval "definitions=($(make_value DEFS))"
	for source in "$srcdir"/libmalleable/{base,core}/*.c; do
		objects+=("$work/$(basename "$(dirname "$source")")-$(basename "$source" .c).o")
		"$@" -std=gnu11 -D_GNU_SOURCE "${definitions[@]}" -I"$srcdir" -c \
			-o "${objects[-1]}" "$source" >>"$work/err" 2>&1 || return
	done
	rm -f "$work/core.a"
	ar rc "$work/core.a" "${objects[@]}"
}

# full: whether checks are made that take long, look at a clock or at gains (contrib/check --full).
full() { [ "${BALANCE_FULL:-no}" = yes ]; }

skip_all() {
	echo "1..0 # SKIP $*"
	exit 0
}

# built NAME: configure did not leave it out. need NAME...: skip all where it left one of them out.
built() { [[ " ${LEFT_OUT:-} " != *" $1 "* ]]; }
need() {
	local name
	for name; do
		built "$name" || skip_all "configured without $name"
	done
}

plan() { echo "1..$1"; }
# done_testing: behind the last check; a test without it was ended in the middle.
done_testing() { echo "1..$number"; }

# keep_logs: Slurm's, of the first check that fails.
keep_logs() {
	local kept
	kept=$builddir/failed/$(basename "$0" .t)
	if [ ! -d "$BALANCE_CLUSTER" ] || [ -d "$kept" ]; then return; fi
	mkdir -p "$kept" && cp "$BALANCE_CLUSTER"/*.log "$kept/"
	echo "# Slurm's logs are kept in $kept"
}

finish() {
	# What began and was not ended.
	jobs -pr | xargs -r kill 2>/dev/null
	[ -d "$BALANCE_CLUSTER" ] && "$srcdir/contrib/cluster" stop >/dev/null 2>&1
	[ -n "${KEEP:-}" ] || rm -rf "$work"
}
trap finish EXIT
trap 'exit 1' INT TERM

# ok WHAT COMMAND...: passes if the command does.
ok() {
	local what=$1
	shift
	number=$((number + 1))
	if "$@"; then
		echo "ok $number - $what"
	else
		echo "not ok $number - $what"
		keep_logs
		[ -s "$work/err" ] && sed 's/^/# /' "$work/err" | tail -n 20
	fi
	return 0
}

skip() {
	number=$((number + 1))
	echo "ok $number - $1 # SKIP $2"
}
# ok_with NAME WHAT COMMAND...: skipped where configure left that out.
ok_with() {
	if built "$1"; then
		ok "${@:2}"
	else
		skip "$2" "configured without $1"
	fi
}

# The tests need a real Slurm and a machine with two CPUs.
need_cluster() {
	need slurm mpi clang
	[ "$(id -u)" = 0 ] || skip_all "needs root for a private Slurm"
	[ "$(nproc)" -ge 2 ] || skip_all "needs two CPUs"
	command -v slurmd >/dev/null || [ -x /usr/sbin/slurmd ] || skip_all "needs slurmd"
	# One at a time on a machine, or in what contrib/apart makes of it: they look for processes
	# that are left. contrib/check has the lock already.
	exec 8>/run/balance-tests.lock
	[ "${BALANCE_LOCKED:-no}" = yes ] || flock 8
}

# users_read: what is installed, and the load, where every user can read them, before the cluster is
# started with them: a copy where the build tree is below a directory such as /root.
users_read() {
	# Without MPI there is no load.
	[ -e "$load" ] || load=$stage/bin/malleable
	local nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	if ! "${nobody[@]}" test -x "$load" -a -r "$stage/lib/slurm/balance.so"; then
		cp -R "$stage" "$work/stage" && cp "$load" "$work/stage/load" || exit 1
		stage=$work/stage
		load=$stage/load
	fi
	"${nobody[@]}" test -x "$load" || skip_all "users cannot read $stage"
}

# ordinary_users: "${user[@]}" and "${other[@]}" before a command run it as two ordinary users. They
# have no place of their own: we are in / from here on, and they cannot list $work.
ordinary_users() {
	cd / || exit 1
	chmod 711 "$work"
	user=(setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/)
	other=(setpriv --reuid=1 --regid=1 --clear-groups env HOME=/)
	users_read
}

# Deadlines of what is tested are so many times as long: no test depends on whether the machine
# stalls. Where one must pass: PATIENCE=1 start_cluster, or MALLEABLE_PATIENCE=1 malleable run.
export MALLEABLE_PATIENCE=60

start_cluster() {
	MALLEABLE_PATIENCE=${PATIENCE:-$MALLEABLE_PATIENCE}
	"$srcdir/contrib/cluster" start --prefix "$stage" \
		--plugin-args "patience=$MALLEABLE_PATIENCE" "$@" \
		>"$work/cluster.out" 2>&1 || {
		sed 's/^/# /' "$work/cluster.out"
		echo "Bail out! the private Slurm does not start"
		exit 1
	}
	# shellcheck disable=SC1091
	. "$BALANCE_CLUSTER/env"
}

# run COMMAND...: output to $work/out and $work/err, exit status to $status; never longer than five
# minutes, or $limit seconds.
run() {
	status=0
	timeout -k 5 "${limit:-300}" "$@" >"$work/out" 2>"$work/err" </dev/null 8>&- || status=$?
	without_queue
}
# srun adds these lines where slurmctld is busy or the step before has not quite ended. The file
# stays the same one: what runs in the background may write to it, too.
without_queue() {
	local waits='[Jj]ob [0-9]+ (step creation|queued and|has been)|Step created' kept

	grep -qE "^srun: ($waits)" "$work/err" || return 0
	kept=$(sed -E "/^srun: ($waits)/d" "$work/err" && echo end)
	printf %s "${kept%end}" >"$work/err"
}

# The directory of the tests' policies: root runs none from where others can write, as the build
# directory may be.
test_policies() {
	mkdir -p "$work/policies" && cp "$builddir"/t/policies/*.so "$work/policies/"
	echo "$work/policies"
}

# begin COMMAND...: run it in the background, output as of run; a program of ours is told to stop by
# --until="$work/stop". ended: tell it to, and wait for its status, for $limit seconds from then:
# how long the checks before that take is a matter of the machine.
begin() {
	# What an earlier one printed is not taken for its output.
	rm -f "$work/stop" "$work/out" "$work/err"
	timeout -k 5 "$((10 * ${limit:-300}))" "$@" >"$work/out" 2>"$work/err" </dev/null 8>&- &
	step=$!
}
ended() {
	: >"$work/stop"
	status=0
	timeout "${limit:-300}" tail -s 0.1 --pid="$step" -f /dev/null || kill "$step"
	wait "$step" || status=$?
	without_queue
}
# computes: the controller of the one balanced step here has seen all its ranks compute.
computes() {
	[ "$("$stage/bin/malleable" status --here --json 2>/dev/null |
		jq -r '.[0].windows' 2>/dev/null)" -gt 0 ] 2>/dev/null
}

# Status, output and error text of the last run.
exits() { [ "$status" -eq "$1" ] || { echo "# exit status $status, not $1"; false; }; }
fails() { [ "$status" -ne 0 ] && [ "$status" -ne 124 ]; }
says() { grep -Eq -- "$1" "$work/out" || { echo "# no '$1' in the output"; false; }; }
complains() { grep -Eq -- "$1" "$work/err" || { echo "# no '$1' in the error text"; false; }; }
silent_about() { ! grep -Eq -- "$1" "$work/out" "$work/err"; }
all_of() {
	local part
	for part in "$@"; do eval "$part" || return 1; done
}
# refuses COMMAND STATUS MESSAGE ARGUMENTS...: it ends so with these, and one line has the message.
refuses() {
	"$1" "${@:4}"
	ok "refused: ${*:4}" all_of "exits $2" "complains '$3'" "[ \$(wc -l <'$work/err') = 1 ]"
}

# report KEY: a value of the JSON report that the last run wrote to $work/report.json.
report() { jq -r "$1" "$work/report.json"; }
report_has() { [ "$(report "$1")" = true ] || { echo "# not true: $1"; false; }; }

# median WORD: of the numbers behind that word in the last run's output; nothing if there are none.
median() {
	awk -v word="$1" '$1 == word {print $2}' "$work/out" | sort -n |
		awk '{all[NR] = $1} END {if (NR) print all[int((NR + 1) / 2)]}'
}
# served: t/programs/progress each said in the last run that a rank that waits, and naps for 1 ms at
# most, is there for what others want of it: usually within 10 ms.
served() {
	awk -v send="$(median send)" -v rma="$(median rma)" 'BEGIN {
		exit !(send != "" && rma != "" && send < 10 && rma < 10)}' ||
		{ echo "# send $(median send) ms, rma $(median rma) ms" && return 1; }
}

# scripts_of INTERPRETER: the files of the source tree, where we are, whose first line names it.
scripts_of() {
	find .ci contrib t -type f -exec awk -v name="$1" \
		'FNR == 1 && $0 ~ "^#!.*[/ ]" name "$" {print FILENAME} {nextfile}' {} + | sort
}

# pids_of NAME: the processes of that name that are not zombies.
pids_of() { ps -eo pid=,stat=,comm= | awk -v name="$1" '$2 !~ /^Z/ && $3 == name {print $1}'; }
living() { [ -n "$(pids_of "$1")" ]; }
# Below slurm in cgroup v1, below node1_slurmstepd.scope in cgroup v2.
step_cgroups() { find /sys/fs/cgroup -type d -path '*slurm*' -name 'step_*' 2>/dev/null; }

clean() {
	! living malleabled && [ -z "$(step_cgroups)" ] && ! ls /dev/shm/*malleable* >/dev/null 2>&1
}
# Nothing of a balanced step is left: process, shared memory, file, cgroup. Slurm itself may need a
# moment.
nothing_left() {
	wait_until clean && return 0
	echo "# left: $(pids_of malleabled) $(step_cgroups) $(ls /dev/shm)"
	return 1
}

# wait_until COMMAND...: until the command succeeds, for two minutes: a machine may stand still.
wait_until() {
	local end=$((SECONDS + ${patience:-120}))
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.1
	done
}

# hold PID: until it ends, as a debugger does: SIGCONT does not let it go on. Sets holding, the pid
# of what holds it, which ends with it.
hold() {
	cat >"$work/hold.py" <<'PY'
import ctypes, os, sys
pid = int(sys.argv[1])
ptrace = ctypes.CDLL(None, use_errno=True).ptrace
SEIZE, INTERRUPT, WALL = 0x4206, 0x4207, 0x40000000
for request in SEIZE, INTERRUPT:
    if ptrace(request, pid, None, None) < 0: sys.exit(os.strerror(ctypes.get_errno()))
os.waitpid(pid, WALL)
print("held", flush=True)
while os.WIFSTOPPED(os.waitpid(pid, WALL)[1]): pass
PY
	python3 "$work/hold.py" "$1" >"$work/holding" &
	holding=$!
	wait_until grep -q held "$work/holding"
}
