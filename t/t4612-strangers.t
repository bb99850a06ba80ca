#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Launchers and batch scripts: nothing that a stranger can make or take is opened or waited for.
. "$(dirname "$0")/lib.sh"
[ $openmpi = yes ] || skip_all "mpirun is MPICH's, which starts ranks in a step"
need_cluster
command -v python3 >/dev/null || skip_all "needs python3"
ordinary_users
start_cluster
join=$stage/lib/malleable/malleable-join
uid=65534
mkdir -m 777 "$work/user" "$work/others"
cd "$work/user" || exit 1
export load join work

# job [OPTION...] <SCRIPT: as the user, to its end; output and status as of run.
job() {
	{ echo '#!/bin/bash' && cat; } >"$work/user/job"
	rm -f "$work"/user/job.{out,err}
	run "${user[@]}" sbatch --wait --parsable -D "$work/user" -n2 -o job.out -e job.err \
		"$@" "$work/user/job"
	mv "$work/user/job.out" "$work/out" && mv "$work/user/job.err" "$work/err"
}
reports() { [ "$(grep -c "^balance: step [0-9]*\.$launcher" "$work/err")" = "$1" ]; }

# A stranger's directory, by a name that the user's own program is given.
printf '#!/bin/sh\necho "named $0"\n' | tee "$work/others/named" >named
chmod +x named "$work/others/named"
# shellcheck disable=SC2016 # for the job
job --balance <<<'PATH=$PWD:$PATH mpirun -n 1 named --path "$work/others"'
ok "words of the program's are none of mpirun's" all_of "exits 0" \
	"says 'named $work/user/named'" "silent_about others"

# While ranks run: all by which they and their script meet is the user's.
script_pipe() { find /run/malleable/scripts -type p 2>/dev/null | grep .; }
begun() { [ -e "$work/user/begun" ]; }
cat >job <<'JOB'
#!/bin/bash
mpirun -n 2 sh -c 'ls -ld "$PMIX_SERVER_TMPDIR"/malleable.* "$PMIX_SERVER_TMPDIR" >seen.$$
	mv seen.$$ begun
	until [ -e end ]; do sleep 0.1; done'
JOB
"${user[@]}" sbatch --wait -Q -D "$work/user" -n2 -o out -e err --balance job 8>&- &
waiting=$!
wait_until begun
ok "ranks meet in a directory of the user's alone" all_of \
	"grep -q '^s.* malleable.[^ ]*$\|^s.*/malleable[.]' begun" "grep -q '^drwx------ ' begun"
ok "nothing has an abstract name" test "$(grep -c '@malleable' /proc/net/unix)" = 0
mapfile -t pipes < <(script_pipe)
ok "the script's two pipes are its user's alone" \
	test "${#pipes[@]}: $(stat -c '%u %a' "${pipes[@]}" | sort -u)" = "2: $uid 600"
opened=
for pipe in "${pipes[@]}"; do
	"${other[@]}" sh -c "echo s >'$pipe'" 2>/dev/null && opened=$opened$pipe
done
ok "a stranger cannot open a script's pipes" [ -z "$opened" ]
"${other[@]}" touch "/run/malleable/scripts/job_99" 2>/dev/null
ok "a stranger cannot take a name beside a script's sockets" [ ! -e /run/malleable/scripts/job_99 ]
: >end
wait $waiting
no_pipe() { ! script_pipe; }
ok "a script's pipes go with it" all_of no_pipe "[ ! -e /run/malleable ]"
true &
dead=$!
wait $dead
mkdir -p /run/malleable/scripts && mkfifo /run/malleable/scripts/job_1.$dead
sleep 1000 <>/run/malleable/scripts/job_1.$dead 8>&- &
held=$!
job --balance <<<'mpirun -n 2 "$load" --work=10,10 --iterations=1'
ok "one that a killed slurmstepd left goes with the next, though its user holds it" all_of \
	"reports 1" "[ ! -e /run/malleable ]"
kill $held

# A stranger has made the directory in /tmp, in which malleable status looks.
for kind in directory link file; do
	case $kind in
	directory) "${other[@]}" mkdir -m 777 /tmp/malleable-$uid ;;
	link) "${other[@]}" ln -s "$work/others" /tmp/malleable-$uid ;;
	file) "${other[@]}" touch /tmp/malleable-$uid ;;
	esac
	job --balance <<'JOB'
mpirun -n 2 "$load" --work=10,10 --iterations=1
JOB
	ok "where a stranger's $kind is in the way ranks are balanced" all_of "exits 0" "reports 1"
	ok "nothing is written where a stranger's $kind is in the way" \
		[ "$(find "$work/others" /tmp/malleable-$uid/ \
		-mindepth 1 ! -name named 2>/dev/null | wc -l)" = 0 ]
	run "${user[@]}" "$stage/bin/malleable" status
	ok "status tells why it shows no step where a stranger's $kind is in the way" complains \
		"/tmp/malleable-$uid is not a directory that only you can use: steps of mpirun"
	rm -rf "/tmp/malleable-$uid"
done

# joins DIRECTORY COMMAND...: a rank whose launcher has that directory; once, without a launcher.
joins() {
	run "${user[@]}" env PMIX_NAMESPACE=x PMIX_SERVER_TMPDIR="$1" MALLEABLE_JOB=auto \
		OMPI_COMM_WORLD_LOCAL_RANK=0 OMPI_COMM_WORLD_LOCAL_SIZE=1 "${@:2}" \
		"$join" echo ran
}
"${user[@]}" mkdir -m 755 open
"${other[@]}" mkdir -m 700 "$work/others/closed"
"${other[@]}" mkdir -m 777 "$work/others/open"
for directory in "$PWD/open" "$work/others/closed" "$work/others/open" /nowhere; do
	joins "$directory"
	ok "in $(basename "$directory") nobody meets, and the program runs" all_of "says '^ran$'" \
		"complains 'balance: .*the launcher.*; they run unbalanced'"
done
"${user[@]}" mkdir -m 500 full
limit=60 joins "$PWD/full"
ok "where no socket can be made nobody waits" all_of "says '^ran$'" \
	"complains 'ranks cannot meet: Permission denied; they run unbalanced'"
"${user[@]}" mkdir -m 700 own
joins "$PWD/own" prlimit --nproc=1
ok "where no process can be started the program runs" all_of "says '^ran$'" \
	"complains 'cannot start the controller of the ranks; they run unbalanced'"
joins "$PWD/own"
ok "outside of scripts too, with one line" all_of "says '^ran$'" \
	"complains 'cannot open the pipe of the job.s script in /run/malleable/scripts'"
ok "nothing is left" all_of nothing_left "[ -z \"\$(ls own)\" ]"
done_testing
