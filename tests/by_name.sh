# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
#
# Reads what hpcprof-lite --all prints. tests/lib.sh has it; for scripts without that as well.

# by_name [-v NAME=VALUE]... PROGRAM [FILE]...: awk for what --all prints. get("samples") is the
# field with this name of the record in the line; $1 is the kind of the record. To change a field,
# assign to $column[$1, "samples"].
by_name_awk='
function get(name) {
	if (($1, name) in column)
		return $column[$1, name]
	print "by_name: " $1 " has no " name >"/dev/stderr"
	exit 2
}
/^# [a-z-]+\t/ {
	for (by_name_i = 2; by_name_i <= NF; by_name_i++)
		column[substr($1, 3), $by_name_i] = by_name_i
}
'
by_name() {
	by_name_next=option
	for by_name_arg; do
		shift
		case $by_name_next,$by_name_arg in
		option,-v) by_name_next=value ;;
		value,*) by_name_next=option ;;
		option,*)
			by_name_next="file"
			by_name_arg=$by_name_awk$by_name_arg
			;;
		esac
		set -- "$@" "$by_name_arg"
	done
	awk -F '\t' "$@"
}
