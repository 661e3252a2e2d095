/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints foreign text; see foreign.h. Test: tests/unit/common/test_printable.c. */
#include "common/base/foreign.h"

#include "common/safe/printable.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

const char *foreign_put_n(FILE *out, const char *s, size_t n)
{
	for (; *s && n; n--) {
		bool harmless;
		size_t n_bytes = printable_step(s, &harmless);
		if (harmless)
			fwrite(s, 1, n_bytes, out);
		else
			putc('?', out);
		s += n_bytes;
	}
	return s;
}

void foreign_put(FILE *out, const char *s)
{
	foreign_put_n(out, s, SIZE_MAX);
}

void foreign_put_field(FILE *out, const char *s)
{
	while (*s) {
		bool harmless;
		size_t n_bytes = printable_step(s, &harmless);
		if (*s == '\t')
			fputs("\\t", out);
		else if (*s == '\n')
			fputs("\\n", out);
		else if (*s == '\\')
			fputs("\\\\", out);
		else if (harmless)
			fwrite(s, 1, n_bytes, out);
		else
			for (size_t i = 0; i < n_bytes; i++)
				fprintf(out, "\\x%02x", (unsigned char)s[i]);
		s += n_bytes;
	}
}

static bool is_all_harmless(const char *s)
{
	bool harmless = true;
	while (*s && harmless)
		s += printable_step(s, &harmless);
	return harmless;
}

/* Octal, because a shell reads at most three octal digits but any number of hexadecimal ones. */
static void put_escaped(FILE *out, const char *s)
{
	fputs("$'", out);
	while (*s) {
		bool harmless;
		size_t n_bytes = printable_step(s, &harmless);
		if (*s == '\n' || *s == '\t')
			fputs(*s == '\n' ? "\\n" : "\\t", out);
		else if (*s == '\'' || *s == '\\')
			fprintf(out, "\\%c", *s);
		else if (harmless)
			fwrite(s, 1, n_bytes, out);
		else
			for (size_t i = 0; i < n_bytes; i++)
				fprintf(out, "\\%03o", (unsigned char)s[i]);
		s += n_bytes;
	}
	putc('\'', out);
}

void foreign_put_argument(FILE *out, const char *s)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_@%+=:,./-";
	if (*s && !s[strspn(s, plain)]) {
		fputs(s, out);
	} else if (!is_all_harmless(s)) {
		put_escaped(out, s);
	} else {
		putc('\'', out);
		for (; *s; s++)
			if (*s == '\'')
				fputs("'\\''", out);
			else
				putc(*s, out);
		putc('\'', out);
	}
}

/* Cleans `text`, made by `format`, except for the newlines that the format begins or ends with. */
static size_t clean(char *text, const char *format)
{
	size_t first = strspn(format, "\n"), n_format = strlen(format), last = 0, n = strlen(text);
	while (last < n_format - first && format[n_format - 1 - last] == '\n')
		last++;
	if (first > n || last > n - first || strspn(text + n - last, "\n") != last) /* it was cut */
		last = 0;
	text[n - last] = '\0';
	printable(first < n ? text + first : text + n);
	n = strlen(text);
	memset(text + n, '\n', last);
	text[n + last] = '\0';
	return n + last;
}

size_t foreign_format(char *to, size_t room, const char *format, va_list args)
{
	to[0] = '\0';
	vsnprintf(to, room, format, args);
	return clean(to, format);
}

/* Sets the stream's error indicator, so that the code that closes the output sees that text is
 * missing. The C library has no function for it. */
static void set_error(FILE *out)
{
	flockfile(out);
	out->_flags |= _IO_ERR_SEEN;
	funlockfile(out);
	errno = ENOMEM;
}

void foreign_vprintf(FILE *out, const char *format, va_list args)
{
	char small[1024], *text = small;
	va_list again;
	va_copy(again, args);
	int n = vsnprintf(small, sizeof small, format, args);
	if (n >= (int)sizeof small) {
		text = malloc((size_t)n + 1);
		if (text)
			vsnprintf(text, (size_t)n + 1, format, again);
	}
	va_end(again);
	if (n >= 0 && text)
		fwrite(text, 1, clean(text, format), out);
	else
		set_error(out);
	if (text != small)
		free(text);
}

void foreign_printf(FILE *out, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	foreign_vprintf(out, format, args);
	va_end(args);
}
