#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# What bash completes, as readline cuts the words: = is a word of its own.
. "$(dirname "$0")/lib.sh"
plan 16

directory=$stage/share/bash-completion/completions
ok "it is where bash-completion looks, for Slurm's commands too" all_of \
	"[ -r $directory/malleable ]" "[ $directory/srun -ef $directory/malleable ]" \
	"[ $directory/sbatch -ef $directory/malleable ]" \
	"[ $directory/malleable-acct -ef $directory/malleable ]"
PATH=$stage/bin:$tools:$PATH
# What Slurm itself completes.
slurms() { COMPREPLY=(slurms "$@"); }
complete -F slurms srun
# shellcheck disable=SC1091
. "$directory/malleable"

# completed TEXT WORD...: TEXT is what the WORDs' last can become.
completed() {
	local wanted=$1 function=_malleable
	shift
	COMP_WORDS=("$@")
	COMP_CWORD=$(($# - 1))
	COMPREPLY=()
	case $1 in
	malleable) ;;
	malleable-*) function=_malleable_tool ;;
	*) function=_malleable_slurm ;;
	esac
	$function "$1" "${!#}" "" 2>"$work/err"
	[ "${COMPREPLY[*]}" = "$wanted" ] || { echo "# '${COMPREPLY[*]}', not '$wanted'"; false; }
}
tools_found=$([ ! -x "$tools/malleable-report" ] || echo " report")
ok "bash completes commands" completed "replay$tools_found" malleable re
ok "bash completes a command alone" completed status malleable st
ok "bash completes help's commands" completed admin malleable help ad
ok "bash completes a command's options" completed "--watch" malleable status --wa
ok "options with a value" completed "--policy=" malleable set --po
ok "bash completes a tool's options" completed "--output" malleable-convert --ou
ok "words of an option" completed "perfetto paraver" malleable-convert --to = p
ok "bash completes policies" completed "sabo" malleable run --balance = sa
ok "where = is no break of words" completed "--policy=lewi" malleable set --policy=le
ok "bash completes a policy's keys" completed "auto,gain=" srun --balance = auto,ga
ok "the keys of all policies" completed "lewi,max_threads=" srun --balance = lewi,max
ok "a key after a value" completed "3,max_threads=" srun --balance = auto,gain = 3,max
ok "bash completes srun's options" \
	completed "slurms srun --balance-t  --balance-trace=" srun --balance-t
ok "what is not ours is Slurm's" completed "slurms srun --nod " srun --nod
# A command of that name tells of two steps.
mkdir "$work/bin"
printf '#!/bin/sh\nprintf "STEP NODE\\n12.0 a\\n  rank\\n12.1 a\\n7.0 b\\n"\n' \
	>"$work/bin/malleable"
chmod 755 "$work/bin/malleable"
PATH=$work/bin:$PATH
ok "bash completes steps" completed "12.0 12.1" malleable status 12
