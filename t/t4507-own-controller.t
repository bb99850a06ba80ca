#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# A user starts malleabled, or a program of its name, by hand: out of any job, and in the place of a
# step's own controller. It can do nothing that the user could not do before.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/faults.sh"
need_cluster
command -v python3 >/dev/null || skip_all "needs python3"
ordinary_users
mkdir -m 755 "$work/reports"
mkdir -m 777 "$work/user"
start_cluster --plugin-args "report_dir=$work/reports"
malleabled=$stage/lib/malleable/malleabled
malleable=$stage/bin/malleable
install -m 755 "$(command -v sleep)" "$work/user/malleabled"
"${other[@]}" sleep 1000 &
victim=$!

# by_hand.py MALLEABLED DIRECTORY REPORTS: with arguments and descriptors of all kinds.
cat >"$work/by_hand.py" <<'PY'
import fcntl, os, random, socket, subprocess, sys
program, here, reports, count = sys.argv[1:]
random.seed(1)
SEALS = 0xf
def segment(size, sealed):
    fd = os.memfd_create("malleable", 2)
    os.ftruncate(fd, size)
    os.pwrite(fd, random.randbytes(min(size, 65536)), 0)
    if sealed: fcntl.fcntl(fd, 1033, SEALS & ~8)
    return fd
others = hung = 0
for i in range(int(count)):
    life, end = os.pipe()
    fds = [life, segment(random.choice([0, 4096, 1 << 20]), i % 2),
           os.open("/proc/self/mem", os.O_RDWR), os.open(here + "/file", os.O_RDWR | os.O_CREAT),
           *[s.detach() for s in socket.socketpair()]]
    fd = lambda: str(random.choice(fds))
    line = [program, "--segment-fd", fd(), "--life-fd", str(life),
            "--cpus", random.choice(["0-4095", "0", "0-1"])]
    for option, values in {
            "--report-fd": [fd()], "--start-fd": [fd()], "--listen-fd": [fd()],
            "--cgroup-fd": [fd()],
            "--user": ["0", "1"], "--group": ["0", "1"],
            "--socket": ["/run/malleable/sockets/1.0.1"], "--idle": ["0-4095"],
            "--policy": ["auto", "lewi", "x" * 400], "--libdir": [here],
            "--report-file": [here + "/r", reports + "/r"], "--trace-file": [reports + "/t"],
            "--site-fd": [fd()], "--off-file": ["/dev/zero"],
            "--step": ["\x1b[31m"],
            "--nodes": ["4294967295"]}.items():
        if random.random() < 0.5: line += [option, random.choice(values)]
    null = subprocess.DEVNULL
    child = subprocess.Popen(line, pass_fds=fds, stdin=null, stdout=null, stderr=null)
    for each in fds: os.close(each)
    os.close(end)
    try: child.wait(120)
    except subprocess.TimeoutExpired: hung += 1; child.kill(); child.wait()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if open(f"/proc/{pid}/comm").read() != "malleabled\n": continue
            uids = open(f"/proc/{pid}/status").read().split("Uid:")[1].split()[:4]
            others += any(int(uid) != os.getuid() for uid in uids)
        except OSError: pass
print("hung", hung, "others", others)
PY
count=20
full && count=60
limit=600 run "${user[@]}" python3 "$work/by_hand.py" "$malleabled" "$work/user" "$work/reports" \
	$count
ok "$count controllers started by hand, out of a job: none is anybody else, all end" \
	says '^hung 0 others 0$'
written() { find "$work/reports" /run/malleable -mindepth 1 2>/dev/null; }
ok "no controller that was started by hand writes where root does" test -z "$(written)"

# in_step.py MALLEABLED SLEEP LOAD STOP: as a rank: another controller in the place of the step's
# own, until STOP exists.
cat >"$work/in_step.py" <<'PY'
import os, signal, socket, subprocess, sys, time
program, fake, load, stop = sys.argv[1:]
path, segment = os.environ["MALLEABLE_SOCKET"], int(os.environ["MALLEABLE_SEGMENT_FD"])
plain = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
allowed = os.sched_getaffinity(0)
outside = set(range(os.cpu_count())) - allowed
def controllers():
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            status = open(f"/proc/{pid}/status").read()
            if "State:\tZ" in status: continue
            if "Name:\tmalleabled\n" in status and f"Uid:\t{os.getuid()}\t" in status:
                yield int(pid)
        except OSError: pass
killed = list(controllers())
for pid in killed: os.kill(pid, signal.SIGKILL)
while set(killed) & set(controllers()): time.sleep(0.01)
def refused(what, *arguments):
    try: what(*arguments)
    except OSError: return
    print("not refused:", what.__name__, *arguments)
refused(os.unlink, path)
refused(os.rename, path, path + "x")
refused(os.rename, "/run/malleable/sockets", "/run/malleable/x")
refused(os.symlink, "/etc/passwd", path + "y")
refused(socket.socket(socket.AF_UNIX).bind, path)
refused(socket.socket(socket.AF_UNIX).connect, path)
# The kernel itself: one CPU more.
refused(os.sched_setaffinity, 0, outside)
life, end = os.pipe()
door = socket.socket(socket.AF_UNIX)
door.bind("\0malleabled.%d" % os.getpid())
door.listen()
own = subprocess.Popen([program, "--segment-fd", str(segment), "--life-fd", str(life), "--cpus",
                        "0-%d" % (os.cpu_count() - 1), "--idle", ",".join(map(str, outside)),
                        "--listen-fd", str(door.fileno()), "--policy", "lewi", "--step", "1.0"],
                       pass_fds=[segment, life, door.fileno()], env=plain)
subprocess.Popen([fake, "1000"], env=plain, start_new_session=True,
                 preexec_fn=lambda: [signal.signal(s, signal.SIG_IGN) for s in (1, 2, 15)])
rank = subprocess.Popen([load, "--work=4", "--regions=2", "--iterations=1", "--until=" + stop],
                        pass_fds=[segment], stdout=subprocess.DEVNULL)
looks = wide = 0
stopped = False
while rank.poll() is None:
    for thread in os.listdir(f"/proc/{rank.pid}/task"):
        try: mask = os.sched_getaffinity(int(thread))
        except OSError: continue
        looks += 1
        wide += bool(mask & outside)
    if looks > 200 and not stopped: stopped = open(stop, "w")
    time.sleep(0.01)
print("own controller", "runs" if own.poll() is None else "ended", "rank", rank.returncode)
print("outside", wide if outside else "none")
sys.stdout.flush()
while os.environ.get("LONGER") and not os.path.exists(os.environ["LONGER"]): time.sleep(0.1)
PY
replaced=("${user[@]}" srun -Q -D / -n1 -c1 --balance python3 "$work/in_step.py" "$malleabled"
	"$work/user/malleabled" "$load")
run "${replaced[@]}" "$work/user/stop.1"
cp "$work/err" "$work/err.step"
ok "a controller of the user's in the place of the step's" \
	all_of "exits 0" "says '^own controller runs rank 0$'"
ok "cannot take its socket's place, nor any beside it" silent_about "not refused"
ok "moves no thread out of the cpuset" says '^outside 0$'
ok "the step says that its own was killed" \
	grep -q 'the controller of step [0-9.]* ended early' "$work/err.step"
ok "nothing is left of any of them" unharmed

# Root looks while there are such.
LONGER="$work/stop" begin "${replaced[@]}" "$work/user/stop.2"
wait_until grep -q outside "$work/out"
"${user[@]}" "$work/user/malleabled" 1001 &
outside=$!
# Root's own words on the one that does not answer; no words of theirs.
MALLEABLE_PATIENCE=1
# What it prints goes beside the output of the step.
run_beside() {
	status=0
	timeout -k 5 100 "$@" >"$work/beside" 2>&1 </dev/null 8>&- || status=$?
}
run_beside "$malleable" status --here --json
ok "root's status is not harmed, and takes none of them for a controller" \
	all_of "! grep -q '1\.0' $work/beside" "[ '$status' -le 1 ]"
run_beside "$malleable" set 1.0 --policy=lewi
ok "root's malleable set is not harmed" fails
run_beside "${other[@]}" srun -Q -D / -n1 --balance true
ok "other users' steps run beside it" exits 0
ended
ok "a process of its name that is no step's is left alone" kill -0 "$outside"
kill "$outside"
wait "$outside" 2>/dev/null
ok "nothing is left" unharmed
ok "no process of another user was harmed" kill -0 "$victim"
kill "$victim"
done_testing
