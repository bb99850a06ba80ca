#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Files, sockets and locks that users share: none of them leads root or another user astray.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/faults.sh"
need_cluster
command -v python3 >/dev/null || skip_all "needs python3"
ordinary_users
mkdir -m 777 "$work/reports" "$work/user"
mkdir "$work/user/secret"
cp "$builddir/t/policies/random.so" "$work/user/secret/"
start_cluster --plugin-args "report_dir=$work/reports"
host=$(hostname -s)
malleable=$stage/bin/malleable
# sleeps: a step in the background; socket is its controller's.
sleeps() {
	begin "${user[@]}" env MALLEABLE_POLICIES="$work/user/secret" srun -J sleeps -Q -D / -n1 \
		--balance=random --balance-report="$work/user/secret-%x" \
		--balance-trace="$work/user/secret-%x.trace" sleep 1000
	wait_until socket_is_there
}
socket_is_there() {
	socket=$(find /run/malleable/sockets -type s 2>/dev/null | head -n1) && [ -n "$socket" ]
}
no_socket() { ! socket_is_there; }
no_directory() { [ ! -e /run/malleable ]; }
end_sleep() {
	scancel "$(job_of sleeps)"
	ended
}

# report_dir: somebody has put links where the next reports will be.
echo precious >"$work/user/precious"
chown 65534 "$work/user/precious"
for job in $(seq 1 25); do
	"${other[@]}" ln -s "$work/user/precious" "$work/reports/$job.0.$host.json"
done
steps=5
full && steps=20
for _ in $(seq $steps); do
	run "${user[@]}" srun -Q -D / -n2 --balance --balance-report=off "$load" --iterations=1
done
ok "links in report_dir empty nobody's file" grep -qx precious "$work/user/precious"
reports() { find "$work/reports" -type f -user 0 -perm 644 -name '*.json.1' | wc -l; }
ok "the reports are there, under other names, and root's" test "$(reports)" -eq $steps
find "$work/reports" -mindepth 1 -delete
chmod 755 "$work/reports"
run "${user[@]}" srun -Q -D / -n2 --balance --balance-report=off "$load" --iterations=3
whole() { jq -e '.ranks == 2 and .recorded.uid == 65534' "$work"/reports/*.json >/dev/null; }
ok "a report_dir that root alone may write has them too" all_of "exits 0" whole

# Somebody else locks the report, and has put links where a name of the step's own would be.
mkdir -m 777 "$work/open"
"${user[@]}" touch "$work/open/r"
for job in $(seq 1 99); do
	"${other[@]}" ln -s "$work/user/precious" "$work/open/r.$job.0"
done
"${other[@]}" flock -F "$work/open/r" sh -c "echo held; exec sleep 1000" >"$work/locked" &
locker=$!
wait_until grep -q held "$work/locked"
run "${user[@]}" srun -Q -D / -n2 --balance --balance-report="$work/open/r" "$load" --iterations=3
kill $locker
ok "names that a controller chose itself lead to nobody's file" all_of "exits 0" \
	"complains 'cannot write the report to .*/r.[0-9]+.0: a link, or others can write it'" \
	"grep -qx precious '$work/user/precious'"
"${other[@]}" ln -s "$work/user/precious" "$work/open/a.7"
run "${user[@]}" sbatch -W -D / -n1 -a 7 -o "$work/user/said" --balance \
	--balance-report="$work/open/a" --wrap "srun -Q -n1 $load --iterations=3"
ok "names to which a controller added a part lead to nobody's file" all_of "exits 0" \
	"grep -q 'cannot write the report to .*/a.7: a link, or others can' '$work/user/said'" \
	"grep -qx precious '$work/user/precious'"

# Files of the user's own that would stop whoever opens them.
mkfifo -m 666 "$work/user/fifo"
run "${user[@]}" srun -Q -D / -n2 --balance --balance-report="$work/user/fifo" \
	--balance-trace="$work/user/fifo" "$load" --iterations=3
ok "a pipe as report or trace is refused, and the step ends" \
	all_of "exits 0" "complains 'cannot write the report to .*fifo: not a file or device'"
run "${user[@]}" srun -Q -D / -n2 --balance --balance-report=/dev/full "$load" --iterations=3
ok "a full disk is said" all_of "exits 0" "complains 'cannot write the report to /dev/full'"

# Sockets.
sleeps
# What others read of the processes that are the step's, and no task or srun of the user's.
command_lines() {
	local pid
	for pid in $(pids_of malleabled) $(pids_of malleable-polic); do
		"${other[@]}" cat "/proc/$pid/cmdline" | tr '\0' '\n'
	done >"$work/lines"
}
has_policy() { command_lines && grep -qx malleable-policy "$work/lines"; }
wait_until has_policy
ok "strangers read no names of a user's in command lines of a step" all_of \
	"grep -qx -- --socket $work/lines" "! grep -Eq 'secret|sleeps' $work/lines"
ok "a controller's socket is its user's alone" test "$(stat -c '%u %a' "$socket")" = "65534 600"
talk() {
	python3 - "$socket" "$1" <<'PY'
import os, socket, sys
os.setgroups([]); os.setgid(int(sys.argv[2])); os.setuid(int(sys.argv[2]))
refused = 0
for _ in range(2000):
    try:
        s = socket.socket(socket.AF_UNIX)
        s.connect(sys.argv[1]); s.sendall(b"1 status\n"); s.recv(10)
    except PermissionError:
        refused += 1
for name in ("/run/malleable/sockets/1.0.1", "/run/malleable/1", "/run/malleable/sockets/x"):
    try:
        socket.socket(socket.AF_UNIX).bind(name)
        print("bound", name)
    except OSError:
        pass
print("refused", refused)
PY
}
talk 1 >"$work/out"
ok "strangers cannot connect, nor put a socket beside it" \
	all_of "says '^refused 2000$'" "! says bound"
cat >"$work/squat.py" <<'PY'
import os, resource, socket, sys, time
resource.setrlimit(resource.RLIMIT_NOFILE, (8192, 8192))
os.setuid(1)
held = []
for pid in range(int(sys.argv[1]), int(sys.argv[1]) + 3000):
    try:
        s = socket.socket(socket.AF_UNIX); s.bind("\0malleabled.%d" % pid); held.append(s)
    except OSError:
        pass
print("ready", flush=True)
time.sleep(1000)
PY
python3 "$work/squat.py" "$$" >"$work/squat.out" &
squatter=$!
wait_until grep -q ready "$work/squat.out"
end_sleep
sleeps
run "${user[@]}" "$malleable" status --here
ok "names that somebody else has taken do not hide a step" \
	all_of "exits 0" "says '^[0-9]+\.0 +$host'"
kill $squatter
controller=$(pids_of malleabled)
kill -STOP "$controller"
MALLEABLE_PATIENCE=1 run "$malleable" status --here
ok "root's status does not wait for a stopped controller without end" \
	all_of "exits 1" "complains 'no answer from $socket'"
kill -CONT "$controller"
run "$malleable" status --here --json
ok "root sees the steps of users" all_of "exits 0" "says '\"uid\":65534'"
end_sleep
ok "the socket goes with its step" wait_until no_socket

# Something that only looks like a controller.
cat >"$work/user/fake.py" <<'PY'
import ctypes, os, socket, time
os.setuid(65534)
ctypes.CDLL(None).prctl(15, b"malleabled", 0, 0, 0)
s = socket.socket(socket.AF_UNIX); s.bind("\0malleabled.%d" % os.getpid()); s.listen(5)
while True:
    c, _ = s.accept()
    c.recv(100)
    c.sendall(b'{"version":1,"step":"1.0","node":"x","policy":"auto",'
              b'"ranks":[],"cpus":"\\u001b[2J\\u001b]0;owned\\u0007"}')
    c.close()
PY
python3 "$work/user/fake.py" &
fake=$!
wait_until living malleabled
run "$malleable" status --here
ok "a process that looks like a controller reaches no terminal of root's" \
	all_of "exits 1" "! grep -q $'\e' $work/out $work/err"
kill "$fake"

# Locks: somebody else's steps hold theirs for long.
for job in $(seq 900001 900008); do
	mkdir -p "/run/malleable/$job"
	touch "/run/malleable/$job/lock"
	echo "1 /nowhere" >"/run/malleable/$job/cgroup"
	echo "0 - 1 1 -" >"/run/malleable/$job/0"
done
chmod 755 /run/malleable
cat >"$work/hold.py" <<'PY'
import fcntl, sys, time
files = [open(f"/run/malleable/{job}/lock") for job in range(900001, 900009)]
for file in files: fcntl.flock(file, fcntl.LOCK_EX)
print("held", flush=True)
time.sleep(1000)
PY
python3 "$work/hold.py" >"$work/held" &
holder=$!
wait_until grep -q held "$work/held"
time_of() {
	local begin
	begin=$(date +%s%N)
	run "$@"
	took=$((($(date +%s%N) - begin) / 1000000))
}
took=
full && time_of "${user[@]}" srun -Q -D / -n1 true
alone=$took
users_deadlines
time_of "${user[@]}" srun -Q -D / -n1 --balance=auto,grow=job --balance-report=off true
long_deadlines
kill $holder
ok "a step with grow=job ends while locks of other jobs are held" exits 0
if full; then
	echo "# $alone ms without, $took ms while eight locks are held"
	ok "they are not waited for" test "$took" -lt $((2 * alone + 2000))
fi
rm -rf /run/malleable/9000*

# A controller that is killed before its step looks after no CPUs any more.
cat >"$work/job.sh" <<JOB
srun -Q --exact -n1 -c1 --balance=auto,grow=job --balance-report=off sleep 1000 &
until [ -e $work/user/killed ]; do sleep 0.1; done
srun -Q --exact -n1 -c1 --balance=auto,grow=job --balance-report=off sh -c \
	'until [ -e $work/stop ]; do sleep 0.1; done'
scancel \$SLURM_JOB_ID.0
wait
JOB
cpuset_of() {
	cat /sys/fs/cgroup/cpuset/slurm*/uid_65534/job_*/step_"$1"/cpuset.cpus \
		/sys/fs/cgroup/system.slice/*/job_*/step_"$1"/user/cpuset.cpus 2>/dev/null
}
begin "${user[@]}" salloc -Q -D / -n2 -c1 bash "$work/job.sh"
wide() { [ "$(cpuset_of 0)" = 0-1 ]; }
ok "a step with grow=job has the job's CPUs" wait_until wide
users_group() { find /run/malleable -group 65534 ! -type s ! -type p | grep .; }
ok "what root makes for the first step of a user is of root's group" eval '! users_group'
kill -KILL "$(pids_of malleabled)"
touch "$work/user/killed"
one_cpu() { [ "$(cpuset_of 0)" = "$1" ]; }
ok "where its controller was killed it has its own alone, when another step comes" wait_until \
	eval 'one_cpu 0 || one_cpu 1'
ended
ok "nothing is left of a step whose controller was killed" wait_until no_directory

# Files of a user that root looks at.
trace=$work/user/trace
"$builddir/t/bench/generate" --ranks=2 --cpus=2 --windows=9 drift "$work/plain"
jq -c 'if .type == "step" then .step = "1.0\u001b[2J\nroot: x" | .node = "\u001b]0;x\u0007" |
	.policy = "\u009b2J" else . end' "$work/plain" >"$trace"
printf '{"type":\033[2J}\n' >"$work/user/wrong"
chown 65534 "$trace" "$work/user/wrong"
chmod 600 "$trace"
harmless() { ! LC_ALL=C grep -q $'[^\t -~]' "$@" && ! grep -q '^root' "$@"; }
run "$malleable" replay "$trace"
ok "what a user wrote into a trace reaches no terminal" all_of "exits 0" "says '^step 1'" \
	"harmless $work/out"
run "$malleable" replay "$work/user/wrong"
ok "wrong words in a trace reach no terminal" all_of "exits 1" "complains 'it is no trace'" \
	"harmless $work/err"
run "$tools/malleable-convert" --to=paraver -o "$work/other.prv" "$trace"
ok "no file made of a trace has what a user wrote for terminals" \
	all_of "exits 0" "harmless $work/other.row"
for suffix in html csv json; do
	"${user[@]}" ln -s "$work/precious" "$trace.$suffix"
done
echo precious >"$work/precious"
beside() {
	[ -x "$tools/malleable-report" ] || return 1
	run "$tools/malleable-report" "$1" && fails || return 1
	run "$tools/malleable-convert" --to=csv "$1" && fails || return 1
	run "$tools/malleable-convert" --to=perfetto "$1" && fails || return 1
	grep -qx precious "$work/precious"
}
chmod 644 "$trace"
mine=$work/mine
mkdir "$mine"
cp "$work/plain" "$mine/trace"
for suffix in html csv json; do
	ln "$work/precious" "$mine/trace.$suffix"
done
ok "links beside a trace lead root to no other file" all_of "beside $trace" "beside $mine/trace"
if full; then
	mkdir "$work/books"
	{
		printf '{"version": 1, "policy": "auto", "ranks": 0, "x": [0'
		yes ,0 | tr -d '\n' | head -c 7000000
		echo ']}'
	} >"$work/books/1.json"
	for book in $(seq 2 40); do ln "$work/books/1.json" "$work/books/$book.json"; done
	"${user[@]}" sh -c 'until kill -STOP $(pgrep -u 65534 -x malleable-acct); do :; done' \
		>/dev/null 2>&1 &
	stopper=$!
	MALLEABLE_PATIENCE=1 run "$tools/malleable-acct" "$work/books"
	ok "a reader of reports that a user stops does not hold root up" all_of "exits 1" \
		"complains 'stopped or killed'"
	kill $stopper 2>/dev/null
	wait $stopper 2>/dev/null
fi

# The environment.
long=$(printf '/lib/x86_64-linux-gnu/libm.so.6:%.0s' $(seq 400))
run env LD_PRELOAD="$long" srun -Q -n1 --balance --balance-report=off sh \
	-c 'echo "<${#LD_PRELOAD}>"'
ok "a long LD_PRELOAD is kept, and it is said that the step runs unbalanced" \
	all_of "exits 0" "says '^<${#long}>$'" \
	"complains 'LD_PRELOAD is longer than .* bytes; the step runs unbalanced'"
cat >"$work/signalled" <<SH
#!/bin/sh
# Runs the load, which ignores the signal, and prints when it gets one.
(trap '' USR2; exec $load --work=4,2 --regions=2 --iterations=1 --until=$work/stop) &
trap 'echo got USR2' USR2
wait \$!
wait \$!
SH
chmod 755 "$work/signalled"
begin srun -J signalled -n2 --balance "$work/signalled"
wait_until computes
scancel --signal=USR2 --full "$(job_of signalled).0"
all_got_it() { [ "$(grep -c 'got USR2' "$work/out")" = 2 ]; }
ok "a signal for all of a step reaches its tasks" wait_until all_got_it
ended
ok "a signal for all of a step does not end its controller" \
	all_of "exits 0" "complains 'policy auto, 2 ranks'"
ok "nothing is left" all_of nothing_left "wait_until no_directory"
ok "the node is idle" node_idle
done_testing
