#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# A rank that scribbles over the segment harms at most its own step: no crash, no CPU outside it,
# nothing as root.
. "$(dirname "$0")/lib.sh"
need_cluster
start_cluster
plan 4

cat >"$work/scribble.py" <<'PY'
# Fills the segment with noise, again and again, from inside a rank of the step.
import mmap, os, random, sys, time
fd = int(os.environ["MALLEABLE_SEGMENT_FD"])
size = os.fstat(fd).st_size
memory = mmap.mmap(fd, size)
random.seed(int(sys.argv[1]))
end = time.time() + 2
while time.time() < end:
    at = random.randrange(0, size - 64)
    memory[at:at + 64] = random.choice([random.randbytes(64), b"\xff" * 64, b"\0" * 64])
PY
command -v python3 >/dev/null || skip_all "needs python3"

for seed in 1 2; do
	run srun -n2 --balance --kill-on-bad-exit=0 sh -c "
		python3 $work/scribble.py $seed & sleep 0.1; $load --iterations=10; wait"
	ok "a step whose segment is filled with noise (seed $seed) ends" test "$status" -ne 124
done
ok "nothing is left" nothing_left
run srun -n2 --balance "$load" --iterations=3
ok "and the next step is balanced as ever" all_of "exits 0" "complains 'policy auto, 2 ranks'"
