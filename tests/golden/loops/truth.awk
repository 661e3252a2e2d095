# SPDX-License-Identifier: BSD-3-Clause
#
# Which loops a structure has, against the annotations of its source (loops.c says what they mean). Prints each difference.
#
#	awk -v src=NAME -v optimised=0|1 -f truth.awk SOURCE STRUCTURE-AS-TEXT
#
# Allowed in optimised code: several copies of a loop; a copy outside of the loop around it, peeled off, beside one inside.

# The name alone: without arguments, qualifiers, templates and what follows.
function bare(text) {
	sub(/ at [\/?].*/, "", text)
	sub(/ \(_Z[^ ]*\)$/, "", text)
	if (text ~ /operator\(\)|<lambda[#0-9]*>$/)
		return "operator()"
	sub(/\(.*/, "", text)
	sub(/<.*/, "", text)
	sub(/.* /, "", text)
	sub(/.*::/, "", text)
	return text
}

function complain(line, what) {
	print "loop " loop[line] " (line " line ") of " func_of[line] " " what
}

# Whether loop `outer` of the function of `line` is around the loop there; "-" always is.
function is_around(outer, line,    up) {
	for (up = parent[line]; up != "-"; up = parent[line_of[func_of[line], up]])
		if (up == outer)
			return 1
	return outer == "-"
}

FNR == 1 { file++ }
file == 1 {
	if (match($0, /@ /)) {
		n = split(substr($0, RSTART + 2), word, " ")
		func_of[FNR] = word[1]
		loop[FNR] = word[2]
		parent[FNR] = word[3]
		line_of[word[1], word[2]] = FNR
		vanishes[FNR] = word[4] == "vanishes"
		if (word[4] == "body")
			body[FNR + 1] = FNR
	}
	next
}

/^function / {
	text = $0
	sub(/^function 0x[0-9a-f]* /, "", text)
	kind[0] = "function"
	name[0] = bare(text)
	next
}
/^ *inline 0x/ {
	match($0, /^ */)
	text = $0
	sub(/^ *inline 0x[0-9a-f]* /, "", text)
	kind[RLENGTH / 2] = "inline"
	name[RLENGTH / 2] = bare(text)
	next
}
/^ *loop 0x/ {
	match($0, /^ */)
	depth = RLENGTH / 2
	kind[depth] = "loop"
	place = $NF
	name[depth] = place
	if (place == "?") {
		print "loop " $2 " of " name[0] " has no line"
		next
	}
	if (place !~ src)
		next # of a library's header
	line = place
	sub(/.*:/, "", line)
	line += 0
	if (optimised && (line in body))
		line = body[line]
	name[depth] = line
	if (!(line in loop)) {
		print "loop " $2 " of " name[0] " has line " line ", where there is none"
		next
	}
	around = "-"
	inside = ""
	for (k = depth - 1; k >= 0 && inside == ""; k--)
		if (kind[k] != "loop")
			inside = name[k]
		else if (around == "-")
			around = loop[name[k]]
	if (inside != func_of[line])
		complain(line, "is in " inside)
	if (around == parent[line])
		seen[line]++
	else if (!optimised || !is_around(around, line))
		complain(line, "is in loop " around ", not in " parent[line])
	n_irreducible[line] += $3 == "irreducible"
}
END {
	for (line in loop)
		if (!seen[line] && !(vanishes[line] && optimised))
			complain(line, "is missing")
	for (line in n_irreducible)
		if (!optimised && n_irreducible[line] != (loop[line] == "twice_entered"))
			complain(line, n_irreducible[line] ? "is called irreducible" : "is not called irreducible")
}
