/* SPDX-License-Identifier: BSD-3-Clause */
/* See text_style.h. Test: tests/cli/prof/prof_text.sh. */
#include "hpcprof-lite/sink/text/text_style.h"

#include "common/base/foreign.h"
#include "common/base/log.h"
#include "hpcprof-lite/sink/text/text_print.h"

#include <langinfo.h>
#include <locale.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static unsigned terminal_width(FILE *out)
{
	struct winsize size;
	if (isatty(fileno(out)) && ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col >= 40)
		return size.ws_col;
	const char *columns = getenv("COLUMNS");
	long n = columns ? strtol(columns, NULL, 10) : 0;
	return n >= 40 && n <= 1000 ? (unsigned)n : 120;
}

static bool speaks_utf8(void)
{
	locale_t locale = newlocale(LC_CTYPE_MASK, "", NULL);
	if (!locale)
		return false;
	bool yes = strcmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;
	freelocale(locale);
	return yes;
}

struct text_style text_style_of(FILE *out)
{
	return (struct text_style){
		.out = out,
		.width = terminal_width(out),
		.utf8 = speaks_utf8(),
		.colour = log_takes_escapes(fileno(out)) && !getenv("NO_COLOR"),
	};
}

bool text_is_narrow(const struct text_style *s)
{
	return s->width < 100;
}

void text_heading(const struct text_style *s, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	fputs(s->colour ? "\033[1m" : "", s->out);
	foreign_vprintf(s->out, format, args);
	fputs(s->colour ? "\033[0m\n" : "\n", s->out);
	va_end(args);
}

void text_emphasise(const struct text_style *s, double share)
{
	if (s->colour)
		fputs(share >= 0.25 ? "\033[31m" : share >= 0.05 ? "\033[33m" : "", s->out);
}

void text_plain(const struct text_style *s)
{
	fputs(s->colour ? "\033[0m" : "", s->out);
}

/* The MODEL_GUESSED_SUFFIX at the end of a name, or the end itself. */
static const char *find_mark(const char *name)
{
	static const char mark[] = MODEL_GUESSED_SUFFIX;
	size_t n = strlen(name);
	bool has = n >= sizeof mark - 1 && strcmp(name + n - (sizeof mark - 1), mark) == 0;
	return has ? name + n - (sizeof mark - 1) : name + n;
}

/*
 * A name that we made up gives the address: "<unknown at 0x1234> [libx.so]". The mark of a guessed
 * frame goes to the front, where nothing cuts it off.
 */
void text_function_name(char *name, size_t n_bytes, const struct model *m, uint32_t function)
{
	const struct model_function *f = &m->functions[function];
	const char *module = text_module_path(m, f->module), *mark = find_mark(f->name);
	char file[TEXT_FILE];
	size_t n = *mark ? strlen(TEXT_GUESSED) : 0;
	snprintf(name, n_bytes, "%s%.*s", *mark ? TEXT_GUESSED : "", (int)(mark - f->name),
		 f->name);
	if (text_is_made_up(name + n) && module[0] != '<' && module[0])
		snprintf(name + strlen(name), n_bytes - strlen(name), " [%s]",
			 text_file(file, module));
}

const char *text_module_path(const struct model *m, uint32_t module)
{
	return module < m->n_modules ? m->modules[module].path : "";
}

void text_name(char *name, size_t n_bytes, const struct model *m, const struct model_context *c)
{
	switch (c->kind) {
	case MODEL_CONTEXT_ROOT:
		snprintf(name, n_bytes, "everything");
		break;
	case MODEL_CONTEXT_ENTRY:
		if (c->entry == MODEL_ENTRY_PARTIAL)
			snprintf(name, n_bytes, "<incomplete paths: %s>",
				 msr_path_end_name(c->end));
		else if (c->entry == MODEL_ENTRY_GPU_NO_PATH ||
			 c->entry == MODEL_ENTRY_GPU_NO_LAUNCH)
			snprintf(name, n_bytes,
				 c->entry == MODEL_ENTRY_GPU_NO_PATH
					 ? "<GPU operations without a call path>"
					 : "<GPU operations without a known launch>");
		else
			snprintf(name, n_bytes,
				 c->entry == MODEL_ENTRY_MAIN       ? "<main thread>"
				 : c->entry == MODEL_ENTRY_OMP_IDLE ? "<idle OpenMP threads>"
								    : "<other threads>");
		break;
	case MODEL_CONTEXT_FUNCTION:
		text_function_name(name, n_bytes, m, c->function);
		if (c->relation == MODEL_INLINED)
			snprintf(name + strlen(name), n_bytes - strlen(name), " [inlined]");
		break;
	case MODEL_CONTEXT_LOOP: {
		char place[256];
		text_place(place, sizeof place, m, c);
		snprintf(name, n_bytes, "%sloop at %s", c->marked ? TEXT_GUESSED : "", place);
		break;
	}
	default: {
		char place[256];
		text_place(place, sizeof place, m, c);
		snprintf(name, n_bytes, "%s%s", c->marked ? TEXT_GUESSED : "", place);
		break;
	}
	}
}
