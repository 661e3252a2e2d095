/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The loaded object that contains an address. Asks glibc's _dl_find_object (2.35 and later); where
 * there is none, searches a table of our own, made from the loader's lists (loader.h). Signal-safe;
 * any thread. Test: tests/unit/common/test_find_object.c. doc/unwinding.md, "Which object".
 */
#ifndef COMMON_SAFE_FIND_OBJECT_H
#define COMMON_SAFE_FIND_OBJECT_H

#include <dlfcn.h>
#include <link.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef DLFO_STRUCT_HAS_EH_DBASE /* headers of glibc before 2.35; what we use of it */
struct dl_find_object {
	unsigned long long dlfo_flags;
	void *dlfo_map_start;
	void *dlfo_map_end;
	struct link_map *dlfo_link_map;
	void *dlfo_eh_frame;
	unsigned long long dlfo_reserved[7];
};
#endif

enum {
	/*
	 * Perhaps there is an object, but the loader is about to add or to remove one there. What
	 * was there is not to be read. Only the table says so.
	 */
	FIND_OBJECT_MOVES = 1
};

/*
 * Like _dl_find_object: returns 0 and sets *result, or returns another number. The range may cover
 * gaps between the segments of the object.
 */
int find_object(void *address, struct dl_find_object *result);

/*
 * The same outside of handlers, where the answer decides what the program gets: waits while the
 * loader is about to add or to remove an object there, one second at most.
 */
int find_object_surely(void *address, struct dl_find_object *result);

/*
 * Finds the loader's data and function. Call once, as early as possible. find_object() calls it if
 * nobody has.
 */
void find_object_start(void);
/* Objects that are loaded now will never be unloaded, so those are found at any time. */
void find_object_all_stay(void);
/* In a forked child. */
void find_object_forked(void);

/* For tests: the table, wherever we run; and find_object() does so from now on. */
int find_object_in_table(void *address, struct dl_find_object *result);
void find_object_use_table(void);

#ifdef __cplusplus
}
#endif
#endif
