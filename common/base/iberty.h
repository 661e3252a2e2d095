/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions of libiberty that demangle names, as its own header declares them. Fedora and RHEL have
 * the library without that header. Each returns NULL if the name is not mangled in its way; free()
 * the text.
 */
#ifndef COMMON_BASE_IBERTY_H
#define COMMON_BASE_IBERTY_H

enum { IBERTY_PARAMS = 1, IBERTY_ANSI = 2 }; /* DMGL_PARAMS, DMGL_ANSI */

char *cplus_demangle_v3(const char *mangled, int options);
char *rust_demangle(const char *mangled, int options);
char *dlang_demangle(const char *mangled, int options);

#endif
