#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Users against the node's agent: claims end with their steps, nobody fills it up, suspended steps
# leave their CPUs to others.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/faults.sh"
need_cluster
need agent
command -v python3 >/dev/null || skip_all "needs python3"
[ ! -e /run/malleable.agent ] || skip_all "an agent runs on this machine already"
id games >/dev/null 2>&1 && id news >/dev/null 2>&1 || skip_all "needs the users games and news"
users_read
PATIENCE=1 start_cluster --plugin-args "coschedule@shared=yes log=no comment=no"
cp "$load" "$work/first" && cp "$load" "$work/second"
log=$BALANCE_CLUSTER/slurmd.log
agent() { pids_of malleable-agent; }
# job USER NAME: a job on both CPUs, one rank with two threads, in the background, until leave NAME.
declare -A srun
job() {
	rm -f "$work/leave.$2"
	(cd / && exec setpriv --reuid="$1" --regid="$1" --clear-groups env HOME=/ timeout -k 5 600 \
		srun -D / -Q -p shared -n1 -c2 --balance=auto --balance-report=off "$work/$2" \
		--work=10 --iterations=1 --until="$work/leave.$2") \
		>"$work/$2.out" 2>&1 </dev/null 8>&- &
	srun[$2]=$!
}
leave() {
	local name
	for name in "$@"; do
		: >"$work/leave.$name"
		wait "${srun[$name]}"
	done
}
cpus_of() {
	"$stage/bin/malleable" status --here --json 2>/dev/null |
		jq -r "sort_by(.step) | .[$1].ranks[0].cpus"
}
cpus_of_job() {
	"$stage/bin/malleable" status --here --json 2>/dev/null |
		jq -r ".[] | select(.step == \"$1.0\") | .ranks[0].cpus"
}
job_has() { [ "$(cpus_of_job "$1")" = "$2" ]; }
has() { [ "$(cpus_of "$1")" = "$2" ]; }
wait_until living malleable-agent

cat >"$work/thief.py" <<'PY'
# thief.py USER CONTROLLER: takes the controller's connection to the agent, by any means,
# and keeps it as USER.
import ctypes, os, pwd, socket, sys, time
user = pwd.getpwnam(sys.argv[1]); pid = int(sys.argv[2]); libc = ctypes.CDLL(None, use_errno=True)
process = libc.syscall(434, pid, 0)
kept = []
for name in os.listdir(f"/proc/{pid}/fd"):
    if os.readlink(f"/proc/{pid}/fd/{name}").startswith("socket:"):
        s = socket.socket(fileno=libc.syscall(438, process, int(name), 0))
        try: there = s.getpeername()
        except OSError: there = None
        if there == "/run/malleable.agent": kept.append(s)
os.setgroups([]); os.setgid(user.pw_gid); os.setuid(user.pw_uid); os.setsid()
print("kept", len(kept), flush=True)
time.sleep(1000)
PY
cat >"$work/claims.py" <<'PY'
# claims.py UID COUNT SECONDS [ROUNDS]: claims of a user on CPU 0, as slurmstepd makes them; says
# how they are answered, and keeps them, or makes and ends them in rounds.
import os, socket, struct, sys, time
user, count, seconds = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 1
kept, said = [], {}
for _ in range(rounds):
    for i in range(count):
        s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        s.settimeout(100); s.connect("/run/malleable.agent")
        read, write = os.pipe()
        claim = struct.pack("=IIIIIII4x", 2, 1, user, 1000 + i, 0, 1, 1) + bytes([1]) + bytes(127)
        try: socket.send_fds(s, [claim], [read])
        except OSError: pass
        os.close(read)
        answer = s.recv(4096)
        verdict = struct.unpack("=II", answer)[1] if len(answer) == 8 else "none"
        said[verdict] = said.get(verdict, 0) + 1
        kept += [s, write]
    if rounds > 1:
        for each in kept: each.close() if hasattr(each, "close") else os.close(each)
        kept = []
print(" ".join(f"{verdict}:{said[verdict]}" for verdict in sorted(said)), flush=True)
time.sleep(seconds)
PY

# steal: the first controller's connection.
steal() {
	rm -f "$work/thief"
	python3 "$work/thief.py" games "$(pids_of malleabled | head -n1)" >"$work/thief" 8>&- &
	thief=$!
	wait_until grep -qs '^kept 1' "$work/thief"
}
job games first
wait_until has 0 0-1
# Whoever has the pipe's other end can keep the claim.
holders() {
	local inode
	inode=$(find /proc/[0-9]*/fd -lname 'pipe:*' -printf '%h %l\n' 2>/dev/null |
		awk -v agent="/proc/$(agent)/fd" '
		{split($1, part, "/"); who[$2] = who[$2] " " part[3]} $1 == agent {its[$2] = 1}
		END {for (pipe in its) print who[pipe]}')
	for pid in $inode; do cat "/proc/$pid/comm"; done | sort -u | tr '\n' ' '
}
ok "slurmd, slurmstepd and the agent alone have the ends of its pipes" [ "$(holders)" = \
	"malleable-agent slurmd slurmstepd " ]
ok "a user may come by the connection of the own step" steal
leave first
job news second
ok "it is worth nothing when the step is over: another user has all CPUs, while it is held" \
	all_of "wait_until has 0 0-1" "kill -0 $thief"
leave second
kill "$thief"
ok "nothing is left of these" nothing_left
job games first
wait_until has 0 0-1
steal
# slurmstepd dies, and what it leaves behind with it.
lost=$(squeue -h -t RUNNING -n first -o %A)
kill -KILL "$(stepd_of "$lost")"
pids_of first | xargs kill -KILL
job news second
other() { squeue -h -t RUNNING -n second -o %A; }
ok "nor when slurmstepd was killed" wait_until eval 'job_has "$(other)" 0-1'
kill "$thief"
leave second
# srun waits for a slurmstepd that is no more.
scancel --signal=KILL "$lost"
kill "${srun[first]}"
wait "${srun[first]}"
wait_until no_jobs
remove_lost

# Too many.
python3 "$work/claims.py" 5 20 1000 >"$work/five" &
claims=($!)
wait_until test -s "$work/five"
ok "a user has 16 claims at most, and is told so" grep -qx '1:16 3:4' "$work/five"
job news second
ok "another user's step is divided beside them" wait_until has 0 1
leave second
for user in 6 7 8; do
	python3 "$work/claims.py" $user 16 1000 >"$work/claims.$user" &
	claims+=($!)
done
for user in 6 7 8; do wait_until test -s "$work/claims.$user"; done
run python3 "$work/claims.py" 9 3 0
ok "with 64 it is full, and says so" says '^2:3$'
job news second
leave second
full="takes turns with others: too many steps share CPUs on this node"
ok "a step that finds it full runs as ever, with a line in slurmd's log" \
	all_of "grep -q '^elapsed' $work/second.out" \
	"[ \"\$(grep -c '$full' '$log')\" = 1 ]"
kill "${claims[@]}"
wait "${claims[@]}" 2>/dev/null

# Suspended.
job games first
wait_until has 0 0-1
first=$(squeue -h -t RUNNING -n first -o %A)
job news second
wait_until job_has "$first" 0
wait_until eval '[ -n "$(other)" ]'
second=$(other)
scontrol suspend "$first"
ok "a suspended job leaves its CPUs to others" wait_until job_has "$second" 0-1
# Its controller gives no answer, whether it is suspended with it or not.
controller=$(pids_of malleabled | sort -n | head -n1)
kill -STOP "$controller"
run python3 "$work/claims.py" 8 2 0 300
ok "others come and go all the while" says '^1:600$'
kill -CONT "$controller"
scontrol resume "$first"
ok "when it goes on it has its part again" wait_until \
	all_of "job_has $first 0" "job_has $second 1"
if full; then
	ok "the agent is at rest" \
		[ "$(awk '{print $14 + $15 < 200}' "/proc/$(agent)/stat")" = 1 ]
fi
leave first second
ok "nothing is left" nothing_left
done_testing
