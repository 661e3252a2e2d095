#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Bash completion of the three tools offers what the tools have: options as --help lists them, and
# values as the tools accept them. At the end once as a user has it, by the key, on a terminal.
. "${srcdir:-.}/tests/lib.sh"

need bash
mkdir "$T/bin" || exit 99
ln -s "$HPCRUN" "$HPCSTRUCT" "$HPCPROF" "$T/bin/"
cd "$T" || exit 99
mkdir -p work/a-directory
: >work/a-file

# offers TOOL WORD...: what is offered to continue the last word, a line each. As bash does, words
# are cut at "=" and ":".
cat >complete.bash <<'EOF'
. "$1/completion/${2##*/}" || exit
shift
COMP_LINE="$*" COMP_POINT=${#COMP_LINE} COMP_WORDS=()
for word; do
	[ -n "$word" ] || COMP_WORDS+=("")
	while [ -n "$word" ]; do
		case $word in
		[:=]*) part=${word%%[!:=]*} ;;
		*) part=${word%%[:=]*} ;;
		esac
		COMP_WORDS+=("$part")
		word=${word#"$part"}
	done
done
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
cd work || exit
_hpctoolkit_lite "$1" "${COMP_WORDS[COMP_CWORD]}"
[ ${#COMPREPLY[@]} -eq 0 ] || printf '%s\n' "${COMPREPLY[@]}"
EOF
offers() {
	tool=$T/bin/$1
	shift
	bash complete.bash "$srcdir" "$tool" "$@" 2>&1
}
words() { tr ' ' '\n' | sed '/^$/d' | sort -u; }

# --- options
for tool in hpcrun-lite hpcstruct-lite hpcprof-lite; do
	"bin/$tool" --help >help
	offers "$tool" - | words >offered
	# every word of the help that looks like an option and begins a line of the list
	awk 'match($0, /^ +/) && RLENGTH <= 6 &&
		$1 ~ /^-/ { for (i = 1; i <= NF && $i ~ /^-/; i++) { sub(/,$/, "", $i);
		print $i } }' help |
		sed 's/\[.*//; s/=.*/=/' | sort -u >listed
	same "$tool: the options are those of --help" offered listed
	is "$tool: --help has 80 columns" "$(awk 'length > 80' help)" ""
	ok "$tool: which are some" [ "$(wc -l <offered)" -ge 15 ]
done
is "one is completed" "$(offers hpcprof-lite --no-st)" "--no-structs"
is "one with a value ends in =" "$(offers hpcstruct-lite -o x --gpu)" "--gpu-code="

# --- values: those that the refusal of a wrong one names
# values TOOL OPTION: each between quotes, or in the list at the end
values() {
	"bin/$1" "$2" nonsense x 2>&1 | sed 's/ (--help.*//; s/,* not .nonsense.$//' |
		sed \
		"s/^.*'nonsense' is [^(:]*[(:] *//; s/^.*none of //; s/^.*; choose \(.*\) or /\1 /; s/^.* is '//; s/' or '/ /; s/[),']/ /g" | words
}
# shellcheck disable=SC2013 # an option is one word
for option in --to --by --sort $(sed -n "s/^ *\\(--otf2\\)=.*/\\1/p" help); do
	is "hpcprof-lite $option offers what it takes" "$(offers hpcprof-lite "$option=" | words)" \
		"$(values hpcprof-lite $option)"
done
is "hpcrun-lite -a, too" "$(offers hpcrun-lite -a '' | words)" "$(values hpcrun-lite -a)"
is "a value after the option's name alone" "$(offers hpcprof-lite --sort t)" "total"
is "a list goes on" "$(offers hpcprof-lite --by=path,fu)" "path,function"
like "events are those of the machine" "$(offers hpcrun-lite -e CPU)" '^CPUTIME$'
is "... also where their name has a colon, behind which bash continues" \
	"$(offers hpcrun-lite -e perf::PAGE-)" "PAGE-FAULTS"
is "... and of GPUs" "$(offers hpcrun-lite --event=gpu=open)" "opencl"

# --- files, directories, and the measured command
is "hpcprof-lite com... is its command" "$(offers hpcprof-lite com)" "compare"
"bin/hpcprof-lite" compare --help >help
is "compare --help has 80 columns" "$(awk 'length > 80' help)" ""
awk 'match($0, /^ +/) && RLENGTH <= 6 &&
	$1 ~ /^-/ { for (i = 1; i <= NF && $i ~ /^-/; i++) { sub(/,$/, "", $i); print $i } }' help |
	sed 's/=.*/=/' | sort -u >listed
offers hpcprof-lite compare a b - | words >offered
same "hpcprof-lite compare: the options are those of its --help" offered listed
is "hpcprof-lite compare --by offers its tables" "$(offers hpcprof-lite compare --by= | words)" \
	"$(bin/hpcprof-lite compare --by x 2>&1 | sed 's/ (--help.*//; s/.*none of //; s/,//g' | words)"

is "hpcprof-lite wants directories" "$(offers hpcprof-lite a-)" "a-directory"
is "hpcstruct-lite files" "$(offers hpcstruct-lite a- | words)" "$(printf 'a-directory\na-file')"
is "-o files" "$(offers hpcrun-lite -o a-f)" "a-file"
like "hpcrun-lite wants a command" "$(offers hpcrun-lite -e CPUTIME@f100 -o d printen)" '^printenv$'
is "... whose arguments are files" \
	"$(offers hpcrun-lite -e perf::PAGE-FAULTS -o d -- printenv a-f)" "a-file"
is "... and its options not ours" "$(offers hpcrun-lite -q printenv --no-)" ""

# --- as it is installed, and by the key
for tool in hpcrun-lite hpcstruct-lite hpcprof-lite; do
	found=$(find "$builddir/tests/stage" -path "*/share/bash-completion/completions/$tool" \
		2>/dev/null | head -n 1)
	ok "$tool: is installed, and registers" bash -c '. "$1" && complete -p "$2"' - "$found" \
		"$tool"
done
cat >key.py <<'EOF'
import os, pty, select, sys
pid, fd = pty.fork()
if pid == 0:
    os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])
def until(what):
    text = b""
    while what not in text and select.select([fd], [], [], 60)[0]:
        text += os.read(fd, 4096)
    return text
os.write(fd, b"PS1='ready''> '; . '%s'\n" % sys.argv[1].encode())
until(b"ready> ")
os.write(fd, b"hpcprof-lite --thres\t")
shown = until(b"--threshold=")
os.write(fd, b"\x15exit\n")
print("completed" if b"--threshold=" in shown else shown)
EOF
if have "${PYTHON3:-python3}"; then
	is "the key completes an option" \
		"$(PATH=$T/bin:$PATH "${PYTHON3:-python3}" key.py "$found")" completed
else
	skip "the key completes an option" "no Python"
fi
done_testing
