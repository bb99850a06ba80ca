# SPDX-License-Identifier: LGPL-2.1-or-later
# faults.sh: for tests of what happens to steps: the same with and without us, and nothing is left.
# shellcheck shell=bash disable=SC2034,SC2154

# same STATUS COMMAND...: run it with and without --balance (in place of the word @); status (this
# one) and output must be the same.
# Numbers of jobs and processes differ in any case, and the two tasks' order. What we say ourselves
# does not count.
plain_text() {
	sed -E \
		'/^balance: /d; /srun: job [0-9]+ (queued|has been)/d; s/\[?[0-9-]{4,}[0-9T:-]*(\.[0-9]{3})?\]?/N/g; s/[0-9]+\.[0-9]+/N/g; s/\b(job|JOB|[Jj]obid|JobId|task|allocation) [0-9]+/\1 N/g' "$@" | sort
}
same() {
	local word expected=$1 with=() without=()
	shift
	for word in "$@"; do
		without+=("${word//@/}")
		with+=("${word//@/--balance=auto$grow --balance-report=off}")
	done
	same_words "${without[@]}" || return
	cp "$work/out" "$work/out.without"
	cp "$work/err" "$work/err.without"
	status_without=$status
	same_words "${with[@]}" || return
	exits "$expected" || return
	[ "$status" = "$status_without" ] || {
		echo "# exit status $status, without --balance $status_without"
		return 1
	}
	diff <(plain_text "$work/out.without") <(plain_text "$work/out") |
		sed 's/^/# /' >"$work/diff"
	diff <(plain_text "$work/err.without") <(plain_text "$work/err") |
		sed 's/^/# /' >>"$work/diff"
	[ ! -s "$work/diff" ] || { cat "$work/diff"; return 1; }
}
# The words, of which empty ones go, and those with our options are several.
same_words() {
	local word words=()
	for word in "$@"; do
		case $word in
		"") ;;
		"--balance="*" --balance-report=off") words+=("${word% *}" --balance-report=off) ;;
		*) words+=("$word") ;;
		esac
	done
	run "${words[@]}"
	[ "$status" -ne 124 ] || { echo "# does not end: ${words[*]}"; return 1; }
}
grow=

# No file of a job is left. The directories may be.
no_files() {
	local found
	found=$(find /run/malleable -mindepth 1 ! -path /run/malleable/sockets 2>/dev/null)
	[ -z "$found" ] || { echo "# left:" "$found"; return 1; }
}
node_state() { sinfo -h -o %T | sort -u; }
# Slurm plans for a job that waits.
idle() { [[ $(node_state) =~ ^(idle|planned)$ ]]; }
node_idle() { wait_until idle || { echo "# the node is $(sinfo -h -o '%T %E')"; return 1; }; }
no_jobs() { [ -z "$(squeue -h)" ]; }
unharmed() { wait_until no_jobs && nothing_left && no_files && node_idle; }

# appears NAME: a process NAME of the step that was begun runs, and its controller does.
appears() { wait_until living "$1" && wait_until living malleabled; }
# job_of NAME: the number of the job of that name.
job_of() { squeue -h -o %A --name="$1" | head -n1; }
has_job() { [ -n "$(job_of "$1")" ]; }
# stepd_of JOB: the slurmstepd of its step 0.
stepd_of() { pgrep -f "^slurmstepd: \[$1\.0"; }
# Slurm leaves the cgroups of a killed slurmstepd behind, with or without us.
remove_lost() {
	find /sys/fs/cgroup -depth -type d -path '*/job_*/step_*' -exec rmdir {} + 2>/dev/null || true
}
state_of() { scontrol show job "$1" -o 2>/dev/null | sed -n 's/.*JobState=\([A-Z_]*\).*/\1/p'; }
in_state() { [ "$(state_of "$1")" = "$2" ]; }
reaches() {
	wait_until in_state "$1" "$2" || {
		echo "# job $1 is $(state_of "$1"), not $2"
		return 1
	}
}
# users_deadlines: until long_deadlines steps have those of a machine that does not stall, where one
# must pass.
users_deadlines() {
	sed -i.long 's/ \(patience\|wait\)=[0-9]*//g' "$BALANCE_CLUSTER/plugstack.conf"
}
long_deadlines() { mv "$BALANCE_CLUSTER/plugstack.conf.long" "$BALANCE_CLUSTER/plugstack.conf"; }
