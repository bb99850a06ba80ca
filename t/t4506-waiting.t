#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# What a user leaves unread, or makes too many of: no step's start and no step's end waits for it.
. "$(dirname "$0")/lib.sh"
need_cluster
ordinary_users
mkdir -m 777 "$work/user"
PATIENCE=1 start_cluster
plan 7

# Standard error is a pipe that is full, that somebody has open, and that nobody reads.
cat >"$work/user/fill.py" <<'PY'
import fcntl, os, subprocess, sys
subprocess.run(sys.argv[1:], stderr=subprocess.DEVNULL)
flags = fcntl.fcntl(2, fcntl.F_GETFL)
fcntl.fcntl(2, fcntl.F_SETFL, flags | os.O_NONBLOCK)
for size in (4096, 1):
    try:
        while True:
            os.write(2, b"x" * size)
    except BlockingIOError:
        pass
# It is the same open pipe in slurmstepd.
fcntl.fcntl(2, fcntl.F_SETFL, flags & ~os.O_NONBLOCK)
open(os.environ["FILLED"], "w").write("filled")
PY
mkfifo -m 666 "$work/user/error.0"
"${user[@]}" sh -c "exec 3<>$work/user/error.0; exec sleep 1000" 8>&- &
holder=$!
stepd() { pgrep -f '^slurmstepd: \[' >/dev/null; }
# full ARGUMENTS: such a step; the seconds that its slurmstepd lives on, into $took.
full() {
	rm -f "$work/user/filled"
	"${user[@]}" FILLED="$work/user/filled" timeout 60 srun -D / \
		-Q -n1 -e "$work/user/error.%n" "$@" python3 "$work/user/fill.py" "$load" \
		--iterations=3 \
		>"$work/out" 2>"$work/err" &
	wait_until test -s "$work/user/filled"
	local begin=$SECONDS
	wait_until eval '! stepd'
	took=$((SECONDS - begin))
	wait $!
}
full
without=$took
full --balance
echo "# $without s without, $took s with --balance"
ok "a standard error that nobody reads: the step ends" test "$took" -le $((without + 4))
ok "and the report of its step is in no one's way" all_of "says '^elapsed'" nothing_left
kill $holder

# Or a pipe that is empty when somebody looks, and full when that somebody writes.
cat >"$work/user/race.py" <<'PY'
import fcntl, os, random, sys, time
path, ended, lines = sys.argv[1], sys.argv[2], int(sys.argv[3])
out = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
into = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
fcntl.fcntl(into, 1031, 8192)
def fill():
    for size in (4096, 1):
        try:
            while True: os.write(into, b"x" * size)
        except BlockingIOError: pass
fill()
print("full", flush=True)
while not os.path.exists(ended): time.sleep(0.001)
seen = 0
while seen < lines:
    text = os.read(out, 4096)
    until = time.perf_counter_ns() + random.randrange(30000)
    while time.perf_counter_ns() < until: pass
    fill()
    seen += b"balance" in text
time.sleep(100)
PY
longest=0
for try in $(seq 10); do
	rm -f "$work/user/error.0" "$work/user/ended"
	mkfifo -m 666 "$work/user/error.0"
	"${user[@]}" python3 "$work/user/race.py" "$work/user/error.0" "$work/user/ended" \
		$((1 + try % 8)) >"$work/race.out" &
	racer=$!
	wait_until grep -q full "$work/race.out"
	"${user[@]}" timeout 60 srun -D / -Q -n2 -e "$work/user/error.%n" --balance sh -c \
		"$load --iterations=3 2>/dev/null; touch $work/user/ended" >/dev/null 2>&1 &
	step=$!
	wait_until test -e "$work/user/ended"
	begin=$(date +%s%N)
	wait_until eval '! stepd'
	took=$((($(date +%s%N) - begin) / 1000000))
	[ "$took" -le "$longest" ] || longest=$took
	kill $racer
	wait $racer $step 2>/dev/null
done
echo "# the longest end of ten: $longest ms"
ok "a standard error that fills meanwhile holds no step up" test "$longest" -lt 4500
run "${user[@]}" srun -D / -Q -n1 --balance "$load" --iterations=3
ok "where it is read the report is there" all_of "exits 0" "complains '^balance: step'" \
	"complains 'overhead'"

# What another job left: very many entries, and very many directories where a controller was killed.
time_of() {
	local begin
	begin=$(date +%s%N)
	"$@" >"$work/out" 2>"$work/err"
	echo $((($(date +%s%N) - begin) / 1000000))
}
pooled=("${other[@]}" timeout 60 srun -D / -n1 "--balance=auto,grow=job" "$load" --iterations=3)
without=$(time_of "${pooled[@]}")
mkdir -p /run/malleable && chmod 755 /run/malleable
mkdir -m 700 /run/malleable/900001
touch /run/malleable/900001/lock
echo "1 /nowhere" >/run/malleable/900001/cgroup
for step in $(seq 3000); do echo "0 - 0 $$ -" >"/run/malleable/900001/$step"; done
with=$(time_of "${pooled[@]}")
rm -rf /run/malleable/900001
echo "# $without ms without, $with ms beside 3000 steps of another job"
ok "a step beside a job of very many starts in time" test "$with" -lt $((without + 3000))
ok "and is balanced" complains '^balance: step'

cpusets=$(awk '$3 == "cgroup" && $4 ~ /cpuset/ {print $2; exit}' /proc/self/mounts)
cat >"$work/user/crowd.py" <<'PY'
import os, signal, sys, time
groups = [line.strip().split(":") for line in open("/proc/self/cgroup")]
own = [path for _, names, path in groups if "cpuset" in names][0]
os.chdir(sys.argv[1] + own)
names = ["task_%d" % i for i in range(20000)]
for name in names:
    os.mkdir(name)
open(os.environ["READY"], "w").write("ready")
while not os.path.exists(os.environ["READY"] + ".seen"):
    time.sleep(0.1)
for name in names:
    os.rmdir(name)
PY
if [ -n "$cpusets" ]; then
	"${user[@]}" READY="$work/user/crowd" srun -D / -Q -n1 --exact --balance=auto,grow=job \
		--balance-report=off python3 "$work/user/crowd.py" "$cpusets" \
		>/dev/null 2>&1 &
	crowd=$!
	wait_until test -e "$work/user/crowd"
	for pid in $(pids_of malleabled); do kill -KILL "$pid" || true; done
	with=$(time_of "${pooled[@]}")
	touch "$work/user/crowd.seen"
	echo "# $without ms without, $with ms beside a step with 20000 directories"
	ok "as one beside a step of very many directories" \
		all_of "[ $with -lt $((without + 3000)) ]" "complains '^balance: step'"
	wait "$crowd" || true
else
	skip "as one beside a step of very many directories" "users make none under cgroup v2"
fi
