/* SPDX-License-Identifier: BSD-3-Clause */
/* A shared library that is opened and closed while its caller is unwound: calls of its own
 * functions and of libc's go through its PLT, bound lazily. */
#include <stdlib.h>
#include <string.h>

unsigned plugin_entry(unsigned n, unsigned (*callback)(unsigned));
unsigned plugin_inner(unsigned n, unsigned (*callback)(unsigned));

__attribute__((noinline)) unsigned plugin_inner(unsigned n, unsigned (*callback)(unsigned))
{
	volatile unsigned char text[64];
	memset((void *)text, (int)n, sizeof text);
	return n ? plugin_inner(n - 1, callback) + callback(text[n])
		 : (unsigned)abs((int)callback(n));
}

unsigned plugin_entry(unsigned n, unsigned (*callback)(unsigned))
{
	return plugin_inner(n, callback) + 1;
}

__attribute__((constructor)) static void opened(void)
{
	free(malloc(100));
}

__attribute__((destructor)) static void closed(void)
{
	free(malloc(200));
}
