/* SPDX-License-Identifier: BSD-3-Clause */
/* A library that bears an OpenCL loader's name and asks for its layers as one does. Loaded by
 * tests/unit/run/test_getenv.c. */
#include <stdlib.h>

char *ask(const char *name);
char *ask_safely(const char *name);

/* Not a tail call: the question comes from this library. */
char *ask(const char *name)
{
	char *volatile answer = getenv(name);
	return answer;
}

char *ask_safely(const char *name)
{
	char *volatile answer = secure_getenv(name);
	return answer;
}
