#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Inside the virtual machine (8 CPUs, cgroup v2): pool=job, steps of a job that pass on CPUs.
. "$(dirname "$0")/../lib.sh"
need_cluster
[ "$(nproc)" -ge 8 ] || skip_all "needs 8 CPUs: contrib/vm run $0"
plan 8
start_cluster --plugin-args log=no
cp "$load" "$work/heavy" && cp "$programs/serial" "$work/light" &&
	cp "$(command -v sleep)" "$work/resident"
# Progress: the machine is slow.
export stage work srcdir console=/proc/$$/fd/1
cat >"$work/lib" <<'LIB'
# CPUs of all ranks of step NUMBER, and of all of them.
cpus() {
	nice -n -15 "$stage/bin/malleable" status --here --json 2>/dev/null |
		jq -r "[.[] | select(.step | endswith(\"$1\")) | .ranks[].count] | add" 2>/dev/null
}
await() { for _ in $(seq 60); do n=$(cpus "$1"); [ "${n:-0}" "$2" "$3" ] 2>/dev/null && echo "# step $1 has $n CPUs after $SECONDS s" >"$console" && return 0; sleep 0.3; done
	echo "# step $1 has $n CPUs, not $2 $3" | tee "$console"; return 1; }
heavy() {
	srun "${@:2}" --balance="$1" --balance-report=off nice -n 19 "$work/heavy" --units=60000 \
		--chunks=64 --regions=1 --work=100,100 --iterations=100000 >"$work/heavy.out" 2>&1 &
}
light() {
	srun "${@:2}" --balance="$1" --balance-report=off nice -n 19 "$work/light" 100000 \
		>"$work/light.out" 2>&1 &
}
LIB
cat >"$work/job.sh" <<'JOB'
#!/bin/bash
. "$work/lib"
nice -n -5 "$srcdir/t/watch.py" 300 heavy light resident >"$work/masks" &
watcher=$!
heavy auto,pool=job --exact -n2 -c2
await .0 -ge 8 && echo "alone: all"
light auto,pool=job --exact -n2 -c2
await .1 -ge 1
await .0 -ge 6 && echo "heavy: more"
pkill -x light
await .0 -ge 8 && echo "alone again: all"
srun --exact -n1 -c2 "$work/resident" 20
await .0 -ge 8 && echo "the other has come and gone"
kill $watcher
pkill -x heavy
wait
exit 0
JOB
chmod +x "$work/job.sh"
limit=350 run salloc -Q -n4 -c2 "$work/job.sh"
sed 's/^/# /' "$work/out" "$work/err" | tail -n 12
awk '{n[$2 " " $3 " " $4]++} END {for (seen in n) print "# " n[seen] " times: " seen}' \
	"$work/masks" | sort -k2nr | head -n 20
ok "pool=job: a step alone has the idle CPUs of its job too" says '^alone: all'
ok "a second one gets its own" awk '$2 == "0,1,2,3" && $3 == "4,5,6,7" {looks++} END {
	exit looks < 3}' "$work/masks"
ok "the busy one gets CPUs of the one that waits" says '^heavy: more'
ok "the busy one gets all CPUs when the other has ended" says 'alone again: all'
ok "a third step, not balanced, comes between and goes" says 'has come and gone'
# apart A B [LEAST]: no look has both on one CPU. A program that starts goes to CPU 0 for a moment
# itself, if that is in its cpuset (libpsm2, which Open MPI loads): only looks with LEAST CPUs for
# the first count.
apart() {
	awk -v a="$1" -v b="$2" -v least="${3:-0}" '
		$a != "-" && $b != "-" {
			looks++
			n = split($a, mine, ",")
			m = split($b, its, ",")
			same = 0
			for (i = 1; i <= n; i++) for (j = 1; j <= m; j++) same += mine[i] == its[j]
			if (n >= least && same && ++bad <= 20) print "# " $0
		}
		END {print "# " looks " looks, " bad + 0 " of them bad"; exit !(looks > 10) || bad > 0}' "$work/masks"
}
ok "never are two steps on one CPU" apart 2 3 5
ok "the third step is never on a CPU of the first one" apart 2 4
ok "nothing is left" all_of nothing_left "[ ! -e /run/malleable ]"
