#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What -e MEMORY costs: CPU time of whole programs as a ratio to the plain program, in paired runs.
# The worst case does nothing but allocate and free. Asserts nothing. PAIRS sets the number of pairs
# (default 7).
# needs: pairs bench_allocations
b=${top_builddir:-.}
hpcrun=$b/hpcrun-lite/hpcrun-lite
pairs=$b/tests/bench/pairs
n=${PAIRS:-7}
t=$(mktemp -d "${TMPDIR:-/tmp}/bench-memory.XXXXXX") || exit 1
trap 'rm -rf "$t"' EXIT

cat >"$t/json.py" <<'EOF2'
import json
rows = [{"k%d" % i: list(range(20)), "s": "x" * (i % 100), "n": {"a": i, "b": [1.5 * i] * 5}}
        for i in range(20000)]
for _ in range(10):
    json.loads(json.dumps(rows))
EOF2
cat >"$t/sort.sql" <<'EOF2'
create table t(a integer primary key, b text, c real);
with recursive n(x) as (select 1 union all select x + 1 from n where x < 800000)
insert into t select x, hex(x * 7919), x * 0.5 from n;
create index i on t(b);
select count(*), sum(length(b)) from (select * from t order by b desc, c);
EOF2
cat >"$t/many.cc" <<'EOF2'
#include <future>
#include <iostream>
#include <map>
#include <random>
#include <regex>
#include <unordered_map>
int main(int, char **v)
{
	std::regex r("a(b|c)*d");
	std::unordered_map<std::string, std::map<int, std::vector<std::string>>> m;
	m[v[0]][1].push_back("x");
	auto f = std::async([&] { return std::regex_match(v[0], r); });
	std::cout << f.get() << m.size();
}
EOF2

# compare NAME COMMAND
compare() {
	command -v "${2%% *}" >/dev/null || return
	"$pairs" "$n" "$1" "$hpcrun -q -e MEMORY -o $t/m-\$\$ -- $2" "$2"
	rm -rf "$t"/m-*
}
compare "nothing but new and delete" "$b/tests/bench/bench_allocations 20000000 0"
compare "10 million new and delete a second" "$b/tests/bench/bench_allocations 10000000 90"
compare "json of Python" "python3 $t/json.py"
compare "sqlite3" "sqlite3 :memory: -init $t/sort.sql .quit"
compare "g++ -O2" "g++ -O2 -c $t/many.cc -o $t/many.o"
compare "clang++ -O2" "clang++ -O2 -c $t/many.cc -o $t/many.o"
