#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Programs for libgomp: those that libomp ends, or that ask what it answers otherwise, keep theirs,
# nothing of libomp's is printed, and what they ask is answered as by libgomp.
. "$(dirname "$0")/lib.sh"
need_cluster
plan 28
start_cluster

${CC:-gcc} -O1 -fopenmp -w -DDOACROSS -o "$work/doacross" "$srcdir/t/programs/gomp.c" || exit 1
run srun -n2 -c1 --balance --balance-report=off "$work/doacross"
ok "a doacross loop in a team of one thread" all_of "exits 0" \
	"[ \$(grep -c '^cells 1023' $work/out) = 2 ]"
run srun -n2 -c1 --balance --balance-report=off "$programs/gomp"
ok "omp_set_nested() prints nothing" all_of "exits 0" "[ \$(grep -c '^cells 91' $work/out) = 2 ]" \
	"! grep -q OMP: $work/err"
"$clang" -O1 -fopenmp -w -o "$work/warned" "$srcdir/t/programs/gomp.c" || exit 1
warned() {
	run srun -n1 -c1 "$work/warned"
	grep '^OMP:' "$work/err" >"$work/plain" || return
	run srun -n1 -c1 --balance --balance-report=off "$work/warned"
	exits 0 && grep '^OMP:' "$work/err" | diff "$work/plain" -
}
ok "what libomp tells a program of its own is printed" warned
# As libgomp has it, and children see what the user set.
${CC:-gcc} -O1 -fopenmp -w -DSCHEDULE -o "$work/scheduled" "$srcdir/t/programs/gomp.c" || exit 1
same_schedule() {
	local plain
	run srun -n1 -c1 "$@" "$work/scheduled"
	plain=$(cat "$work/out")
	run srun -n1 -c1 --balance --balance-report=off "$@" "$work/scheduled"
	exits 0 && says '^schedule [1-4]' && [ "$(cat "$work/out")" = "$plain" ]
}
ok "loops with schedule(runtime) are shared out as libgomp does it" same_schedule
ok "loops with schedule(runtime) are shared out as the user says" \
	same_schedule --export=ALL,OMP_SCHEDULE=guided,7
# What the program asks is answered as without us. libomp prints notes on old functions at any time.
${CC:-gcc} -O1 -fopenmp -w -o "$work/answers-gcc" "$srcdir/t/programs/answers.c" || exit 1
# answers PROGRAM [VARIABLE...]
answers() {
	local program=$1
	run env "${@:2}" srun -n1 -c2 "$work/$program"
	exits 0 || return 1
	grep -v '^OMP:' "$work/out" >"$work/plain"
	run env "${@:2}" srun -n1 -c2 --balance --balance-report=off "$work/$program"
	exits 0 && says '^in a nested one' && grep -v '^OMP:' "$work/out" |
		diff "$work/plain" - >"$work/diff" && return
	sed 's/^/# /' "$work/diff"
	return 1
}
ok "what OpenMP answers a program for libgomp, such as no place where none was asked for" all_of \
	"answers answers-gcc" "says '^ places 0:'"
${CC:-gcc} -O1 -fopenmp -w -DPLAIN -o "$work/answers-plain" "$srcdir/t/programs/answers.c" || exit 1
ok "what OpenMP answers a program on libomp is as libgomp answers" answers answers-plain
run srun -n1 -c2 --balance --balance-report="$work/report.json" "$work/answers-plain"
ok "a program that asks for none of that runs on libomp" \
	all_of "exits 0" "report_has '.per_rank[0].regions > 0'"
loader=$(ldd /bin/sh | grep -o '/[^ ]*ld-[^ ]*')
rm -f "$work/report.json"
# shellcheck disable=SC2016
run srun -n1 -c2 --balance --balance-report="$work/report.json" \
	sh -c 'exec "$0" --library-path "" "$@"' "$loader" "$work/answers-plain"
ok "so does one that a script starts by the loader's name" \
	all_of "exits 0" "report_has '.per_rank[0].regions > 0'"
# paused PROGRAM...: its 100 regions after a hard pause are seen.
paused() {
	run srun -n1 -c2 --balance --balance-report="$work/report.json" "$@" pause
	exits 0 && report_has ".per_rank[0].regions >= 100"
}
ok "places are answered as without us" answers answers-gcc OMP_PLACES=cores
ok "bound threads on libomp are answered as by libgomp" answers answers-plain OMP_PROC_BIND=true \
	OMP_PLACES=cores OMP_SCHEDULE=guided,7 OMP_MAX_ACTIVE_LEVELS=2
ok "bound threads are answered as without us" answers answers-gcc OMP_PROC_BIND=true OMP_NESTED=true
ok "threads bound with spread,close are answered as without us" \
	answers answers-gcc OMP_PROC_BIND=spread,close \
	"OMP_PLACES={1},{0}"
run env OMP_DISPLAY_ENV=true srun -n1 -c2 --balance --balance-report=off "$work/scheduled"
ok "the user's settings are printed once" all_of "exits 0" \
	"[ \$(grep -c 'DISPLAY ENVIRONMENT BEGIN' $work/err) = 1 ]"
cp "$programs/answers" "$work/answers-clang"
ok "libomp's own programs are told what libomp tells, one place" all_of "answers answers-clang" \
	"says '^ places 1:'"
ok "a hard pause ends no balancing of libomp's own programs" paused "$work/answers-clang"
ok "libomp's own programs are told its places where places were asked for" \
	answers answers-clang OMP_PLACES=cores
# A package was installed again meanwhile, or a loader keeps its program in memory.
cat >"$work/gone" <<GONE
#!/bin/bash
cp "$programs/gomp" "$work/copy" && exec 9<"$work/copy" && rm "$work/copy" && exec /proc/self/fd/9
GONE
chmod +x "$work/gone"
rm -f "$work/report.json"
run srun -n1 -c2 --balance --balance-report="$work/report.json" "$work/gone"
ok "a program whose file is gone runs on libomp" \
	all_of "says '^cells 91'" "report_has '.per_rank[0].regions >= 1'"
# The largest environment with which it can be executed: not a second time, with more.
cat >"$work/fill.py" <<'PY'
import os, sys
def start(size, command):
    fill = {f"FILL{i}": "x" * min(100000, size - i) for i in range(0, size, 100000)}
    pid = os.fork()
    if pid == 0:
        try:
            os.execve(command[0], command, os.environ | fill)
        except OSError:
            os._exit(99)
    return os.waitpid(pid, 0)[1] >> 8
low, high = 0, 8 << 20
while high - low > 16:
    middle = (low + high) // 2
    low, high = (low, middle) if start(middle, ["/bin/sh", "-c", ":"]) == 99 else (middle, high)
sys.exit(start(low - 2 * len(sys.argv[1]), sys.argv[1:]))
PY
${CC:-gcc} -O1 -fopenmp -w -DPRELOAD -o "$work/preload" "$srcdir/t/programs/gomp.c" || exit 1
run srun -n1 -c2 --balance --balance-report=off python3 "$work/fill.py" "$work/preload"
ok "a program that cannot be executed again keeps libgomp, and so do its children" \
	all_of "exits 0" "says '^preload'" "! says 'preload .*libomp'"
run srun -n1 -c2 --balance --balance-report="$work/report.json" "$work/preload"
ok "a program that runs on libomp hands that to no child" all_of "exits 0" "says '^preload'" \
	"! says 'preload .*libomp'" "report_has '.per_rank[0].regions >= 1'"
run srun -n1 -c2 --balance --balance-report=off sh -c "ulimit -f 0; exec $programs/gomp"
ok "a program that may write no files keeps libgomp" all_of "exits 0" "says '^cells 91'"
# Where threads share a CPU, libgomp's soon sleep and libomp's do not.
crowded='.per_rank | all(.regions == 0 and (.why | startswith("more threads than CPUs: it keeps")))'
run env OMP_NUM_THREADS=2 srun -n2 -c1 --balance --balance-report="$work/report.json" \
	"$programs/patterns-gcc" plain 20
ok "a program with more threads than CPUs keeps libgomp, and the report tells" all_of "exits 0" \
	"report_has '$crowded'" "complains 'mode: cpuset, more threads than CPUs: it keeps libgomp'"
run env OMP_NUM_THREADS=1 srun -n2 -c1 --balance --balance-report="$work/report.json" \
	"$programs/patterns-gcc" plain 20
ok "a program with as many threads as CPUs runs on libomp" all_of "exits 0" \
	"report_has '.per_rank | all(.regions > 0 and (.why | contains(\"libgomp\") | not))'"
run env OMP_NESTED=true srun -n2 -c1 --balance --balance-report="$work/report.json" \
	"$programs/patterns-gcc" plain 20
ok "a program whose variables are not plain keeps libgomp, and the report tells" all_of "exits 0" \
	"complains 'mode: cpuset, variables or calls of OpenMP that libomp takes otherwise'"
# libgomp ends no thread at exit: libomp would, behind the destructors of static objects.
"${CXX:-g++}" -O1 -fopenmp -w -o "$work/ends" "$srcdir/t/programs/ends.cc" || exit 1
run srun -n1 -c2 --balance --balance-report=off "$work/ends"
ok "thread_local objects of OpenMP's threads are not destroyed at exit" exits 0
run srun -n1 -c2 --balance --balance-report=off "$work/ends" exit
ok "thread_local objects of OpenMP's threads are not destroyed in a forked child" exits 0
run srun -n1 -c2 --balance --balance-report=off "$work/ends" _exit
ok "a forked child that ends by _exit() leaves no file of libomp's" exits 0
if command -v valgrind >/dev/null; then
	run srun -n1 -c1 --balance --balance-report=off valgrind "$programs/gomp"
	ok "valgrind keeps its program" all_of "exits 0" "complains 'ERROR SUMMARY: 0 errors'"
else
	skip "valgrind keeps its program" "valgrind is not installed"
fi
