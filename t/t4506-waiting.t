#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# What a user leaves unread, or makes too many of: no step's start and no step's end waits for it.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/faults.sh"
need_cluster
ordinary_users
mkdir -m 777 "$work/user"
start_cluster

# Standard error is a pipe that is full, that somebody has open, and that nobody reads.
cat >"$work/user/fill.py" <<'PY'
import fcntl, os, subprocess, sys
# MPI's launcher may be at the other end of a descriptor (PMI_FD).
subprocess.run(sys.argv[1:], stderr=subprocess.DEVNULL, close_fds=False)
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
no_stepd() { ! pgrep -f '^slurmstepd: \[' >/dev/null; }
# unread ARGUMENTS: such a step; the seconds that its slurmstepd lives on, into $took.
unread() {
	rm -f "$work/user/filled"
	begin "${user[@]}" FILLED="$work/user/filled" srun -D / -Q -n1 -e "$work/user/error.%n" \
		"$@" python3 "$work/user/fill.py" "$load" --iterations=3
	wait_until test -s "$work/user/filled"
	local since=$SECONDS
	ends=no
	wait_until no_stepd && ends=yes
	took=$((SECONDS - since))
	ended
}
users_deadlines
unread --balance
ok "a standard error that nobody reads: the step ends" [ $ends = yes ]
ok "the report of a step whose standard error nobody reads is in no one's way" \
	all_of "says '^elapsed'" nothing_left
if full; then
	balanced=$took
	unread
	echo "# $took s without, $balanced s with --balance"
	ok "a step beside that takes no longer" test "$balanced" -le $((took + 4))
fi
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
# races: the longest end of ten such steps, in ms.
races() {
	local try racer since
	longest=0
	for try in $(seq 10); do
		rm -f "$work/user/error.0" "$work/user/ended"
		mkfifo -m 666 "$work/user/error.0"
		"${user[@]}" python3 "$work/user/race.py" "$work/user/error.0" \
			"$work/user/ended" $((1 + try % 8)) >"$work/race.out" &
		racer=$!
		wait_until grep -q full "$work/race.out"
		begin "${user[@]}" srun -D / -Q -n2 -e "$work/user/error.%n" --balance sh -c \
			"$load --iterations=3 2>/dev/null; touch $work/user/ended"
		wait_until test -e "$work/user/ended"
		since=$(date +%s%N)
		wait_until no_stepd
		took=$((($(date +%s%N) - since) / 1000000))
		[ "$took" -le "$longest" ] || longest=$took
		kill $racer
		wait $racer 2>/dev/null
		ended
	done
}
if full; then
	races
	echo "# the longest end of ten: $longest ms"
	ok "a standard error that fills meanwhile holds no step up" test "$longest" -lt 4500
fi
if ! full; then long_deadlines; fi
run "${user[@]}" srun -D / -Q -n1 --balance "$load" --iterations=3
ok "where it is read the report is there" all_of "exits 0" "complains '^balance: step'" \
	"complains 'overhead'"

# What another job left: very many entries, and very many directories where a controller was killed.
# pooled: a step with grow=job; the milliseconds it takes into $took.
pooled() {
	local since
	since=$(date +%s%N)
	run "${other[@]}" srun -D / -n1 "--balance=auto,grow=job" "$load" --iterations=3
	took=$((($(date +%s%N) - since) / 1000000))
}
# in_time WHAT: in a full run, no longer than without.
in_time() {
	full || return 0
	echo "# $alone ms without, $took ms beside it"
	ok "$1" test "$took" -lt $((alone + 3000))
}
full && pooled
alone=${took:-}
mkdir -p /run/malleable && chmod 755 /run/malleable
mkdir -m 700 /run/malleable/900001
touch /run/malleable/900001/lock
echo "1 /nowhere" >/run/malleable/900001/cgroup
for step in $(seq 3000); do echo "0 - 0 $$ -" >"/run/malleable/900001/$step"; done
pooled
rm -rf /run/malleable/900001
ok "a step beside a job of very many is balanced" all_of "exits 0" "complains '^balance: step'"
in_time "a step beside a job of very many starts in time"

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
		>/dev/null 2>&1 </dev/null 8>&- &
	crowd=$!
	wait_until test -e "$work/user/crowd"
	pids_of malleabled | xargs kill -KILL
	pooled
	touch "$work/user/crowd.seen"
	ok "as one beside a step of very many directories" \
		all_of "exits 0" "complains '^balance: step'"
	in_time "which starts in time too"
	wait "$crowd"
else
	skip "as one beside a step of very many directories" "users make none under cgroup v2"
fi
done_testing
