#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# A step over two nodes: one report on both, and what is out of balance between them.
. "$(dirname "$0")/lib.sh"
need pmix
need_cluster
compgen -G "/usr/lib/*/slurm*/mpi_pmix*.so" >/dev/null || skip_all "Slurm has no mpi/pmix"
{
	unshare --net --uts --mount true && ip link add balance-a type veth peer name balance-b &&
		ip link del balance-a
} 2>/dev/null ||
	skip_all "needs network namespaces and iproute2"
[ -e /sys/fs/cgroup/cgroup.controllers ] && skip_all "the second host has no cgroup v2 of its own"
start_cluster --second-host
# The cable between both hosts, not what else this one has.
export OMPI_MCA_btl_tcp_if_include=10.213.77.0/30 OMPI_MCA_oob_tcp_if_include=10.213.77.0/30
first=$(hostname -s)
second=$first-2
# both OPTIONS... -- ARGUMENTS...: four ranks, two on each node, in the background.
# Open MPI's ranks that end remove the directory of their host below /tmp if it is empty, and those
# that begin on the emulated host put a file into it: one step in 60 died of that, balanced or not.
# So each step has its own.
steps=0
both() {
	steps=$((steps + 1))
	mkdir "$work/mpi.$steps"
	OMPI_MCA_orte_tmpdir_base=$work/mpi.$steps begin srun -Q -N2 -n4 -c1 --ntasks-per-node=2 \
		--balance --balance-report="$work/report.json" "$@"
}
to_its_end() {
	status=0
	wait "$step" || status=$?
}
# Those on the first node have all of the work; they run until each node that is balanced has a
# window, and some more.
heavy_first=("$load" --units=100000 "--work=24,24,0,0" --regions=2 --iterations=20
	--until="$work/stop")
second_run() { nsenter -t "$(cat "$BALANCE_CLUSTER/second.pid")" -m -r "$@"; }
second_computes() {
	[ "$(second_run "$stage/bin/malleable" status --here --json 2>/dev/null |
		jq '.[0].windows > 0' 2>/dev/null)" = true ]
}
computed() {
	wait_until computes && wait_until second_computes
	ended
}
lines() { [ "$(grep -c 'balance: ' "$work/err")" = "$1" ] || { echo "# not $1 lines"; false; }; }

both "${heavy_first[@]}"
computed
cp "$work/report.json.$first" "$work/report.json" 2>/dev/null
ok "a balanced step over two nodes" all_of "exits 0" "says elapsed"
ok "one report has a line for each" \
	all_of "complains 'balance: step [0-9.]+ on $first: auto, 2 ranks, 2 CPUs'" \
	"complains 'balance: step [0-9.]+ on $second: auto, 2 ranks, 2 CPUs'"
ok "says what is out of balance between them" complains \
	"balance: 2 nodes, 4 ranks, 4 CPUs: load balance between nodes .mean/max. [0-9.]+ %, most work per CPU on ($first|$second)"
ok "in no more than that" lines 3
ok "the report over nodes is in the JSON, too" report_has \
	'.between_nodes | .nodes == 2 and .load_balance > 0 and (.per_node | length) == 2'
ok "each node's own file is there" [ "$(jq .between_nodes "$work/report.json.$second")" = null ]
! full || ok "with all work on one node the balance is low" \
	report_has '.between_nodes.load_balance < 0.8'
both --balance-report=off "${heavy_first[@]}"
computed
ok "--balance-report=off silences all of it" all_of "exits 0" "lines 0"

# Rank 0 is done before the others: it waits as it would in MPI_Finalize.
both "$programs/late" 1
to_its_end
ok "nodes that end one after the other are in one report" \
	all_of "exits 0" "complains 'step [0-9.]+ on $first'" "complains 'step [0-9.]+ on $second'"
both "$programs/late" 1 send
to_its_end
ok "a message that rank 0 has not sent yet is sent meanwhile" \
	all_of "exits 0" "complains 'step [0-9.]+ on $second'" "says received"
! full || ok "within 5 s" says 'received [0-4]\.'
# The administrator's switch on one of them: each host has a /run of its own.
second_run touch /run/malleable.off
both "${heavy_first[@]}"
wait_until computes
ended
ok "a node that is not balanced is not waited for: the other one reports by itself" \
	all_of "exits 0" "lines 1" "complains 'balance: step [0-9.]+ on $first: auto'"
second_run rm /run/malleable.off
: >/run/malleable.off
both "${heavy_first[@]}"
wait_until second_computes
rm /run/malleable.off
ended
ok "the second node reports by itself where the first is not balanced" \
	all_of "exits 0" "complains 'balance: step [0-9.]+ on $second: auto'" \
	"silent_about 'on $first: auto'"

# What holds for the whole step is one line; what may be true of one node alone has its name.
unmeasured() {
	run srun -Q -N2 -n2 --ntasks-per-node=1 --balance=auto --balance-report=off "$@"
}
sed -i.all 's/$/ policies@main=lewi/' "$BALANCE_CLUSTER/plugstack.conf"
unmeasured true
mv "$BALANCE_CLUSTER/plugstack.conf.all" "$BALANCE_CLUSTER/plugstack.conf"
ok "a policy that is allowed on no node: one line" all_of "exits 0" "lines 1" \
	"complains 'balance: policy .auto. is not allowed here: .*; the step runs unbalanced'"
long=$(printf '%9000s' '' | tr ' ' :)
unmeasured --ntasks-per-node=2 -n4 --export="ALL,LD_PRELOAD=$long" true
ok "an environment that serves no task: one line" all_of "exits 0" "lines 1" \
	"complains 'balance: LD_PRELOAD is longer than .*; the step runs unbalanced'"
unmeasured bash -c "LD_PRELOAD=\$LD_PRELOAD:$programs/checkpoints.so exec $load --iterations=1"
ok "a program that cannot be balanced: one line" all_of "exits 0" "lines 1" \
	"complains '^balance: DMTCP takes checkpoints'"
second_run mkdir -p /run/malleable
second_run mount -t tmpfs -o ro,mode=755 none /run/malleable
unmeasured "$load" --iterations=1
second_run umount /run/malleable
ok "a fault of the second node alone: one line, with its name" all_of "exits 0" "lines 1" \
	"complains 'balance: $second: cannot .*; the step runs unbalanced'"
# shellcheck disable=SC2016 # the task's shell expands it
unmeasured sh -c '[ $SLURM_NODEID = 0 ] || export MALLEABLE_CPUS=none; exec "$0" --iterations=1' \
	"$load"
ok "likewise of a rank there" all_of "exits 0" "lines 1" \
	"complains '^balance: $second: MALLEABLE_CPUS is .* wrong; this rank runs unbalanced'"
# One deadline passes here.
deadlines() { sed -i "s/patience=[0-9]*/patience=$1/" "$BALANCE_CLUSTER/plugstack.conf"; }
deadlines 1
both "$programs/late" 0 die
to_its_end
deadlines "$MALLEABLE_PATIENCE"
ok "a leader that dies ends the step as without us" all_of fails "silent_about 'Timed out'"
ok "nothing is left" nothing_left

# Nonsense as another node's description: told to the first node's controller by a process of the
# same user.
cat >"$work/nonsense" <<'PY'
import json, os, socket, time
path = os.environ["MALLEABLE_SOCKET"]
good = {"node": "other", "line": "x", "cpus": 2, "ranks": 2, "work_s": 2}
bad = ["", "{", "[]", "null", '{"node":1}', json.dumps({**good, "node": "../../etc/passwd"}),
       json.dumps({**good, "node": ""}),
       json.dumps({**good, "node": "a" * 300}), json.dumps({**good, "cpus": 0}),
       json.dumps({**good, "cpus": 1 << 40}),
       json.dumps({**good, "ranks": 0}), json.dumps({**good, "ranks": [1]}),
       json.dumps({**good, "ranks": -1}), json.dumps({**good, "ranks": 2000}),
       json.dumps({**good, "work_s": -1}), json.dumps({**good, "work_s": [1, 1]}),
       json.dumps({**good, "line": "y" * 600}), json.dumps({**good, "line": "a\nb"}),
       "[" * 20000]
def ask(text):
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(path)
        s.sendall(b"1 " + text.encode() + b"\n")
        return s.makefile().read()
print("early", ask("nodes " + json.dumps(good)).strip())
print("no name", repr(ask("node ")), repr(ask("node x y")), repr(ask("node x/y")),
      repr(ask("node " + "x" * 3000)))
while not (own := ask("node first")):
    time.sleep(0.1)
print("described", json.loads(own)["ranks"])
taken = [b[:40] for b in bad if not ask("nodes " + b).startswith("error")]
print("taken:", taken)
print("good", ask("nodes " + json.dumps(good)).strip(), "again",
      ask("nodes " + json.dumps(good)).strip()[:5])
PY
rm -f "$work/stop"
run srun -Q -N2 -n2 --ntasks-per-node=1 --balance sh \
	-c "$load --units=100000 --iterations=1 --until=$work/stop & [ \$SLURM_PROCID = 1 ] || { python3 $work/nonsense; touch $work/stop; }; wait"
ok "descriptions of nodes that make no sense are refused, each" \
	all_of "exits 0" "says 'early error'" "says \"no name '' '' '' ''\"" \
	"says 'described 1'" "says 'taken: ..$'" "says 'good ok again error'"

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# mpirun's daemons are a balanced step on the other nodes, with other ranks than PMIx means.
run salloc -Q -N2 -n4 --balance mpirun -n 4 --oversubscribe "$programs/late" 1
ok "mpirun over both nodes runs as without us" \
	all_of "exits 0" "says 'MPI_Finalize took'" "silent_about '2 nodes'"
# Under mpirun, two ranks on eight CPUs that do not exist.
ours=(env FAKE_CPUS=8 LD_PRELOAD="$programs/fakecpus.so" KMP_AFFINITY=disabled
	OMP_WAIT_POLICY=passive OMP_NUM_THREADS=4 "$stage/bin/malleable" run
	--libdir "$stage/lib/malleable" --balance-report="$work/report.json")
mpirun+=(-n 2)
unset_local=(env -u OMPI_COMM_WORLD_LOCAL_RANK -u OMPI_COMM_WORLD_LOCAL_SIZE)
run "${ours[@]}" --balance=observe -- "${mpirun[@]}" "${unset_local[@]}" "$load" --units=100000 \
	--iterations=8
ok "where only PMIx tells who is on the node, it is asked" \
	all_of "exits 0" \
	"report_has '.ranks == 2 and .per_rank[0].home == \"0-3\" and .per_rank[1].home == \"4-7\"'"
done_testing
