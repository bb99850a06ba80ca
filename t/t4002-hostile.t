#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# A rank that scribbles over the segment harms at most its own step: no crash, no CPU outside it,
# nothing as root.
. "$(dirname "$0")/lib.sh"
need_cluster
command -v python3 >/dev/null || skip_all "needs python3"
start_cluster

cat >"$work/scribble.py" <<'PY'
# scribble.py SEED BEGUN: fills the segment with noise, again and again, from inside a rank of the
# step, and makes the file BEGUN after the first 1000 times.
import mmap, os, random, sys
fd = int(os.environ["MALLEABLE_SEGMENT_FD"])
size = os.fstat(fd).st_size
memory = mmap.mmap(fd, size)
random.seed(int(sys.argv[1]))
times = 0
while True:
    at = random.randrange(0, size - 64)
    memory[at:at + 64] = random.choice([random.randbytes(64), b"\xff" * 64, b"\0" * 64])
    times += 1
    if times == 1000: open(sys.argv[2], "w")
PY

# A program beside the noise, which lasts as long.
cat >"$work/beside" <<SH
#!/bin/bash
# beside SEED
begun=$work/begun.\$1.\$SLURM_LOCALID
python3 $work/scribble.py \$1 \$begun &
noise=\$!
# A rank that begins while another one's noise is there is not balanced, and makes none.
until [ -e "\$begun" ] || ! kill -0 \$noise 2>/dev/null; do sleep 0.01; done
$load --iterations=10 --work=4,2
status=\$?
kill \$noise 2>/dev/null
exit \$status
SH
chmod 755 "$work/beside"
for seed in 1 2; do
	run srun -n2 --balance --kill-on-bad-exit=0 "$work/beside" $seed
	ok "the programs of a step whose segment is filled with noise (seed $seed) end well" \
		all_of "exits 0" "says ^elapsed"
done
ok "nothing is left" nothing_left
run srun -n2 --balance "$load" --iterations=3
ok "the next step after hostile ones is balanced as ever" \
	all_of "exits 0" "complains 'policy auto, 2 ranks'"
done_testing
