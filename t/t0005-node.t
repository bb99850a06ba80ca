#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The timed node: a program sees its cores as CPUs, threads and children inherit them, work is CPU
# time, nothing is left behind. With BALANCE_FULL=yes also that it takes what theory says.
. "$(dirname "$0")/lib.sh"
need mpi
node=$builddir/t/node/node
examples=$builddir/contrib/examples
on() { run "$node" --cores=8 "$@"; }
# python OPTION... TEXT: with work(MS) and bind(CORES...), on the node.
python() {
	on "${@:1:$#-1}" python3 -c "
import ctypes, os, resource, signal, threading, time
libc = ctypes.CDLL(None)
def work(ms): libc.node_work(ctypes.c_uint64(int(ms * 1e6)))
def bind(*cores): os.sched_setaffinity(0, cores)
${*: -1}"
}
# worked SECONDS: so much of the cores' time, by the report, to the last digit.
worked() { jq -e ".worked_s == $1" "$work/report" >/dev/null || { cat "$work/report"; false; }; }

on nproc
ok "the node has eight cores" all_of "exits 0" "says '^8$'"
on taskset -c 2,5 nproc
ok "bound to two, the program has two" all_of "exits 0" "says '^2$'"
on taskset -c 6 sh -c 'sh -c "nproc; taskset -cp \$\$"'
ok "children inherit that" all_of "says '^1$'" "says ': 6$'"
on taskset -c 9 true
ok "a core that does not exist is refused" all_of fails "complains 'Invalid argument'"
python 'bind(4)
def look(): print("thread", os.sched_getaffinity(0), libc.sched_getcpu())
thread = threading.Thread(target=look); thread.start(); thread.join()'
ok "threads inherit their core" all_of "exits 0" "says 'thread .4. 4$'"
on --cores=4 --topology="pack:2 core:2 pu:1" hwloc-calc --number-of package machine:0
ok "hwloc sees the sockets that were asked for" all_of "exits 0" "says '^2$'"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
on --per-rank=2 "${mpirun[@]}" -n 3 sh -c 'taskset -cp $$'
ok "ranks start on cores of their own" all_of "exits 0" "says '0,1$'" "says '2,3$'" "says '4,5$'"

python --report="$work/report" 'before = resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw
for i in range(50): work(1)
print("thread", time.thread_time() >= 0.05, "process", time.process_time() >= 0.05)
used = resource.getrusage(resource.RUSAGE_THREAD)
print("usage", used.ru_utime >= 0.05, used.ru_nvcsw - before < 25)'
ok "work is CPU time, and its sleeps are no waits" all_of "says 'thread True process True'" \
	"says 'usage True True'"
ok "the report says how much there was" worked 0.05
python 'thread = threading.Thread(target=work, args=[1e6], daemon=True); thread.start()
clock = time.pthread_getcpuclockid(thread.ident)
while time.clock_gettime(clock) < 0.02: pass
stat = open(f"/proc/self/task/{thread.native_id}/stat").read()
print("seen from outside", time.process_time() >= 0.02, stat.split(") ")[1][0])'
ok "other processes see a thread run, and its CPU time, while it works" says 'outside True R'
python 'bind(0)
threads = [threading.Thread(target=work, args=[100]) for i in range(3)]
begin = time.monotonic()
for thread in threads: thread.start()
for thread in threads: thread.join()
print("long", time.monotonic() - begin >= 0.3)'
ok "threads on one core take turns" says 'long True'
python 'cores = set()
def one(): work(500); cores.add(libc.sched_getcpu())
threads = [threading.Thread(target=one) for i in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(len(cores))'
ok "threads that may use all cores take one each" says '^8$'
python --report="$work/report" 'bind(0)
child = os.fork()
if child == 0: work(1e6)
time.sleep(0.1); os.kill(child, signal.SIGKILL); os.waitpid(child, 0)
work(1500)'
ok "one that is killed leaves its core" jq -e '.worked_s > 1.5 and .worked_s < 2.8' "$work/report"
python 'child = os.fork()
if child == 0: os._exit(0)
os.waitpid(child, 0)
try: os.sched_getaffinity(child)
except ProcessLookupError: print("gone")'
ok "one that has ended has no cores" says gone
python --report="$work/report" --cold=core:5000,socket:7000 \
	--topology="pack:2 l3:1 core:4 pu:1" \
	'for core in 0, 1, 1, 4: bind(core); work(10)'
ok "work on another core costs more at first" worked 0.052
python --report="$work/report" --slow=1.5 --topology="numa:2 core:4 pu:1" \
	'for core in 0, 3, 4, 0: bind(core); work(10)'
ok "work far from memory takes longer" worked 0.045
python --report="$work/report" --spin=1000 'bind(0)
thread = threading.Thread(target=work, args=[50]); thread.start()
while thread.is_alive(): libc.sched_yield()'
ok "who polls beside one that works holds the core as well" \
	jq -e '.worked_s >= 0.051' "$work/report"

for program in "load --work=9,3 --iterations=3 --regions=2 --units=1000" \
	"particles --particles=1500 --iterations=6 --unit-ns=10" \
	"amr --rows=8 --columns=4 --iterations=20 --unit-ns=1"; do
	# shellcheck disable=SC2086 # words are wanted
	{
		on --per-rank=4 "${mpirun[@]}" -n 2 "$examples"/$program
		result=$(grep -oE '(result|checksum) [^,+]*' "$work/out")
		run "${mpirun[@]}" -n 2 "$examples"/$program
	}
	ok "${program%% *} has the same result as elsewhere" all_of "exits 0" "says '$result'"
done
run "$abs_top_builddir/malleable" inspect "$examples/load"
ok_with prover "its region is free" says '1 region, 1 free'

on sh -c 'exit 7'
ok "the exit status is the command's" exits 7
on no-such-command
ok "a missing command has exit status 127" all_of "exits 127" "complains 'cannot run'"
limit=30 on sh -c 'sleep 1000 & echo $!'
ok "left processes are ended" all_of "exits 0" "! kill -0 \$(head -n1 $work/out)"
run "$node" --cores=1000 true
ok "a wrong number is refused" all_of "exits 2" "complains 'not a number'"
run "$node" --cold=l4:3 true
ok "a wrong way too" all_of "exits 2" "complains 'is not core:US'"
on --topology="core:4 pu:1" true
ok "a topology of other cores is refused" all_of "exits 125" "complains 'has not 8 cores'"
run "$node"
ok "no command is refused" all_of "exits 2" "complains 'a command is needed'"
run "$node" --help
ok "node helps" all_of "exits 0" "says 'KMP_BLOCKTIME=0'" "says -- '--report=FILE'"

# near VALUE THEORY PERCENT
near() {
	awk -v v="$1" -v t="$2" -v p="$3" 'BEGIN {d = 100 * (v / t - 1); exit !(-p < d && d < p)}'
}
# median COMMAND...: seconds that an iteration of load takes on the node.
median() {
	on "$@" --verbose
	median=$(awk '/^iteration/ {print $3}' "$work/out" | sort -n |
		awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)]}')
	echo "# $median s"
}
if full; then
	load=("$examples/load" --regions=1 --iterations=40)
	median --cores=8 --per-rank=4 "${mpirun[@]}" -n 2 -x OMP_NUM_THREADS=4 \
		"${load[@]}" --work=240,80 --chunks=32
	ok "3:1 on two ranks of four cores" near "$median" 0.06 2
	median --cores=48 --per-rank=6 "${mpirun[@]}" --oversubscribe -n 8 -x OMP_NUM_THREADS=6 \
		"${load[@]}" --work=180,60 --chunks=48
	ok "3:1 on eight ranks of six cores" near "$median" 0.03 2
	once=$median
	median --cores=48 --per-rank=6 "${mpirun[@]}" --oversubscribe -n 8 -x OMP_NUM_THREADS=6 \
		"${load[@]}" --work=180,60 --chunks=48
	ok "3:1 on eight ranks of six cores goes alike once more" near "$median" "$once" 1
	shared=("${load[@]}" "--work=240,80" --chunks=480)
	median --cores=8 "${mpirun[@]}" -n 1 -x OMP_NUM_THREADS=6 taskset -c 0-5 "${shared[@]}" \
		--verbose : -n 1 -x OMP_NUM_THREADS=2 taskset -c 6-7 "${shared[@]}"
	ok "3:1 on six and two cores" near "$median" 0.04 2
	median --cores=8 "${mpirun[@]}" -n 2 -x OMP_NUM_THREADS=8 "${shared[@]}"
	ok "3:1 on eight cores for all" near "$median" 0.04 2
	python 'bind(0)
threads = [threading.Thread(target=work, args=[200]) for i in range(2)]
begin = time.monotonic()
for thread in threads: thread.start()
os.sched_setaffinity(threads[0].native_id, {1})
for thread in threads: thread.join()
print(time.monotonic() - begin)'
	ok "one that is sent to another core works on there" near "$(cat "$work/out")" 0.2 2
	python 'bind(0)
thread = threading.Thread(target=work, args=[200]); thread.start()
work(0.5); time.sleep(0.05)
most = 0
for i in range(10):
    begin = time.monotonic(); work(0.5); most = max(most, time.monotonic() - begin)
    time.sleep(0.002)
print(most < 0.0045)'
	ok "one that comes waits for a turn at most" says True
fi
done_testing
