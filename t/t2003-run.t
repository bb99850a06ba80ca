#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# malleable run: the same controller and library without Slurm.
. "$(dirname "$0")/lib.sh"
need mpi clang
[ "$(nproc)" -ge 2 ] || skip_all "needs two CPUs"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

malleable() { run "$stage/bin/malleable" run --libdir "$stage/lib/malleable" "$@"; }

lends() {
	"$stage/bin/malleable" status --json 2>/dev/null |
		jq -e '.[0].ranks | any(.lends > 0)' >/dev/null 2>&1
}
begin "$stage/bin/malleable" run --libdir "$stage/lib/malleable" \
	--balance-report="$work/report.json" -- mpirun -n 2 "$load" --iterations=1 \
	--until="$work/stop"
wait_until lends
ended
ok "mpirun under malleable run is balanced" all_of "exits 0" "report_has '.ranks == 2'" \
	"report_has '.cpu_changes.lends > 0'"
ok "mpirun under malleable run has a report" complains 'balance: step mpirun'
malleable --balance-report=brief -- mpirun -n 2 "$load" --iterations=1
ok "mpirun under malleable run: --balance-report=brief says the verdict alone" \
	all_of "exits 0" "[ \$(grep -c balance: $work/err) = 1 ]"
malleable --balance=lewi -- mpirun --bind-to none -n 2 "$load" --iterations=1
ok "unbound ranks get equal parts of the CPUs" all_of "exits 0" "complains 'policy lewi, 2 ranks'"
malleable -- mpirun --bind-to none -n 2 "$programs/patterns-gcc" plain 20
ok "unbound ranks have as many threads as CPUs, also where libgomp has counted those of all" \
	all_of "exits 0" \
	"complains 'policy auto, 2 ranks'" "silent_about 'another number of threads'"
malleable -- python3 -c 'import ctypes; print(ctypes.CDLL(None).malleable_cpus())'
ok "malleable_cpus() is right from the first call on" all_of "exits 0" "says '^$(nproc)\$'"
cat >"$work/linked.c" <<'END'
#include <malleable.h>
#include <stdio.h>
int main(void)
{
	malleable_phase();
	return printf("%d CPUs\n", malleable_cpus()) < 0;
}
END
# shellcheck disable=SC2046 # words
${CC:-cc} -o "$work/linked" "$work/linked.c" \
	$(linking malleable)
needed() { readelf -d "$work/linked" | grep -q 'NEEDED.*\[libmalleable.so.1\]'; }
run "$work/linked"
ok "a program that is linked against the library runs as without it outside a step" \
	all_of "exits 0" "says '^0 CPUs$'" needed "[ ! -s '$work/err' ]"
malleable -- "$work/linked"
ok "a program that is linked against the library is a rank in a step" \
	all_of "exits 0" "says '^$(nproc) CPUs$'"
run "$programs/interface"
ok "all calls do nothing and return 0 outside a step" all_of "exits 0" \
	"says '^0( 0){19}$'"
for how in plain mpi; do
	malleable --balance=lewi -- "${mpirun[@]}" -n 2 "$programs/interface" $how "$work/$how"
	ok "$how: a rank lends in a wait that it declares, another one borrows" all_of "exits 0" \
		"says '^has 2 of 1, lists 2, may use 2$'"
	ok "$how: and has its CPU back at the end" all_of "says '^offered 1, ended 0, has 1$'" \
		"says '^heard 2, changed 1, has 1, may use 1, heard 1, returned 1$'"
done
malleable --balance=lewi -- "${mpirun[@]}" -n 2 "$programs/interface" threads "$work/threads"
ok "threads: so do threads beside the first, which sleeps" all_of "exits 0" \
	"says '^has 2 of 1, lists 2, may use 2$'" "says '^offered 1, ended 0, has 1$'" \
	"says '^heard 0, changed 1, has 1, may use 1, heard 0, returned 1$'"
for how in busy beside; do
	malleable --balance=lewi -- "${mpirun[@]}" -n 2 "$programs/interface" $how "$work/$how"
	ok "$how: a rank lends nothing while another thread of its computes" all_of "exits 0" \
		"says '^had 1 at most$'"
done
export PYTHONPATH=$srcdir/contrib/python PYTHONDONTWRITEBYTECODE=1 PATH=$stage/bin:$PATH
cat >"$work/two.py" <<'END'
"""Two ranks of one CPU: rank 0 waits for a file until rank 1 has its CPU too, and takes it back."""
import os, sys, threading, time
from malleable import control, runtime
def await_file(name):
    while not os.path.exists(sys.argv[1] + name):
        time.sleep(0.001)
def say(name):
    open(sys.argv[1] + name, "w").close()
def tell(*words):
    os.write(1, (" ".join(map(str, words)) + "\n").encode())  # at once: mpirun mixes both ranks'
@runtime.region("part")
def offer():
    with runtime.waiting() as number:
        await_file("borrowed")
    return number
if os.environ["OMPI_COMM_WORLD_RANK"] == "0":
    offered = offer()
    part, whole = runtime.times("part"), runtime.times()
    ns = 1e-6  # ticks have another length at each reading, by what was seen of them since
    tell("ran", part["runs"], 0 < part["offered"] <= part["mpi"] + ns <= part["elapsed"] + 2 * ns,
         part["mpi"] <= whole["mpi"] + ns, 0 <= runtime.efficiency("part")["mpi"] < 1)
    tell("offered", offered, "has", runtime.cpus())
    say("back")
    with control.Step() as step:
        tell("policy", step.status()["policy"])
else:
    heard, both = [], threading.Barrier(2)
    handle = runtime.on_change(heard.append)
    with runtime.ThreadPool(2) as pool:
        # Each waits for the other: one thread alone gets nowhere.
        works = [pool.submit(both.wait, 60) for _ in range(2)]
        for work in works:
            work.result()
        number = runtime.cpus()
        say("borrowed")
        await_file("back")
    while runtime.poll() != 1:
        time.sleep(0.001)
    tell("pool had", number, "has", runtime.cpus(), "of", runtime.cpus_owned(), heard[-1],
         *sorted(runtime.state()))
END
malleable --balance=lewi -- "${mpirun[@]}" -n 2 python3 "$work/two.py" "$work/two"
ok "ranks in Python wait, borrow and see their step" all_of "exits 0" \
	"says '^offered 1 has 1$'" "says '^ran 1 True True True$'" \
	"says '^pool had 2 has 1 of 1 1 lends moves rank$'" \
	"says '^policy lewi$'"
# Which functions are found at first use, and no library is needed.
in_header() { sed -nE "$1" "$stage/include/malleable.h" | sort; }
declared=$(in_header '/^typedef/d; s/^[a-z].*\b(malleable_[a-z_]+|omp_balanced)\(.*/\1/p')
ok "all functions can be looked up" all_of \
	"[ \"\$(in_header 's/^MALLEABLE_(FOUND\([^,]*, |MARK\()([a-z_]*).*/\2/p')\" = '$declared' ]" \
	"[ \"\$(in_header 's/^#define ([a-z_]+) \1_found\$/\1/p')\" = '$declared' ]"
${CC:-cc} -std=c99 -pedantic-errors -Wall -Wextra -Werror -DMALLEABLE_DLOPEN -I"$stage/include" \
	-o "$work/found" "$work/linked.c" -ldl
free() { ! readelf -d "$work/found" | grep -q malleable; }
run "$work/found"
ok "a program that looks them up starts without the library" all_of "exits 0" "says '^0 CPUs$'" free
malleable -- "$work/found"
ok "a program that looks the functions up is a rank in a step" \
	all_of "exits 0" "says '^$(nproc) CPUs$'"
if [ -x "$programs/scopes" ]; then
	malleable --balance=lewi -- "${mpirun[@]}" -n 2 "$programs/scopes" "$work/scopes"
	ok "scopes of C++ end with exceptions" all_of "exits 0" \
		"says '^waited, has 1, -5, ran 1, -5$'" "says '^borrowed, had 2, has 1$'"
else
	skip "scopes of C++ end with exceptions" "needs C++"
fi
# An earlier interface, and a library that has no more than that.
sed '/^MALLEABLE_3/,$d' "$srcdir/libmalleable/stub/stub.map" >"$work/api2.map"
mkdir "$work/api2"
${CC:-cc} -shared -fPIC -I"$srcdir" -Wl,-soname,libmalleable.so.1 \
	-Wl,--version-script="$work/api2.map" -o "$work/api2/libmalleable.so" \
	"$srcdir/libmalleable/stub/stub.c"
ln -s libmalleable.so "$work/api2/libmalleable.so.1"
cat >"$work/both.c" <<'END'
#include <malleable.h>
#include <stdio.h>
static void hear(int cpus, void *argument)
{
	*(int *)argument = cpus;
}
int main(void)
{
	int list[8], heard;
	malleable_phase();
	malleable_on_change(hear, &heard);
	malleable_waiting_begin(MALLEABLE_WAIT_POLLS);
	malleable_waiting_end();
	malleable_borrow(MALLEABLE_ALL);
	malleable_return(0);
	malleable_poll();
	malleable_on_change_remove(hear, &heard);
#ifdef NEW
	malleable_limit(0);
	malleable_region_begin(malleable_region("all"));
#endif
	return printf("%d %d %d %d\n", malleable_cpus(), malleable_cpus_owned(),
		      malleable_cpu_list(list, 8), malleable_changes() < 0) < 0;
}
END
# both NAME HEADERS LIBRARIES [FLAG...]
both() {
	${CC:-cc} -Wall -Werror "${@:4}" -I"$2" -o "$work/$1" "$work/both.c" -L"$3" -lmalleable
}
both old "$srcdir/t/programs/api2" "$work/api2"
both older "$srcdir/t/programs/api2" "$stage/lib"
both newer "$stage/include" "$work/api2"
both new "$stage/include" "$stage/lib" -DNEW
nothing='^0 0 0 0$' all="^$(nproc) $(nproc) $(nproc) 0\$"
for program in old older newer; do
	for library in "$work/api2" "$stage/lib"; do
		run env LD_LIBRARY_PATH="$library" "$work/$program"
		ok "$program program, library of $(basename "$library")" all_of "exits 0" \
			"says '$nothing'"
	done
	malleable -- env LD_LIBRARY_PATH="$work/api2" "$work/$program"
	ok "$program program in a step" all_of "exits 0" "says '$all'"
done
run env LD_LIBRARY_PATH="$work/api2" "$work/new"
ok "a program that needs more does not start" complains 'MALLEABLE_[34]'
# A step of the release before has its tool in front, which lacks what came since.
${CC:-cc} -shared -fPIC -I"$srcdir" -Wl,-soname,libmalleable.so \
	-Wl,--version-script="$work/api2.map" -o "$work/api2/tool.so" \
	"$srcdir/libmalleable/stub/stub.c"
${CC:-cc} -Wall -Werror -DNEW -DMALLEABLE_DLOPEN -I"$stage/include" -o "$work/finds" \
	"$work/both.c" -ldl
for program in new finds; do
	run env LD_PRELOAD="$work/api2/tool.so" LD_LIBRARY_PATH="$stage/lib" "$work/$program"
	ok "$program program in a step of the release before" all_of "exits 0" \
		"says '$nothing'" "[ ! -s '$work/err' ]"
done
# examples LANGUAGE END: each block of it in doc/interface.md into a file of its own.
examples() {
	awk -v start="^\`\`\`$1\$" -v name="$work/example" -v end="$2" '
		/^```$/ { file = "" } file { print >file }
		$0 ~ start { file = name (++count) end }
		END { print count + 0 }' "$srcdir/doc/interface.md"
}
libraries=$(linking malleable malleable_control)
count=$(examples c .c)
for each in $(seq "$count"); do
	# shellcheck disable=SC2086 # words
	${CC:-cc} -Wall -Wno-unused-result -Werror -o "$work/example" "$work/example$each.c" \
		$libraries
	run "$work/example"
	ok "doc/interface.md: example $each in C outside a step" exits 0
	malleable -- "$work/example"
	ok "doc/interface.md: example $each in C in a step" all_of "exits 0" \
		"complains 'balance: '" "silent_about killed"
done
count=$((count + $(examples python .py)))
for file in "$work"/example*.py; do
	run python3 "$file"
	ok "${file##*/} outside a step" exits 0
	malleable -- python3 "$file"
	ok "${file##*/} in a step" exits 0
done
ok "there are examples" [ "$count" -gt 6 ]
# Two chains of a script: each has a CPU of its own, and a third comes when one has ended.
cat >"$work/chain.py" <<'END'
"""chain.py NAME OTHER: a rank until the other one has come, too."""
import os, sys, time
from malleable import runtime
assert runtime.cpus_owned() == 1, runtime.cpu_list()
open(sys.argv[1], "w").write(f"{runtime.cpu_list()[0]}\n")
while not os.path.exists(sys.argv[2]) or not open(sys.argv[2]).read():
    time.sleep(0.001)
END
cat >"$work/chains" <<'END'
cd "$1" && mkdir chain.out && cd chain.out
python3 ../chain.py a b & first=$!
python3 ../chain.py b a & second=$!
wait $first && wait $second && python3 ../chain.py c a
END
malleable --ranks=2 -- sh "$work/chains" "$work"
two_cpus() { [ "$(cat "$work"/chain.out/[ab] | sort -u | wc -l)" = 2 ]; }
ok "processes of a script are ranks with a CPU each" all_of "exits 0" two_cpus \
	"complains ', 2 ranks, 2 CPUs'"
malleable --ranks=0 -- true
ok "malleable run refuses more ranks than can be" \
	all_of "exits 2" "complains 'ranks=0: must be from 1 to 1024'"
cat >"$work/offers" <<'END'
[ "$OMPI_COMM_WORLD_RANK" = 0 ] &&
	exec "$1" offer -- sh -c "until [ -e $2 ]; do sleep 0.01; done; exit 7"
python3 -c '
import sys, time
from malleable import runtime
while runtime.borrow(2) < 2:
    time.sleep(0.001)
open(sys.argv[1], "w")' "$2"
END
malleable --balance=lewi -- "${mpirun[@]}" -n 2 sh "$work/offers" "$stage/bin/malleable" \
	"$work/offered"
ok "a command's rank lends while it runs, and has its exit status" \
	all_of "exits 7" "[ -e '$work/offered' ]"
run "$stage/bin/malleable" offer -- sh -c 'exit 5'
ok "outside a step it runs alone" exits 5
run "$stage/bin/malleable" offer -- "$work/none"
ok "a command that is not there is 127" all_of "exits 127" "complains 'offer: cannot run'"
run "$stage/bin/malleable" offer
ok "malleable offer needs a command" all_of "exits 2" "complains 'give a command'"
# kill -9 in the middle of each call, of one that lends and of one that borrows: the other one has
# its own CPU, and what it has besides is its own.
# shellcheck disable=SC2046 # words
${CC:-cc} -I"$srcdir" -o "$work/killed" "$srcdir/t/programs/killed.c" $(linking malleable)
cat >"$work/two" <<'END'
"$1" "$2" victim "$3" & victim=$!
"$1" "$2" survivor "$3"
status=$?
kill -KILL $victim
wait
exit $status
END
for call in wait waits borrow return limit disable await poll; do
	mkdir "$work/$call.kill"
	malleable --ranks=2 --balance=lewi -- sh "$work/two" "$work/killed" "$work/$call.kill" $call
	ok "killed: $call" all_of "exits 0" "says '^$call: has ([12]) of \\1$'"
done
malleable "$programs/omponly"
ok "a program without launcher is a rank by itself" all_of "exits 0" "complains '1 rank,'"
malleable --balance=foo -- echo started
ok "a wrong policy ends before the command starts" \
	all_of "exits 2" "complains \"unknown policy 'foo'\"" "! says started"
malleable -- sh -c 'exit 9'
ok "the command's status is passed on" exits 9
malleable -- "$work/none"
ok "a missing command is 127" all_of "exits 127" "complains 'cannot run'"
malleable --balance=off -- sh -c 'echo "<${MALLEABLE_SEGMENT_FD-none}>"'
ok "off starts nothing" all_of "exits 0" "says '^<none>$'"
# shellcheck disable=SC2016 # the shell under test expands it
malleable -- sh -c 'for p in $(pgrep -x malleabled); do
	tr "\0" " " </proc/$p/cmdline | grep -q "/$PPID " && kill -KILL $p; done; exit 4'
ok "a controller that was killed is said" \
	all_of "exits 4" "complains 'balance: the controller ended early: killed'"
mkdir "$work/earlier"
printf '#!/bin/sh\nexit 2\n' >"$work/earlier/malleabled"
chmod +x "$work/earlier/malleabled"
run "$stage/bin/malleable" run --libdir "$work/earlier" -- echo started
ok "a controller of another version is told as one" all_of "exits 125" "! says started" \
	"complains 'the controller .*/earlier/malleabled does not start: it is not of malleable [0-9]'"
ok "nothing is left" nothing_left
done_testing
