#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The first hour: what README.md, the guides for users and administrators, and those on policies
# and traces have their readers type, taken from the pages as they are. Each command ends well and
# prints what its page shows.
. "$(dirname "$0")/lib.sh"
need_cluster
need mpich scdoc prover
[ $openmpi = yes ] || skip_all "mpirun is MPICH's, which starts ranks in a step"
ordinary_users
start_cluster
malleable=$stage/bin/malleable
own=$work/own
# What is not run, and why not; each is on a page.
not_run() {
	local line="root: echo 'include /usr/share/malleable/plugstack.conf'"
	echo "$line >/etc/slurm/plugstack.conf.d/malleable.conf  changes /etc"
	echo "$line >>/etc/slurm/plugstack.conf  changes /etc"
	cat <<'LIST'
root: contrib/demo                  builds; what it starts at its end is run
contrib/demo                        the same
root: contrib/check                 runs all tests, this one too
contrib/matrix                      reads the logs of all tests
root: contrib/package/build --install deb                                   t0015-packages.t
root: apt install ./build/package/deb/*.deb                                 t0015-packages.t
apt autoremove slurm-wlm-balance-plugin malleable                           t0015-packages.t
rpmbuild -ta malleable-VERSION.tar.xz                                       t0015-packages.t
contrib/package/try bookworm        makes a Debian of its own
contrib/debian forky                makes a Debian of its own
root: apt-get install libhwloc15 libjansson4 libseccomp2 libomp5-19         installs
root: apt-get install libzydis4.0 libpmix2 libdw1                           installs
autoreconf -fi                      builds
root: ./configure --prefix=/usr --libdir=/usr/lib/x86_64-linux-gnu && make && make install  builds
./configure --without-slurm --prefix=$HOME/malleable && make && make install  t0014-configure.t
cc -shared -fPIC $(pkg-config --cflags malleable) -o inch.so inch.c         t1003-loadable.t
export MALLEABLE_POLICIES=$PWD                                              t1003-loadable.t
srun -n2 --balance=inch ./app                                               t1003-loadable.t
malleable replay --policy=mine TRACE                                        t1003-loadable.t
build/t/bench/policies --load=drift --policy=inch                           t1003-loadable.t
malleable-convert --to=csv|perfetto|paraver FILE                            t3011-convert.t
useradd --system malleable          changes /etc/passwd
malleable-report TRACE                                                      t3010-page.t
malleable-convert --to=perfetto TRACE                                       t3011-convert.t
malleable-convert --to=svg build/demo/trace                                 t3011-convert.t
malleable-acct DIR                                                          t3012-acct.t
malleable-try --ranks=1,2,4 -- ./app                                        t3015-try.t
malleable-acct --by=program DIRECTORY                                       t3012-acct.t
LIST
}
# What readers put in, and what is as large as the machine, here.
fill_in() {
	sed -E "s/-n 8 -c 6/-n 2 -c 1/; s/-n1 -c4/-n1 -c1/; s/-n 4/-n 2/
		s/set 0-3/set 0 -n 1/; s/set 4-7/set 1 -n 1/; s/inspect .\/app/inspect .\/program/
		s/12\.0\.3|JOB\.STEP\.RANK/$running.1/; s/JOB\.STEP/$running/; s/JOB/${running%.*}/
		s/--count=6/--count=1/; s/TRACE|FILE/trace/; s/DIR(ECTORY)?/reports/
		s/ \.\.\./ .\/app/g"
}
# What varies in output: numbers and what is counted, the node's name, and how much was gained.
alike() {
	sed -E 's/[0-9]+(\.[0-9]+)?/N/g; s/ and noise//; s/ on [^ :]+: policy/ on NODE: policy/
		s/ +/ /g; s/N (lend|borrow|grant|reclaim|move)s?/N \1/g
		s/^(balance: )(N times|not faster|balanced|no estimate|ranks wait).*/\1VERDICT/'
}

mkdir -p "$own/reports" && cp "$load" "$own/program" && cp "$programs/load-mpich" "$own/"
ln -s "$stage" "$own/malleable"
printf '#!/bin/sh\nexec %s/program --iterations=5 ${UNTIL:+--until=$UNTIL}\n' "$own" >"$own/app"
cp "$own/app" "$own/load"
sed 's/program/load-mpich/' "$own/app" >"$own/app-mpich"
printf '#!/bin/sh\nsrun ./app\n' >"$own/job.sh"
mkdir -p "$own/build/t/bench" && cp "$builddir/t/bench/generate" "$own/build/t/bench/"
chown -Rh 65534:65534 "$own" && chmod 755 "$own"/*
place=(HOME="$own" PATH="$stage/bin:$PATH" TERM=xterm SBATCH_WAIT=1 SBATCH_OUTPUT="$own/out.%j")
# typing AS COMMAND: as a user or root, in a directory of theirs. A script is waited for.
typing() {
	local -n who=$1
	run "${who[@]}" "${place[@]}" bash -c "cd '$own'; $2"
}
# shellcheck disable=SC2034 # a name that typing gets
root=(env)

# What a page shows is printed; nothing tells of a step without its balance.
is_printed() {
	local line
	while IFS= read -r line; do
		[ -z "$line" ] || grep -Fq -- "$(alike <<<"$line")" "$work/printed" ||
			{ echo "# not printed: $line" && return 1; }
	done <<<"$1"
}
well() {
	exits 0 || { sed 's/^/# /' "$work/out" "$work/err" && return 1; }
	cat "$work/out" "$work/err" | alike >"$work/printed"
	! grep -E 'balance: .*(reject|unbalanced|cannot|refus)' "$work/printed" || return 1
	is_printed "$1"
}

# in_script BODY: as sbatch runs it.
in_script() {
	printf '#!/bin/bash\n%s\nwait\n' "$1" >"$own/script"
	typing user 'sbatch -n2 ./script; status=$?; cat out.*; rm out.*; exit $status'
}
# lasting STEP [COMMAND]: a step of the user's that goes on until it was measured, and until COMMAND
# was typed meanwhile.
lasting() {
	begin "${user[@]}" "${place[@]}" UNTIL="$work/stop" bash -c "cd '$own'; $1"
	wait_until computes
	running=$("$malleable" status --here --json | jq -r '.[0].step')
	[ $# = 1 ] || {
		mv "$work/out" "$work/step.out" && mv "$work/err" "$work/step.err"
		typing user "$(fill_in <<<"$2")"
		local result=$status
	}
	ended
	status=${result:-$status}
}
beside() { lasting "srun -n2 --balance ./app" "$1"; }

# type AS COMMAND: the way its reader would.
type() {
	case $2 in
	report) cp "$work/report" "$work/err" && : >"$work/out" && status=0 ;;
	"srun -n2 -c1 --balance ./load") lasting "$2" && cp "$work/err" "$work/report" ;;
	man*)
		read -r _ section name <<<"$2"
		run cat "$stage/share/man/man$section/$name.$section"
		;;
	"#SBATCH"*)
		directives+=$2$'\n'
		in_script "$(fill_in <<<"$directives")"$'\nsrun ./app'
		;;
	*mpiexec.hydra*) typing "$1" "$(fill_in <<<"${2/..././app-mpich}")" ;;
	"malleable top") beside "timeout 2 $2; [ \$? = 124 ]" ;;
	"malleable status"* | "malleable set"*) beside "$2" ;;
	*mpirun*"..."*) in_script "#SBATCH --balance"$'\n'"$(fill_in <<<"$2")" ;;
	*) typing "$1" "$(fill_in <<<"$2")" ;;
	esac
}
running='' directives=''
done_one() {
	[ -n "$command" ] || return
	if not_run | grep -Fq -- "$command  "; then
		left_out+=("$command")
	elif [[ " ${typed[*]} " != *" <$command$shown> "* ]]; then
		typed+=("<$command$shown>")
		type "$as" "$command"
		ok "$page: ${command/#\#/}" well "$shown"
	fi
}
# try PAGE AS: all that it has its readers type.
try() {
	page=$1 as=$2 command=
	mapfile -t lines < <(python3 "$srcdir/t/typed.py" "$srcdir/$page")
	for line in "${lines[@]}"; do
		if [[ $line = $'\t'* ]]; then
			shown+=${line:1}$'\n'
		else
			done_one
			command=$line shown=
		fi
	done
	done_one
}
left_out=() typed=()

lasting "srun -n2 --balance --balance-trace=trace --balance-report=reports/1.0.node.json ./app"
ok "there is a trace, and a report" [ -s "$own/trace" -a -s "$own/reports/1.0.node.json" ]
try README.md user
try doc/user.md user
try doc/policies.md user
try doc/trace.md user
try doc/admin.md root
echo "# ${#typed[@]} commands were run, ${#left_out[@]} not"
ok "what is not run is on the pages, and nothing else" \
	diff <(not_run | sed 's/   *.*//' | sort -u) <(printf '%s\n' "${left_out[@]}" | sort -u)
done_testing
