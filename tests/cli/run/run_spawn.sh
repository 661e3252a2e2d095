#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# What PMIx_Spawn hands to a job manager: our entries are added for programs that can be measured,
# and nothing else differs. The PMIx is made here and prints what it gets. It is loaded as Open MPI
# does it, so that nobody else sees its names; once as a library of its own, and once under the
# names of the one that Open MPI 4 brings. A real one: tests/cli/mpi/mpi_spawn.sh.

. "${top_srcdir:-.}/tests/lib.sh"

cd "$T" || exit 99
cat >app <<'END'
#include <stddef.h>
struct app {
	char *command, **argv, **environment, *directory;
	int n;
	void *info;
	size_t n_info;
};
END
cat >pmix.c <<'END'
#include <stdio.h>
#include <string.h>
int NAME(_nb)(const void *info, size_t n_info, const struct app *a, size_t n, void *f, void *d)
{
	for (size_t i = 0; i < n; i++) {
		printf("%s %s %d %s", a[i].command, a[i].argv[0], a[i].n,
		       a[i].directory ? a[i].directory : "-");
		for (char **e = a[i].environment; e && *e; e++)
			printf(" %.*s", (int)strcspn(*e, ";"), *e);
		puts("");
	}
	return info || n_info || f || d ? -1 : 0;
}
int NAME()(const void *info, size_t n_info, const struct app *a, size_t n, char *space)
{
	strcpy(space, "job");
	return NAME(_nb)(info, n_info, a, n, NULL, NULL);
}
int PMIx_tool_init(void)
{
	return 0;
}
END
cat >component.c <<'END'
#include <string.h>
int SPAWN(const void *info, size_t n_info, const struct app *a, size_t n, char *space);
int go(char *here)
{
	char space[256] = "", *argv[] = {"x", NULL},
	     *environment[] = {"A=1", "LD_PRELOAD=libm.so.6", NULL};
	struct app a[] = {{"./dynamic", argv, environment, here, 2, NULL, 0},
			  {"true", argv, NULL, NULL, 1, NULL, 0},
			  {"./static", argv, environment, here, 3, NULL, 0}};
	int result = SPAWN(NULL, 0, a, sizeof a / sizeof *a, space);
	return result ? result : strcmp(space, "job") != 0;
}
END
cat >main.c <<'END'
#include <dlfcn.h>
#include <sys/resource.h>
int main(int argc, char **argv)
{
	void *library = argc > 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : 0;
	int (*go)(char *) = library ? (int (*)(char *))dlsym(library, "go") : 0;
	struct rlimit all, none;
	getrlimit(RLIMIT_AS, &all);
	none = all;
	none.rlim_cur = 4096;
	if (argc > 3) /* no memory for a copy of the entries */
		setrlimit(RLIMIT_AS, &none);
	int result = go ? go(argv[2]) : 99;
	setrlimit(RLIMIT_AS, &all);
	return result;
}
END
cc() { ${CC:-cc} -O1 "$@"; }
for file in pmix.c component.c; do cat app $file >with-$file; done
own='-DNAME(x)=PMIx_Spawn##x'
brought='-DNAME(x)=OPAL_MCA_PMIX3X_PMIx_Spawn##x'
mkdir here
cc -o main main.c -ldl && cp main here/dynamic && cc -static -o here/static main.c 2>/dev/null &&
	cc -shared -fPIC "$own" -o libfakepmix.so with-pmix.c &&
	cc -shared -fPIC -DSPAWN=PMIx_Spawn -o own.so with-component.c -L. -lfakepmix \
		-Wl,-rpath,"$T" &&
	cc -c -fPIC "$brought" -o brought.o with-pmix.c &&
	cc -shared -fPIC -DSPAWN=OPAL_MCA_PMIX3X_PMIx_Spawn -o brought.so with-component.c \
		brought.o || skip_all "no compiler, or it cannot link statically"

for library in own brought; do
	./main "./$library.so" "$T/here" >"alone-$library"
	is "$library: status alone" $? 0
	"$HPCRUN" -q -o "$library" -- ./main "./$library.so" "$T/here" >out
	is "$library: status" $? 0
	sed "s|LD_PRELOAD=[^ ]*/libhpcrun-lite.so:|LD_PRELOAD=|
		s| LD_PRELOAD=[^ ]*/libhpcrun-lite.so||; s| HPCTOOLKIT_LITE=1||" out >rest
	same "$library: nothing else differs" rest "alone-$library"
	is "$library: entries of each program" \
		"$(sed 's|[^ ]*/libhpcrun-lite|libhpcrun-lite|' out | cut -d ' ' -f 5-)" \
		"A=1 libhpcrun-lite.so:libm.so.6 HPCTOOLKIT_LITE=1
libhpcrun-lite.so HPCTOOLKIT_LITE=1
A=1 LD_PRELOAD=libm.so.6"
	"$HPCPROF" -q --to text --all "$library" | by_name '
		$1 == "unmeasured" { print get("processes") "\t" get("processes_without_cpu_time") \
			"\t" get("why") "\t" get("path") }' >report
	is "$library: what never came is counted" "$(sort report)" \
		"3	3	spawned by MPI, and left no measurement	./dynamic
3	3	static executable	./static"
done

"$HPCRUN" -q -o tight -- ./main ./own.so "$T/here" tight >out
is "no memory: status" $? 0
same "no memory: nothing differs" out alone-own
"$HPCPROF" -q --to text --all tight | grep '^unmeasured' | cut -f 2,3,6,7 >report
is "no memory: what never came is counted" "$(sort report)" \
	"6	6	spawned by MPI, and left no measurement	./dynamic"

done_testing
