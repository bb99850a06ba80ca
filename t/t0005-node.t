#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The timed node: a program sees its cores as CPUs, threads and children inherit them, nothing is
# left behind.
. "$(dirname "$0")/lib.sh"
need mpi
plan 11
node=$builddir/t/node/node
on() { run "$node" --cores=8 "$@"; }

on nproc
ok "eight cores" all_of "exits 0" "says '^8$'"
on taskset -c 2,5 nproc
ok "bound to two, the program has two" all_of "exits 0" "says '^2$'"
on taskset -c 6 sh -c 'sh -c "nproc; taskset -cp \$\$"'
ok "children inherit that" all_of "says '^1$'" "says ': 6$'"
on taskset -c 9 true
ok "a core that does not exist is refused" all_of fails "complains 'Invalid argument'"
on python3 -c 'import ctypes, os, threading
os.sched_setaffinity(0, {4})
def look():
    print("thread", os.sched_getaffinity(0), ctypes.CDLL(None).sched_getcpu())
thread = threading.Thread(target=look); thread.start(); thread.join()'
ok "threads inherit their core" all_of "exits 0" "says 'thread .4. 4$'"
on --cores=4 --topology="pack:2 core:2 pu:1" hwloc-calc --number-of package machine:0
ok "hwloc sees the sockets that were asked for" all_of "exits 0" "says '^2$'"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
on --per-rank=2 "${mpirun[@]}" -n 3 sh -c 'taskset -cp $$'
ok "ranks start on cores of their own" all_of "exits 0" "says '0,1$'" "says '2,3$'" "says '4,5$'"
on sh -c 'exit 7'
ok "the exit status is the command's" exits 7
on sh -c 'sleep 100 & echo $!'
ok "left processes are ended" all_of "exits 0" "! kill -0 \$(head -n1 $work/out)"
run "$node" --cores=1000 true
ok "a wrong number is refused" all_of "exits 2" "complains 'not a number'"
run "$node"
ok "so is no command" all_of "exits 2" "complains 'a command is needed'"
