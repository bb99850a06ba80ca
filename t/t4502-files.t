#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Files, sockets and locks that users share: none of them leads root or another user astray.
. "$(dirname "$0")/lib.sh"
need_cluster
ordinary_users
mkdir -m 777 "$work/reports" "$work/user"
PATIENCE=1 start_cluster --plugin-args "report_dir=$work/reports"
plan 25
host=$(hostname -s)
malleable=$stage/bin/malleable
waits() {
	"${user[@]}" srun -Q -D / -n1 --balance --balance-report=off sleep "$1" \
		>"$work/step.out" 2>&1 &
	step=$!
	wait_until socket_is_there
}
socket_is_there() {
	socket=$(find /run/malleable/sockets -type s 2>/dev/null | head -n1) && [ -n "$socket" ]
}

# report_dir: somebody has put links where the next reports will be.
echo precious >"$work/user/precious"
chown 65534 "$work/user/precious"
for job in $(seq 1 25); do
	"${other[@]}" ln -s "$work/user/precious" "$work/reports/$job.0.$host.json"
done
for _ in $(seq 20); do
	"${user[@]}" srun -Q -D / -n2 --balance --balance-report=off "$load" --iterations=1 \
		>/dev/null 2>"$work/err"
done
ok "links in report_dir empty nobody's file" grep -qx precious "$work/user/precious"
reports() { find "$work/reports" -type f -user 65534 -name '*.json.1' | wc -l; }
ok "the reports are there, under other names, and the user's" test "$(reports)" -eq 20
find "$work/reports" -mindepth 1 -delete
chmod 755 "$work/reports"
run "${user[@]}" srun -Q -D / -n2 --balance --balance-report=off "$load" --iterations=3
whole() { jq -e '.ranks == 2' "$work"/reports/*.json >/dev/null; }
ok "a report_dir that root alone may write has them too" all_of "exits 0" whole

# Files of the user's own that would stop whoever opens them.
mkfifo -m 666 "$work/user/fifo"
run "${user[@]}" srun -Q -D / -n2 --balance --balance-report="$work/user/fifo" \
	--balance-trace="$work/user/fifo" "$load" --iterations=3
ok "a pipe as report or trace is refused, and the step ends" \
	all_of "exits 0" "complains 'cannot write the report to .*fifo: not a file or device'"
run "${user[@]}" srun -Q -D / -n2 --balance --balance-report=/dev/full "$load" --iterations=3
ok "a full disk is said" all_of "exits 0" "complains 'cannot write the report to /dev/full'"

# Sockets.
waits 300
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
squat() {
	python3 - "$1" <<'PY'
import os, socket, sys, time
os.setuid(1)
held = []
for pid in range(int(sys.argv[1]), int(sys.argv[1]) + 3000):
    try:
        s = socket.socket(socket.AF_UNIX); s.bind("\0malleabled.%d" % pid); held.append(s)
    except OSError:
        pass
print("ready", flush=True)
time.sleep(20)
PY
}
(ulimit -n 8192; squat "$$") >"$work/squat.out" &
squatter=$!
wait_until grep -q ready "$work/squat.out"
scancel --user=nobody
wait "$step"
waits 60
run "${user[@]}" "$malleable" status --here
ok "names that somebody else has taken do not hide a step" \
	all_of "exits 0" "says '^[0-9]+\.0 +$host'"
pkill -P $squatter 2>/dev/null || kill $squatter
controller=$(pids_of malleabled)
kill -STOP "$controller"
begin=$SECONDS
run "$malleable" status --here
ok "root's status does not wait for a stopped controller without end" \
	all_of "exits 1" "complains 'no answer from $socket'" \
	"[ $((SECONDS - begin)) -lt 10 ]"
kill -CONT "$controller"
run "$malleable" status --here --json
ok "root sees the steps of users" all_of "exits 0" "says '\"uid\":65534'"
scancel --user=nobody
wait "$step"
ok "the socket goes with its step" eval '! socket_is_there'

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
              b'"ranks":[],"cpus":"\\u001b[2J\\u001b]0;owned\\u0007","share":"y"}')
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
flock /run/malleable/900001/lock sleep 30 &
holder=$!
for job in $(seq 900002 900008); do
	flock "/run/malleable/$job/lock" sleep 30 &
	holder="$holder $!"
done
time_of() {
	local begin
	begin=$(date +%s%N)
	"$@" >/dev/null 2>&1
	echo $((($(date +%s%N) - begin) / 1000000))
}
without=$(time_of "${user[@]}" srun -Q -D / -n1 true)
with=$(time_of "${user[@]}" srun -Q -D / -n1 --balance=auto,grow=job --balance-report=off true)
# shellcheck disable=SC2086 # several
kill $holder
echo "# $without ms without, $with ms with grow=job while eight locks of other jobs are held"
ok "locks of other jobs are not waited for" test "$with" -lt $((2 * without + 2000))
rm -rf /run/malleable/9000*

# A controller that is killed before its step looks after no CPUs any more.
cat >"$work/job.sh" <<JOB
srun -Q --exact -n1 -c1 --balance=auto,grow=job --balance-report=off sleep 100 &
while [ ! -e $work/user/killed ]; do sleep 0.1; done
srun -Q --exact -n1 -c1 --balance=auto,grow=job --balance-report=off sleep 4 &
second=\$!
wait \$second
scancel \$SLURM_JOB_ID.0
wait
JOB
cpuset_of() {
	cat /sys/fs/cgroup/cpuset/slurm*/uid_65534/job_*/step_"$1"/cpuset.cpus \
		/sys/fs/cgroup/system.slice/*/job_*/step_"$1"/user/cpuset.cpus 2>/dev/null
}
"${user[@]}" salloc -Q -D / -n2 -c1 bash "$work/job.sh" >/dev/null 2>&1 &
job=$!
wide() { [ "$(cpuset_of 0)" = 0-1 ]; }
ok "a step with grow=job has the job's CPUs" wait_until wide
kill -KILL "$(pids_of malleabled)"
touch "$work/user/killed"
one_cpu() { [ "$(cpuset_of 0)" = "$1" ]; }
ok "where its controller was killed it has its own alone, when another step comes" wait_until \
	eval 'one_cpu 0 || one_cpu 1'
wait $job
ok "and nothing is left of it" eval '! [ -e /run/malleable ]'

# Files of a user that root looks at.
trace=$work/user/trace
"$malleable" replay --generate=drift --ranks=2 --cpus=2 --windows=9 --policy=off \
	--output="$work/plain" >/dev/null
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
ok "nor do words that are wrong in it" all_of "exits 1" "complains 'line 1'" "harmless $work/err"
run "$malleable" convert --to=paraver -o "$work/other.prv" "$trace"
ok "nor the files made of it" all_of "exits 0" "harmless $work/other.row"
for suffix in html csv json; do
	"${user[@]}" ln -s "$work/precious" "$trace.$suffix"
done
echo precious >"$work/precious"
beside() {
	run "$malleable" report "$1" && fails || return 1
	run "$malleable" convert --to=csv "$1" && fails || return 1
	run "$malleable" convert --to=perfetto "$1" && fails || return 1
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
mkdir "$work/books"
{
	printf '{"version": 1, "policy": "auto", "ranks": 0, "x": [0'
	yes ,0 | tr -d '\n' | head -c 7000000
	echo ']}'
} >"$work/books/1.json"
for book in $(seq 2 40); do ln "$work/books/1.json" "$work/books/$book.json"; done
"${user[@]}" sh -c 'until kill -STOP $(pgrep -u 65534 -x malleable); do :; done' >/dev/null 2>&1 &
stopper=$!
limit=80 run "$malleable" acct "$work/books"
ok "a reader of reports that a user stops does not hold root up" all_of "exits 1" \
	"complains 'stopped or killed'"
kill $stopper 2>/dev/null
wait $stopper 2>/dev/null

# The environment.
long=$(printf '/lib/x86_64-linux-gnu/libm.so.6:%.0s' $(seq 400))
run env LD_PRELOAD="$long" srun -Q -n1 --balance --balance-report=off sh \
	-c 'echo "<${#LD_PRELOAD}>"'
ok "a long LD_PRELOAD is kept, and it is said that the task runs unbalanced" \
	all_of "exits 0" "says '^<${#long}>$'" \
	"complains 'LD_PRELOAD is longer than .* bytes; the task runs unbalanced'"
(wait_until living load; sleep 1; scancel --signal=USR2 --full "$(squeue -h -o %A |
	head -n1)" 2>/dev/null) &
run srun -n2 --balance sh -c "trap '' USR2; exec $load --iterations=12 --work=40,40"
ok "signals for all of a step do not end its controller" \
	all_of "exits 0" "complains 'policy auto, 2 ranks'"
wait
ok "nothing is left" all_of nothing_left "! [ -e /run/malleable ]"
ok "the node is idle" \
	wait_until eval '[[ $(sinfo -h -o %T) =~ ^(idle|planned)$ ]]'
