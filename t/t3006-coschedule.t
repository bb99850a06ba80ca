#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# coschedule=yes: jobs that were given the same CPUs divide them, and take them back when the other
# ends; without an agent they take turns.
. "$(dirname "$0")/lib.sh"
need_cluster
need agent
[ ! -e /run/malleable.agent ] || skip_all "an agent runs on this machine already"
start_cluster --plugin-args "coschedule@shared=yes log=no"
socket=/run/malleable.agent
agent() { pids_of malleable-agent; }
gone() { ! living malleable-agent && [ ! -e $socket ]; }
ok "slurmd starts an agent" all_of "wait_until living malleable-agent" "[ -S $socket ]" \
	'grep -q -- "--patience=$MALLEABLE_PATIENCE" "/proc/$(agent)/cmdline"'
ok "which is not root's" [ "$(awk '/^Uid/ {print $2, $3, $4, $5}' "/proc/$(agent)/status")" = \
	"65534 65534 65534 65534" ]
cp "$load" "$work/first" && cp "$load" "$work/second"

# job NAME [SRUN-OPTIONS]: a job on both CPUs, one rank with two threads if not said otherwise, in
# the background until it is told to stop.
job() {
	local ranks=("${@:2}")
	[ $# -gt 1 ] || ranks=(-n1 -c2)
	rm -f "$work/$1.stop"
	srun -Q -p shared --balance=auto --balance-report="$work/$1.json" "${ranks[@]}" \
		"$work/$1" --work=10 --iterations=1 --until="$work/$1.stop" \
		>"$work/$1.out" 2>"$work/$1.err" 8>&- &
}
# short SRUN-OPTIONS: the second one, to its end.
short() {
	run srun -Q -p shared --balance=auto --balance-report=off "$@" "$work/second" --work=10 \
		--iterations=3
}
status_of() { "$stage/bin/malleable" status --here --json 2>/dev/null | jq -r "$1" 2>/dev/null; }
cpus_of() { status_of "sort_by(.step) | .[$1].ranks[0].cpus"; }
has() { [ "$(cpus_of "$1")" = "$2" ]; }
has_computed() { [ "$(status_of "sort_by(.step) | .[$1].windows > 0")" = true ]; }
both() { has 0 "$1" && has 1 "$2"; }
end() {
	touch "$work/first.stop" "$work/second.stop"
	wait
}
# masks NAME: all CPUs that threads of that program may run on.
masks() {
	for pid in $(pids_of "$1"); do cat /proc/"$pid"/task/*/status; done 2>/dev/null |
		awk '/^Cpus_allowed_list/ {print $2}' | sort -u | xargs
}
apart() { [ "$(masks first)" = 0 ] && [ "$(masks second)" = 1 ]; }
job first
wait_until has 0 0-1
job second
ok "two jobs on the same CPUs divide them" wait_until both 0 1
ok "no thread of one may run on a CPU of the other" wait_until apart
if full; then
	"$srcdir/t/watch.py" 2 first second >"$work/masks"
	never_together() {
		awk '$2 != "-" && $3 != "-" {looks++; if ($2 == $3 || $2 ~ /,/ || $3 ~ /,/) bad++}
			END {exit !(looks > 20) || bad > 0}' "$work/masks"
	}
	ok "seen every 10 ms for 2 s" never_together
fi
status_of . >"$work/json"
run "$stage/bin/malleable" status --here
ok "malleable status says so" all_of "jq -e '.[0].share == \"0\"' '$work/json' >'$work/log'" \
	"says '^  beside other jobs: CPUs 0$'"
touch "$work/second.stop"
ok "when one ends the other has all again" wait_until has 0 0-1
job second
wait_until both 0 1
kill -9 "$(agent)"
ok "the agent killed: both go on with all CPUs" wait_until both 0-1 0-1
end
ok "and end well" all_of "jq -e .version $work/first.json >'$work/log'" \
	"grep -q '^elapsed' $work/second.out" nothing_left
short -n1 -c2
ok "a step without an agent runs as ever" all_of "exits 0" "says '^elapsed'" "[ ! -s $work/err ]"
"$srcdir/contrib/cluster" stop >/dev/null
ok "slurmd's end is the agent's, and nothing is left of it" wait_until gone

start_cluster --plugin-args "coschedule=yes log=no"
wait_until living malleable-agent
job first
wait_until has 0 0-1
job second
wait_until both 0 1
pids_of malleabled | sort -n | head -n1 | xargs kill -9
alone() { [ "$(cpus_of 0)" = 0-1 ] && [ "$(cpus_of 1)" = null ]; }
ok "a controller killed: the other step has all CPUs, beside a job that shares nothing" wait_until \
	alone
end
job first
wait_until has 0 0-1
job second -n2 -c1
wait_until has_computed 1
ok "a step with more ranks than its part would have CPUs takes turns" \
	[ "$(status_of 'map(.share) | @csv')" = '"0-1","0-1"' ]
touch "$work/second.stop"
wait %%
ok "and ends well" grep -q '^elapsed' "$work/second.out"
# Nobody is waited for so long here.
deadlines() { sed -i "s/patience=[0-9]*/patience=$1/" "$BALANCE_CLUSTER/plugstack.conf"; }
controller=$(pids_of malleabled)
kill -STOP "$controller"
deadlines 1
short -n1 -c2
deadlines "$MALLEABLE_PATIENCE"
kill -CONT "$controller"
ok "a controller that does not answer holds nobody up" all_of "exits 0" "says '^elapsed'"
wait_until has 0 0-1

# Others at the socket.
cat >"$work/talk.py" <<'PY'
import os, socket, struct, sys
if len(sys.argv) > 2: os.setgid(65534); os.setuid(65534)
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET); s.settimeout(60)
try: s.connect("/run/malleable.agent")
except OSError as e: print("refused", e.strerror); sys.exit()
cpus = bytes([3]) + bytes(127)
ours, its = os.pipe()
# As root's plugin says it: version, kind, user, job, step, weight, least, CPUs; with the read end
# of a pipe.
def hello(version, cpus, kind=1):
    claim = struct.pack("=IIIIIII4x", version, kind, 0, 99, 0, 1, 1) + cpus
    socket.send_fds(s, [claim], [ours])
what = sys.argv[1]
try:
    if what == "slurmd":
        hello(2, bytes(128), 2); os.close(ours)
        print("adopted", flush=True); sys.stdin.read()
    if what == "nonsense": s.send(b"x" * 300)
    if what == "version": hello(7, cpus)
    if what == "nothing": hello(2, bytes(128))
    if what == "flood":
        hello(2, cpus)
        for _ in range(100000): s.send(b"x" * 40)
    print("closed" if s.recv(4096) == b"" else "answered")
except (BrokenPipeError, ConnectionResetError): print("closed")
except TimeoutError: print("waits")
PY
run python3 "$work/talk.py" nonsense user
ok "the socket is not for users" says 'refused Permission denied'
for what in nonsense version nothing; do
	run python3 "$work/talk.py" $what
	says '^closed$' || break
done
ok "nonsense, another version, no CPUs: the connection is closed" says '^closed$'
run python3 "$work/talk.py" flood
ok "who talks without end is left out" all_of "says '^closed$'" "wait_until has 0 0-1"
if full; then
	"$srcdir/t/watch.py" 1 malleable-agent >/dev/null
	ok "the agent is at rest" \
		[ "$(awk '{print $14 + $15 < 100}' "/proc/$(agent)/stat")" = 1 ]
fi
read_twice() { [ "$(grep -c 'CPU frequency setting' "$BALANCE_CLUSTER/slurmd.log")" -gt 1 ]; }
scontrol reconfigure
wait_until read_twice
job second
ok "slurmd configured anew: running steps and new ones are divided" wait_until both 0 1
end
# Another slurmd, that has come before the first ends.
mkfifo "$work/hold"
python3 "$work/talk.py" slurmd <"$work/hold" >"$work/adopted" &
exec 7>"$work/hold"
wait_until grep -q adopted "$work/adopted"
"$srcdir/contrib/cluster" stop >/dev/null
ok "slurmd's end is not the agent's where another slurmd has come" \
	all_of "living malleable-agent" "[ -S $socket ]"
exec 7>&-
wait
ok "but that one's is" wait_until eval '! living malleable-agent'
ok "nothing is left at the end" nothing_left
rm -f $socket
done_testing
