#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# A step over two nodes: one report on both, what is out of balance between them, and where its
# ranks had better run. Events.
. "$(dirname "$0")/lib.sh"
need_cluster
{
	unshare --net --uts --mount true && ip link add balance-a type veth peer name balance-b &&
		ip link del balance-a
} 2>/dev/null ||
	skip_all "needs network namespaces and iproute2"
[ -e /sys/fs/cgroup/cgroup.controllers ] && skip_all "the second host has no cgroup v2 of its own"
plan 26
PATIENCE=1 start_cluster --second-host
first=$(hostname -s)
second=$first-2
# both OPTIONS... -- ARGUMENTS...: four ranks, the two heavy ones on the first node.
# Open MPI's ranks that end remove the directory of their host below /tmp if it is empty, and those
# that begin on the emulated host put a file into it: one step in 60 died of that, balanced or not.
# So each step has its own.
steps=0
both() {
	steps=$((steps + 1))
	mkdir "$work/mpi.$steps"
	OMPI_MCA_orte_tmpdir_base=$work/mpi.$steps run srun -Q -N2 -n4 -c1 --ntasks-per-node=2 \
		--balance \
		--balance-report="$work/report.json" "$@"
}
heavy_first=("$load" --units=100000 "--work=24,24,6,6" --regions=2 --iterations=20)
lines() { [ "$(grep -c 'balance: ' "$work/err")" = "$1" ] || { echo "# not $1 lines"; false; }; }

both --balance-hostfile="$work/hosts" "${heavy_first[@]}"
cp "$work/report.json.$first" "$work/report.json" 2>/dev/null
ok "a balanced step over two nodes" all_of "exits 0" "says elapsed"
ok "one report has a line for each" \
	all_of "complains 'balance: step [0-9.]+ on $first: auto, 2 ranks, 2 CPUs'" \
	"complains 'balance: step [0-9.]+ on $second: auto, 2 ranks, 2 CPUs'"
ok "says what is out of balance between them" complains \
	"balance: 2 nodes, 4 ranks, 4 CPUs: load balance between nodes .mean/max. [4-7][0-9]\.[0-9] %, most work per CPU on $first"
ok "and what another placement would bring" complains \
	"balance: (8[0-9]|9[0-9]|100)\.[0-9] % with ranks placed as in $work/hosts: SLURM_HOSTFILE=$work/hosts srun --distribution=arbitrary"
ok "in no more than that" lines 4
ok "as JSON too" report_has \
	'.between_nodes | .nodes == 2 and .load_balance < 0.8 and .load_balance_possible > .load_balance + 0.1 and (.per_node | length) == 2'
ok "each node's own file is there" [ "$(jq .between_nodes "$work/report.json.$second")" = null ]
good_hosts() {
	all_of "[ \$(grep -cx $first $1) = 2 ]" "[ \$(grep -cx $second $1) = 2 ]" \
		"[ \"\$(sed -n 1p $1)\" != \"\$(sed -n 2p $1)\" ]"
}
ok "the hostfile gives each node as many ranks as before, one heavy one among them" good_hosts \
	"$work/hosts"

export SLURM_HOSTFILE=$work/hosts
# shellcheck disable=SC2016
run srun -Q -n4 -c1 --distribution=arbitrary sh -c 'echo $SLURM_PROCID $SLURMD_NODENAME'
sort "$work/out" | cut -d' ' -f2 >"$work/placed"
ok "Slurm places the ranks as it says" cmp "$work/placed" "$work/hosts"
run srun -Q -n4 -c1 --distribution=arbitrary --balance --balance-hostfile="$work/hosts2" \
	"${heavy_first[@]}"
unset SLURM_HOSTFILE
ok "and there is less to be improved" all_of "exits 0" \
	"complains 'load balance between nodes .mean/max. (8[0-9]|9[0-9]|100)'" \
	"good_hosts $work/hosts2"
run srun -Q -N2 -n2 -c1 --ntasks-per-node=1 --balance --balance-hostfile="$work/hosts2" \
	"${heavy_first[@]}"
printf '%s\n' "$first" "$second" >"$work/placed"
ok "where no other placement is better the hostfile has the present one" all_of "exits 0" \
	"complains 'no better placement of the ranks .* the present one is in $work/hosts2'" \
	"cmp $work/placed $work/hosts2"

both "$load" --units=100000 --work=2,2,2,2,2 --regions=1 --iterations=30
ok "nodes that are in balance are not accused" \
	all_of "exits 0" "complains '(no better placement|if the ranks were placed otherwise)'" \
	"complains '2 nodes, 4 ranks'"
both --balance-hostfile=/nonexistent/hosts "${heavy_first[@]}"
ok "a hostfile that cannot be written is one line" \
	all_of "exits 0" \
	"complains 'balance: cannot write the hostfile to /nonexistent/hosts: No such file'" \
	"lines 4"
both --balance-report=off --balance-hostfile="$work/hosts3" "${heavy_first[@]}"
ok "--balance-report=off silences all of it, the hostfile is written" \
	all_of "exits 0" "lines 0" "good_hosts $work/hosts3"

# Rank 0 is done long before the others: it waits as it would in MPI_Finalize.
both "$programs/late" 3
ok "nodes that end 3 s apart are in one report" all_of "exits 0" "complains '2 nodes, 4 ranks'"
both "$programs/late" 1 send
ok "a message that rank 0 has not sent yet is sent meanwhile" \
	all_of "exits 0" "complains '2 nodes, 4 ranks'" "says 'received [0-4]\.'"
# The administrator's switch on one of them: each host has a /run of its own.
second_run() { nsenter -t "$(cat "$BALANCE_CLUSTER/second.pid")" -m -r "$@"; }
second_run touch /run/malleable.off
begin=$SECONDS
both "${heavy_first[@]}"
ok "a node that is not balanced is not waited for" all_of "exits 0" "[ $((SECONDS - begin)) -lt 6 ]"
ok "the other one reports by itself" all_of "lines 1" \
	"complains 'balance: step [0-9.]+ on $first: auto'"
second_run rm /run/malleable.off
: >/run/malleable.off
both "${heavy_first[@]}"
rm /run/malleable.off
ok "so does the second where the first is not" \
	all_of "exits 0" "complains 'balance: step [0-9.]+ on $second: auto'" \
	"silent_about 'on $first: auto'"
both "$programs/late" 0 die
ok "a leader that dies ends the step as without us" all_of fails "silent_about 'Timed out'"
ok "nothing is left" nothing_left

# Nonsense as another node's description: told to the first node's controller by a process of the
# same user.
cat >"$work/nonsense" <<'PY'
import glob, json, os, socket, sys
path = os.environ["MALLEABLE_SOCKET"]
good = {"node": "other", "line": "x", "cpus": 2, "ranks": [2, 3], "work": [1, 1]}
bad = ["", "{", "[]", "null", '{"node":1}', json.dumps({**good, "node": "../../etc/passwd"}),
       json.dumps({**good, "node": ""}),
       json.dumps({**good, "node": "a" * 300}), json.dumps({**good, "cpus": 0}),
       json.dumps({**good, "cpus": 1 << 40}),
       json.dumps({**good, "ranks": [1]}), json.dumps({**good, "ranks": [], "work": []}),
       json.dumps({**good, "work": [-1, 1]}),
       json.dumps({**good, "ranks": [-1, 3]}), json.dumps({**good, "line": "y" * 600}),
       json.dumps({**good, "line": "a\nb"}),
       "[" * 20000, json.dumps({**good, "ranks": list(range(2000)), "work": [0] * 2000})]
def ask(text):
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(path)
        s.sendall(b"1 " + text.encode() + b"\n")
        return s.makefile().read()
print("early", ask("nodes " + json.dumps(good)).strip())
print("no list", repr(ask("node x")), repr(ask("node x 1,,2")), repr(ask("node x/y 0,1")),
      repr(ask("node x " + "1," * 3000 + "1")))
print("described", json.loads(ask("node first 0"))["ranks"])
taken = [b[:40] for b in bad if not ask("nodes " + b).startswith("error")]
print("taken:", taken)
print("good", ask("nodes " + json.dumps(good)).strip(), "again",
      ask("nodes " + json.dumps(good)).strip()[:5])
PY
run srun -Q -N2 -n2 --ntasks-per-node=1 --balance sh \
	-c "$load --units=100000 --iterations=60 & [ \$SLURM_PROCID = 1 ] || { sleep 0.5; python3 $work/nonsense; }; wait"
ok "descriptions of nodes that make no sense are refused, each" \
	all_of "exits 0" "says 'early error'" "says \"no list '' '' '' ''\"" \
	"says 'described .0.'" "says 'taken: ..$'" "says 'good ok again error'"

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# mpirun's daemons are a balanced step on the other nodes, with other ranks than PMIx means.
run salloc -Q -N2 -n4 --balance mpirun -n 4 --oversubscribe "$programs/late" 1
ok "mpirun over both nodes runs as without us" \
	all_of "exits 0" "says 'MPI_Finalize took'" "silent_about '2 nodes'"
# moving BALANCE COMMAND...: under mpirun, two ranks on eight CPUs that do not exist.
moving() {
	run env FAKE_CPUS=8 LD_PRELOAD="$programs/fakecpus.so" KMP_AFFINITY=disabled \
		OMP_WAIT_POLICY=passive OMP_NUM_THREADS=4 \
		"$stage/bin/malleable" run --libdir "$stage/lib/malleable" --balance="$1" \
		--balance-report="$work/report.json" -- \
		mpirun --bind-to none --oversubscribe -n 2 "${@:2}"
}
moving auto,lend=no,events=yes "$programs/listen"
ok "events=yes: a listener hears of CPUs that moved" \
	all_of "exits 0" "report_has '.cpu_changes.moves > 0'" \
	"says \"rank 0 has CPUs \$(report '.per_rank[0].cpus')\$\"" "says 'rank 1 has CPUs'"
moving auto,lend=no "$programs/listen"
ok "without it there are none" all_of "exits 0" "report_has '.cpu_changes.moves > 0'" \
	"silent_about 'has CPUs'"
unset_local=(env -u OMPI_COMM_WORLD_LOCAL_RANK -u OMPI_COMM_WORLD_LOCAL_SIZE)
moving observe "${unset_local[@]}" "$load" --units=100000 --iterations=8
ok "where only PMIx tells who is on the node, it is asked" \
	all_of "exits 0" \
	"report_has '.ranks == 2 and .per_rank[0].home == \"0-3\" and .per_rank[1].home == \"4-7\"'"
