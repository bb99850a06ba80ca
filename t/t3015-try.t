#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# malleable-try: the steps that it runs in an allocation, what it says of them, and that a signal
# leaves nothing. contrib/python/tests/test_shapes.py has the rest.
. "$(dirname "$0")/lib.sh"
need_cluster
need_tools
start_cluster
try=$tools/malleable-try
cd "$work" || exit 1
left() { compgen -G "$work/.malleable-try-*"; }

run "$try" --ranks=1 -- true
ok "outside an allocation it refuses" all_of "exits 1" "complains 'this is no allocation'"
run salloc -Q -n2 "$try" --ranks=1,2 --dry-run -- ./app
ok "it tells which steps it would run" all_of "exits 0" \
	"says '^srun -N 1 -n 1 -c 2 --balance=observe ./app$'" \
	"says '^srun -N 1 -n 2 -c 1 --balance=observe ./app$'"

# It ends a step that would run for ever, after its phases or its seconds.
run salloc -Q -n2 "$try" --ranks=1,2 --seconds=60 --json --picture=times.svg -- \
	"$load" --work=10,10 --regions=2 --iterations=1000000
ok "it runs each shape, and both with --balance" all_of "exits 0" \
	"jq -e '[.shapes[] | [.ranks, .cpus, .balance]] | .[:2] ==
		[[1, 2, \"observe\"], [2, 1, \"observe\"]] and
		(map(select(.[2] == \"auto\")) | length) == 2' '$work/out' >'$work/said'"
ok "phases of one length are compared" \
	jq -e '.shapes | all(.phases >= 20 and .phase_s > 0 and .why == null and
		(.regions_per_phase - 2 | fabs < 0.1))' "$work/out"
ok "it tells the line to use" jq -e \
	'.use | test("^srun -N 1 -n [12] -c [12] (--balance )?/.*/load --work=10,10")' "$work/out"
ok "the picture is one" all_of "python3 -c 'import sys, xml.dom.minidom as dom
dom.parse(sys.argv[1])' times.svg" "grep -q best times.svg"
ok "nothing is left of it" all_of "nothing_left" "! left"

# The step has ended before its allocation does. Without set -m SIGINT is ignored until the tool has
# its handlers.
# shellcheck disable=SC2016 # the inner shell expands them
run salloc -Q -n2 bash -c 'set -m; "$@" & pid=$!
	step() { squeue -h -s -j "$SLURM_JOB_ID" -o %j | grep -q load; }
	until step; do sleep 0.2; done
	kill -INT $pid; wait $pid; echo "status $?"
	while step; do sleep 0.2; done; echo ended' bash \
	"$try" --ranks=1,2 --seconds=600 -- "$load" --work=2000 --iterations=1000000
ok "a signal ends its step" all_of "says '^status 130$'" "says '^ended$'" "! left" "nothing_left"
done_testing
