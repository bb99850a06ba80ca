#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# malleable status, set and top: a running step is seen and changed. Eight CPUs are made up; real
# masks: t/vm/t5004-set.t.
. "$(dirname "$0")/lib.sh"
need_cluster
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
chmod 711 "$work"
malleable=$stage/bin/malleable

# balanced POLICY: two ranks of four threads on eight CPUs that do not exist, in the background.
balanced() {
	begin env FAKE_CPUS=8 LD_PRELOAD="$programs/fakecpus.so" KMP_AFFINITY=disabled \
		OMP_WAIT_POLICY=passive OMP_NUM_THREADS=4 \
		"$malleable" run --libdir "$stage/lib/malleable" --balance="$1" -- \
		"${mpirun[@]}" -n 2 "$load" --units=200000 --chunks=64 \
		--iterations=1 --until="$work/stop" --regions=4 --work=10,10
	wait_until computes
}
status_of() { "$malleable" status --here --json 2>/dev/null | jq -r "$1" 2>/dev/null; }
has() { [ "$(status_of "$1")" = true ] || { echo "# not true: $1"; status_of .; false; }; }
soon_has() { wait_until has "$1" >/dev/null || has "$1"; }
set_to() { run "$malleable" set "$@"; }

balanced external
run "$malleable" status
ok "status shows the step" all_of "exits 0" "says '^mpirun\.[0-9]+ +[^ ]+ +external +2 0-7'"
run "$malleable" status mpirun --ranks
ok "status shows the step's ranks" all_of "exits 0" "says '^ +0 +4 0-3 '" "says '^ +1 +4 4-7 '"
ok "status shows ranks as JSON" has \
	'.[0] | .version == 1 and (.step | test("^mpirun[.][0-9]+$")) and (.ranks | length) == 2 and .ranks[1].cpus == "4-7"'
# A step without ranks, of the same name.
name=$(status_of '.[0].step')
printf '#!/bin/sh\nuntil [ -e %s/enough ]; do sleep 0.1; done\n' "$work" >"$work/mpirun"
chmod +x "$work/mpirun"
"$malleable" run --libdir "$stage/lib/malleable" -- "$work/mpirun" >"$work/beside" 2>&1 8>&- &
beside=$!
wait_until has 'length == 2' >/dev/null
ok "each has a name of its own" has '[.[].step] | unique | length == 2'
set_to mpirun.0 --count=6
ok "an order that may mean two steps reaches none" all_of "exits 1" \
	"complains '^malleable set: mpirun.0 may be any of 2 steps: mpirun.[0-9]+ mpirun.[0-9]+$'" \
	"[ \$(wc -l <'$work/err') = 1 ]" "has 'all(.[].ranks[]; .order.min == 0)'"
set_to "$name.0" --count=4
ok "the whole name means one" exits 0
set_to "$name" --free
: >"$work/enough"
wait "$beside"
set_to mpirun.0 --count=6
ok "set --count moves CPUs while it runs" all_of "exits 0" \
	"soon_has '.[0].ranks[0].count == 6 and .[0].ranks[1].count == 2'"
run "$malleable" status --ranks
ok "status shows the bounds that were set" says 'at least 6, at most 6'
set_to mpirun.1 --cpus=4-7
ok "what contradicts it is refused with the reason" \
	all_of "exits 1" "complains 'would need at least 6 CPUs, and there are 4'"
set_to mpirun --free
set_to mpirun.1 --cpus=0-3,7
ok "set --cpus gives a rank just these" all_of "exits 0" \
	"soon_has '.[0].ranks[1].cpus == \"0-3,7\" and .[0].ranks[0].cpus == \"4-6\"'"
ok "a rank keeps the CPUs that set --cpus gave it" has '.[0].ranks[1].order.exact'
set_to mpirun --max=3
ok "bounds that leave CPUs to nobody change no rank" \
	all_of "exits 1" "complains 'belong to no rank'" "has '.[0].ranks[1].order.exact'"
set_to mpirun --free
set_to mpirun --count=4 --wait
ok "set --wait ends when the CPUs have changed hands" \
	all_of "exits 0" "has '[.[0].ranks[].count] == [4, 4]'"
set_to mpirun.0 --cpus=0-3
set_to mpirun.1 --cpus=4-7 --wait
ok "each rank has its CPUs" has '[.[0].ranks[].cpus] == ["0-3", "4-7"]'
set_to mpirun.0 --cpus=4-7
ok "which one order alone does not swap" all_of "exits 1" "complains 'an order gives rank 1 one of'"
printf '%s\n' '# swapped' '0 --cpus=4-7' '' ' 1	--cpus=0-3' >"$work/orders"
set_to mpirun --from="$work/orders" --wait
ok "several in a file do" all_of "exits 0" "has '[.[0].ranks[].cpus] == [\"4-7\", \"0-3\"]'"
set_to mpirun --free
set_to mpirun --count=4
ok "all ranks at once" all_of "exits 0" "soon_has '[.[0].ranks[].count] == [4, 4]'"
# shellcheck disable=SC2046 # words
${CC:-cc} -o "$work/control" "$srcdir/t/programs/control.c" \
	$(linking malleable_control)
control() { run "$work/control" "$@"; }
control steps
ok "a program is told the steps" all_of "exits 0" "says '^$name of 0$'" "says '^0$'"
control status mpirun
ok "a program is told a step's status" all_of "exits 0" "says '\"policy\":\"external\"'"
as_schema() {
	"$malleable" status --here --json | python3 -c '
import json, jsonschema, sys
schema = json.load(open(sys.argv[1]))
jsonschema.Draft7Validator.check_schema(schema)
for step in json.load(sys.stdin):
    jsonschema.validate(step, schema)' "$srcdir/doc/status.schema.json"
}
if python3 -c 'import jsonschema' 2>/dev/null; then
	ok "the status is as its schema has it" as_schema
else
	skip "the status is as its schema has it" "no python3-jsonschema"
fi
"$work/control" events mpirun settled >"$work/events" 2>&1 8>&- &
events=$!
wait_until grep -q '^reads' "$work/events"
control many mpirun $'# swapped\n0 count=6\n\n1 count=2'
ok "a program orders several at once" all_of "exits 0" "says '^0: $'"
control await mpirun 60000
ok "waits until the CPUs have arrived" all_of "says '^1: $'" \
	"has '[.[0].ranks[].count] == [6, 2]'"
wait "$events"
told() { grep -c "\"event\":\"$1" "$work/events"; }
told_all() {
	[ "$(told 'moved",.*"from":1,"to":0') $(told plan) $(told settled)" = "2 1 1" ] ||
		{ sed 's/^/# /' "$work/events" && false; }
}
ok "a program is told what happened" told_all
control cpus mpirun 1
ok "a program is told a rank's CPUs" says '^2 [0-9,-]+: $'
control free mpirun -1
ok "a program removes the orders" all_of "exits 0" "has 'all(.[0].ranks[]; .order.min == 0)'"
mkfifo "$work/until"
"$work/control" hold mpirun 0 5 <"$work/until" >"$work/held" 2>&1 8>&- &
holder=$!
exec 7>"$work/until"
holds() { grep -q '^held' "$work/held" && has '.[0].ranks[0].order.min == 5'; }
ok "a program holds an order" wait_until holds
control set_count mpirun 1 3
kill -9 "$holder"
ok "which ends with it, and no other does" \
	soon_has '.[0].ranks[0].order.min == 0 and .[0].ranks[1].order.min == 3'
exec 7>&-
wait "$holder"
control free mpirun -1
for wrong in "set_cpus mpirun 0 3-9:-4: CPUs 3-9 are not the step" \
	"set_cpus mpirun -1 0:-4: name the rank" "cpus mpirun 7:-5: there is no such rank" \
	"policy mpirun foo:-4: unknown policy" "many mpirun x:-5: line 1: needs a rank" \
	"status mpirun.0:-5: name the step without a rank" "status 77.0:-1: no balanced step 77.0" \
	"status -:-1: this process is in no balanced step"; do
	words=${wrong%%:*}
	# shellcheck disable=SC2086 # words
	control $words
	ok "an error: $words" all_of "exits 1" "says '^${wrong#*:}'"
done
control starved mpirun
ok "without descriptors a step is not gone" all_of "exits 1" \
	"says '^-7 -7: cannot create a socket: Too many open files$'"
control set_cpus mpirun 0 "0 rank=1"
ok "an order is one word" all_of "exits 1" "says '^-5: spaces are not allowed$'"
run setpriv --reuid=65534 --regid=65534 --clear-groups "$work/control" status mpirun
ok "a program does not see another user's step" says '^-1: no balanced step mpirun on this node'
control hidden
ok "a program is told that no step is left out" all_of "exits 0" "says '^0\$'"
# Anybody could have put sockets there.
mkdir -m 777 /tmp/malleable-1
run setpriv --reuid=1 --regid=1 --clear-groups env -u XDG_RUNTIME_DIR "$work/control" hidden
rmdir /tmp/malleable-1
ok "a program is told why steps are left out" all_of "exits 0" \
	"says '^0: /tmp/malleable-1 is not a directory that only you can use\$'"
set_to mpirun --count=4 --wait
set_to mpirun --policy=lewi,keep=yes
ok "another policy from now on" all_of "exits 0" "has '.[0].policy == \"lewi\"'"
refused() { # TEXT ARGUMENTS...
	local says=$1
	shift
	set_to "$@"
	ok "refused: set $*" all_of "fails" "complains '$says'" "[ $(wc -l <"$work/err") = 1 ]"
}
refused "unknown policy .foo.: known are" mpirun --policy=foo
refused "cannot be switched off" mpirun --policy=off
refused "must be between 1 and 8" mpirun.0 --count=9
refused "must be between 1 and 8" mpirun.0 --min=-1
refused "rank 7: must be between 0 and|rank 7 does not run" mpirun.7 --count=1
refused "are not the step.s: it has 0-7" mpirun.0 --cpus=3-9
refused "name the rank: JOB.STEP.RANK" mpirun --cpus=0
refused "needs cpus, count, min and max, free or policy" mpirun.0 --cpus=0 --count=1
refused "spaces are not allowed" mpirun.0 "--cpus=0 rank=1"
refused "wait=0: must be a number from 1 to" mpirun.0 --count=4 --wait=0
refused "give a step and an option" mpirun.0 --wait
refused "No such file" mpirun --from="$work/nonexistent"
refused "from=$work: Is a directory" mpirun --from="$work"
refused "without a rank" mpirun.0 --from="$work/orders"
echo 'x --cpus=0' >"$work/wrong"
refused "line 1: needs a rank and options" mpirun --from="$work/wrong"
refused "there are no orders" mpirun --from=/dev/null
refused "give no other" mpirun --from="$work/orders" --count=4
refused "no balanced step 77.0 on this node" 77.0 --count=1
run setpriv --reuid=65534 --regid=65534 --clear-groups "$malleable" set mpirun.0 --count=4
ok "another user's step is not to be changed" \
	all_of "exits 1" "complains 'no balanced step mpirun.0 on this node'"
run setpriv --reuid=65534 --regid=65534 --clear-groups "$malleable" status
ok "another user's step is not to be seen" \
	all_of "exits 1" "complains 'no balanced step on this node'"
# root becomes the user first, as the command does, or has nothing of what that wrote.
mkdir -m 777 "$work/strange"
setpriv --reuid=65534 --regid=65534 --clear-groups "$malleable" run \
	--libdir "$stage/lib/malleable" -- \
	sh -c "until [ -e '$work/strange/end' ]; do sleep 0.1; done" \
	>"$work/beside" 2>&1 8>&- &
beside=$!
strangers() { compgen -G "/tmp/malleable-65534/*" >/dev/null; }
wait_until strangers
control status "$(compgen -G "/tmp/malleable-65534/*")"
ok "root opens no step of another user" all_of "exits 1" "says '^-2: the step is another user.s$'"
set_to sh.0 --count=1
ok "set as root does not either" all_of "exits 1" "complains 'no balanced step sh.0 on this node'"
: >"$work/strange/end"
wait "$beside"
states() { "$malleable" status --ranks >"$work/out" && says '^ *[01] +[0-9]+ .* (waits|computes)'; }
ok "its user sees what each rank does" wait_until states
# Who writes nonsense into the socket, or nothing, or asks without end.
hostile() {
	python3 - "$(echo /tmp/malleable-0/*)" 2>"$work/err" <<'PYTHON'
import os, socket, sys, time
name = sys.argv[1]
def talk(data, read=True):
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(60)
        s.connect(name)
        s.sendall(data)
        return s.recv(100) if read else b""
# The controller may have turned away who stood still in the middle, and 128 may wait at once.
def bother(data):
    try:
        talk(data, read=False)
    except (BlockingIOError, BrokenPipeError, ConnectionResetError):
        pass
assert talk(b"1 set rank=0 cpus=" + b"9" * 1900 + b"\n").startswith(b"error ")
assert talk(b"1 \0\xff%n%s\n").startswith(b"error ")
for other in (b"status\n", b"2 status\n", b"1\n", b"\n"):
    assert b"of another version" in talk(other)
bother(b"x" * 5000)
bother(b"")
for _ in range(200):
    bother(b"1 status\n")
while True:  # until all these are served
    try:
        assert talk(b"1 status\n").startswith(b"{")
        break
    except BlockingIOError:
        time.sleep(0.1)
os.setuid(65534)
try:
    assert talk(b"1 status\n") == b""
except OSError:  # turned away before or after it asked
    pass
PYTHON
}
ok "nonsense is answered with an error, strangers not at all" hostile
silent() {
	python3 - "$(echo /tmp/malleable-0/*)" 2>"$work/err" <<'PYTHON'
import socket, sys
quiet = []
for number in range(300):  # the controller has room for 64, and 128 wait
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(60)
    s.connect(sys.argv[1])
    quiet.append(s)
    if number % 100 == 99:
        with socket.socket(socket.AF_UNIX) as asks:
            asks.settimeout(60)
            asks.connect(sys.argv[1])
            asks.sendall(b"1 status\n")
            assert asks.recv(10).startswith(b"{")
PYTHON
}
ok "clients that are silent keep nobody from an answer" silent
# So few descriptors more than it has open.
controller=$(pgrep -x malleabled)
prlimit --pid "$controller" \
	--nofile="$(($(find "/proc/$controller/fd" -type l | wc -l) + 20)):"
ok "silent clients keep nobody from an answer where the controller may open few descriptors" silent
# What a program names is seen while it runs; two ranks of one CPU each, without MPI and OpenMP.
cat >"$work/names.c" <<'PROGRAM'
#include <malleable.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	int solve = malleable_region("solve");
	malleable_borrow(1); /* it has one thread, which is known then */
	for (int i = 0; i < 3; i++) {
		malleable_region_begin(solve);
		usleep(20000);
		malleable_region_end(solve);
	}
	while (argc > 1 && access(argv[1], F_OK) != 0)
		usleep(10000);
	return 0;
}
PROGRAM
# shellcheck disable=SC2046 # words
${CC:-cc} -o "$work/names" "$work/names.c" $(linking malleable)
printf '#!/bin/sh\n"$0.names" "$1" & "$0.names" "$1" & wait\n' >"$work/twice"
chmod +x "$work/twice" && ln -s names "$work/twice.names"
"$malleable" run --libdir "$stage/lib/malleable" --ranks=2 -- "$work/twice" "$work/named" \
	>"$work/beside" 2>&1 8>&- &
beside=$!
ran='.[] | select(.step | startswith("twice")).regions[0]'
wait_until has "$ran | .runs == 3 and .ranks == 2" >/dev/null
ok "named regions are in the status, over all ranks" has \
	"$ran | .name == \"solve\" and .elapsed_s > 0.05 and .efficiency.mpi.parallel > 0"
run "$malleable" status --regions twice
ok "status --regions shows them" says '^  solve +3 +2 +0\.[0-9]+ +[0-9-]'
control region twice solve
ok "malleable_control_region() returns what ranks did there" all_of "exits 0" \
	"says '^3 runs of 2, 1 1 1 '"
control region twice other
ok "an error: region other" all_of "exits 1" "says '^-5: there is no such region'"
if python3 -c 'import jsonschema' 2>/dev/null; then
	ok "the status with regions is as its schema has it" as_schema
else
	skip "the status with regions is as its schema has it" "no python3-jsonschema"
fi
: >"$work/named"
wait "$beside"
windows=$(status_of '.[0].windows')
ok "the step goes on beside silent clients" soon_has ".[0].windows > $windows"
run sh -c "'$malleable' top | awk '/^ +0 +4 [-#.]+ / && ++shown == 2 {print; exit}'"
ok "top draws a bar for each rank, again and again" all_of "exits 0" "says '^ +0 +4 [-#.]{4} '"
ended
ok "the step ends well" exits 0
ok "nothing is left" nothing_left

start_cluster
begin srun -Q -n2 -c1 --balance=external "$load" --work=10,10 --iterations=1 --until="$work/stop"
out=$work/out.2 # not that of the step
wait_until computes
job=$(status_of '.[0].step' | cut -d. -f1)
"$malleable" status "$job" >"$out" 2>&1
ok "a job's steps are shown on its nodes, through srun" \
	grep -Eq "^$job.0 +[^ ]+ +external +2 " "$out"
# Each CPU that a thread of a rank may run on is the rank's own.
on_their_own() {
	local pid cpus may
	while read -r pid cpus; do
		may=$(awk '/^Cpus_allowed_list/ {print $2}' /proc/"$pid"/task/*/status | sort -u)
		[ "$may" = "$cpus" ] || return 1
	done <<<"$(status_of '.[0].ranks[] | "\(.pid) \(.cpus)"')"
}
ok "each rank's threads run on its CPU" wait_until on_their_own
ok "the ranks of a step of malleable run are changed by number" "$malleable" set "$job.0.1" --min=1
ok "a change by number is seen" has '[.[0].ranks[].order.min] == [0, 1]'
ended
ok "a step whose ranks were changed ends well" exits 0
ok "nothing is left of it" nothing_left
done_testing
