# SPDX-License-Identifier: BSD-3-Clause
# exec_image is in the launcher and in the preloaded library, text also in the launcher.
libhlsafe_la_SOURCES += \
	common/safe/cgroup.c common/safe/cgroup.h \
	common/safe/clock.c common/safe/clock.h \
	common/safe/content_hash.c common/safe/content_hash.h \
	common/safe/find_object.c common/safe/find_object.h \
	common/safe/fnv.h \
	common/safe/launcher.c common/safe/launcher.h \
	common/safe/load.c common/safe/load.h \
	common/safe/patience.c common/safe/patience.h \
	common/safe/printable.c common/safe/printable.h \
	common/safe/quiet.h \
	common/safe/room.c common/safe/room.h \
	common/safe/sys.h \
	common/safe/text.c common/safe/text.h \
	common/safe/forked.h common/safe/one_writer.h common/safe/trylock.h
libhlbase_la_SOURCES += common/safe/content_hash.c common/safe/content_hash.h \
	common/safe/fnv.h common/safe/launcher.c common/safe/launcher.h \
	common/safe/printable.c common/safe/printable.h
# Hidden memcpy and the like, for the shared libraries alone: a program keeps libc's.
libhlstring_la_SOURCES += common/safe/string.c
# Hidden dlsym and the like, for the same libraries.
libhllibc_la_SOURCES += common/safe/libc.c common/safe/libc.h
libhldlsym_la_SOURCES += common/safe/libc_dlsym.c
libhlmodule_la_SOURCES += common/safe/libc_module.c
