#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Structures of what the compilers of this machine make, judged by libdw at every byte of code:
# function, inlined calls with call sites, file and line; and of real programs with debug
# information, where they are installed.

. "${srcdir:-.}/tests/lib.sh"

judge=$builddir/tests/struct/judge_dw
[ -x "$judge" ] || skip_all "built without libdw"
golden=$srcdir/tests/golden/struct
CXX=${CXX:-g++}

# check NAME BINARY [STRIDE]
check() {
	if ! run_limited 300 "$HPCSTRUCT" -q -f --no-cache -o "$T/s" "$2" >"$T/out" 2>&1; then
		fail "$1: analysis"
		diag_file "$T/out"
	elif [ -s "$T/out" ]; then
		fail "$1: something was wrong with it"
		diag_file "$T/out"
	else
		judge "$@"
	fi
}
# judge NAME BINARY [STRIDE]: the last structure
judge() {
	ok "$1" run_limited 300 "$judge" "$T/s" "$2" "${3:-1}"
	grep '%\|addresses' "$T/.ok.out" | tail -n 1
}

# compile NAME SOURCE COMPILER FLAGS...: builds $T/bin; a compiler that cannot is no failure of
# ours.
compile() {
	what=$1 source=$2 with=$3
	shift 3
	if ! have "$with"; then
		skip "$what" "no $with here"
		return 1
	fi
	if ! "$with" "$@" -fPIC -shared -nostdlib "$golden/$source" -o "$T/bin" >"$T/cc.out" \
		2>&1; then
		skip "$what" "the compiler refuses: $(head -n 1 "$T/cc.out")"
		return 1
	fi
}

# What each option changes is in one of the first; the golden structures have more.
cat >"$T/flags" <<-'TEXT'
	-O0
	-O3 -flto
	-O2 -gdwarf-2
	-O2 -gz
	-O2 -gdwarf-4 -fdebug-types-section
	-O2 -ffunction-sections -Wl,--gc-sections
	-O1 -gmlt
TEXT
[ "$(thorough few all)" = few ] || cat >>"$T/flags" <<-'TEXT'
	-O1
	-O2
	-Os -gdwarf-5
	-O2 -gdwarf-4
	-O2 -gdwarf-3
	-O2 -gdwarf-5 -fdebug-types-section
	-O2 -g1
	-O2 -fno-pic -static-pie
	-O3 -funroll-loops
TEXT
for cc in gcc clang; do
	cxx=g++
	[ $cc = gcc ] || cxx=clang++
	while read -r flags; do
		# shellcheck disable=SC2086 # several flags
		if compile "$cc $flags" shapes.c $cc -g $flags; then check "$cc $flags" "$T/bin"; fi
		# shellcheck disable=SC2086
		if compile "$cxx $flags" names.cpp $cxx -g $flags; then
			check "$cxx $flags" "$T/bin"
		fi
	done <"$T/flags"
	for flags in -O0 '-O3 -flto'; do
		# shellcheck disable=SC2086
		if compile "$cxx $flags, lambdas" ../../struct/inlined_names.cpp $cxx -g \
			-std=c++17 $flags; then
			check "$cxx $flags, lambdas" "$T/bin"
		fi
	done
done

# What gcc gives no linkage name is called by what is around it, each lambda by a name of its own.
if compile "g++: lambdas" ../../struct/inlined_names.cpp g++ -g -O2 -std=c++17; then
	"$HPCSTRUCT" -q -f --no-cache -o "$T/s" "$T/bin" && "$HPCSTRUCT" --print "$T/s" |
		sed -n 's/ at [^ ]*inlined_names.cpp:\([0-9]*\) called at.*/ :\1/
			s/^ *inline 0x[0-9a-f]* //p' |
		grep -v '^apply\|each<' | sort -u >"$T/inlined"
	cat >"$T/right" <<-'TEXT'
		physics::(anonymous namespace)::Box<int, 7>::Inner::scale :41
		physics::(anonymous namespace)::Box<int, 7>::run :44
		physics::(anonymous namespace)::norm<double> :31
		physics::cool :22
		physics::cool(...)::<lambda> :25
		physics::cool(...)::<lambda#2> :26
		physics::cool(...)::<lambda#3> :26
		physics::heat :16
		physics::heat(...)::<lambda> :19
		physics::v2::plain :49
		total(...)::<lambda> :79
		total(...)::<lambda>(...)::<lambda> :79
		Sum::add()::{lambda(int)#1}::operator()(int) const :65
		total(...)::Local::operator() :75
	TEXT
	sort "$T/inlined" >"$T/ours" && sort "$T/right" >"$T/right.sorted"
	same "g++: lambdas" "$T/ours" "$T/right.sorted"
fi

# A class in a type unit has the name and the name space that its declaration lacks. gcc leaves out
# the name space, clang the name. Without symbols, names are those of the debug information.
all_names() {
	"$HPCSTRUCT" -q -f --no-cache -o "$T/s" "$T/bin" && "$HPCSTRUCT" --print "$T/s" |
		sed -n 's/ at [^ ]*inlined_names.cpp:\([0-9]*\).*/ :\1/
			s/^ *\(inline\|function\) 0x[0-9a-f]* //p' | sort -u >"$1"
}
while read -r cxx flags; do
	what="$cxx $flags: classes in type units"
	# shellcheck disable=SC2086 # several flags
	for types in '' -fdebug-types-section; do
		compile "$what" ../../struct/inlined_names.cpp "$cxx" -g -std=c++17 $flags \
			-fno-inline-small-functions $types || continue 2
		objcopy -w -N '_Z*' "$T/bin" && all_names "$T/names$types"
	done
	same "$what" "$T/names-fdebug-types-section" "$T/names"
	like "$what: have name spaces" "$(cat "$T/names-fdebug-types-section")" \
		'^physics::Grid::each<'
done <<-'TEXT'
	g++ -O1 -gdwarf-4
	g++ -O1 -gdwarf-5
	clang++ -O0 -gsce -gdwarf-4
	clang++ -O0 -gsce -gdwarf-5
TEXT

# Functions that the linker folded have the names of both; an alias is no other function.
for linker in gold lld; do
	have ld.$linker || { skip "$linker --icf=all" "no ld.$linker here"; continue; }
	if compile "$linker --icf=all" ../../struct/folded.cpp g++ -g -O1 -ffunction-sections \
		-fno-ipa-icf -fuse-ld=$linker -Wl,--icf=all -Wl,-Bsymbolic; then
		"$HPCSTRUCT" -q -f --no-cache -o "$T/s" "$T/bin" && "$HPCSTRUCT" --print "$T/s" |
			sed -n 's/^function 0x[0-9a-f]* \(.*\) at .* from dwarf/\1/p' |
			sed 's/ (_.*//' | LC_ALL=C awk -F' or ' '
			{ print (NF > 1 && $2 < $1 ? $2 " or " $1 : $0) }' | sort >"$T/ours"
		cat >"$T/right" <<-'TEXT'
			Stone::shrink(int) or Tree::grow(int)
			first or second
			real
		TEXT
		same "$linker --icf=all" "$T/ours" "$T/right"
	fi
done

if have dwz && compile "dwz" names.cpp g++ -g -O2 && cp "$T/bin" "$T/bin2" &&
	dwz "$T/bin" 2>"$T/err"; then
	check "dwz: partial units" "$T/bin"
else
	skip "dwz: partial units" "no dwz or no g++ here"
fi
if [ -e "$T/bin2" ] && cp "$T/bin2" "$T/bin3" && dwz -m "$T/shared" "$T/bin2" "$T/bin3" \
	2>"$T/err" && [ -e "$T/shared" ]; then
	check "dwz: a shared file" "$T/bin3"
else
	skip "dwz: a shared file" "dwz did not make one"
fi
if have "${RUSTC:-rustc}" &&
	printf \
	'pub mod m { pub struct P(pub u64); impl P { #[inline(never)] pub fn f<T: Into<u64>>(&self, t: T) -> u64 { (0..self.0).map(|x| x ^ 3).sum::<u64>() + t.into() } } }\nfn main() { let v: Vec<u64> = std::env::args().map(|a| m::P(a.len() as u64).f(7u32)).collect(); println!("{}", v.iter().sum::<u64>()); }\n' >"$T/r.rs" &&
	"${RUSTC:-rustc}" -g -O -o "$T/bin" "$T/r.rs" 2>"$T/err"; then
	check "rustc -O" "$T/bin" 16
	"$HPCSTRUCT" --print "$T/s" >"$T/r.txt"
	ok "rustc -O: Rust names are demangled" grep -q "m::P::f" "$T/r.txt"
else
	skip "rustc -O" "no rustc here"
	skip "rustc -O: Rust names are demangled" "no rustc here"
fi

check "this tool" "$HPCSTRUCT" "$(thorough 256 4)"
libc=$(ldd "$HPCSTRUCT" 2>/dev/null | awk '/libc\.so/ { print $3 }')
if [ -n "$libc" ] && "$HPCSTRUCT" -q -f --no-cache -o "$T/s" "$libc" >"$T/out" 2>&1 &&
	"$HPCSTRUCT" --print "$T/s" | grep -q '^debug-file'; then
	is "the C library with the distribution's symbols: nothing is wrong with it" \
		"$(cat "$T/out")" ""
	judge "the C library with the distribution's symbols" "$libc" "$(thorough 512 64)"
else
	skip "the C library with the distribution's symbols" "no debug symbols for it here"
fi
done_testing
