/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs objdump for host code and nvdisasm for SASS, and reads their text. See disassemble.h. */
#include "hpcprof-lite/code/code_tool.h"
#include "hpcprof-lite/code/disassemble.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TEXT = 240 }; /* bytes of an instruction's text */

void disassemble_add(struct disassembly *d, uint64_t link_addr, const char *text, size_t n)
{
	char out[MOST_TEXT];
	size_t k = 0;
	for (size_t i = 0; i < n && k + 1 < sizeof out; i++) {
		const char c = text[i] == '\t' ? ' ' : text[i];
		if (c != ' ' || (k && out[k - 1] != ' '))
			out[k++] = c;
	}
	while (k && out[k - 1] == ' ')
		k--;
	out[k] = '\0';
	const uint32_t id = strtab_add(d->strings, out, strlen(out));
	struct code_instruction *new = id == STRTAB_FAILED ? NULL : vec_push(&d->lines);
	if (!new) {
		d->failed = true;
		return;
	}
	*new = (struct code_instruction){.link_addr = link_addr, .text = id, .file = MODEL_NONE};
}

bool disassemble_next_line(const char **at, const char **end)
{
	if (*end)
		*at = **end ? *end + 1 : *end;
	*end = *at + strcspn(*at, "\n");
	return **at != '\0';
}

/* ---- objdump ---- */

static bool is_host(const struct code_binary *b)
{
	return b->header->e_machine != CODE_EM_CUDA;
}

static bool is_aarch64(const struct code_binary *b)
{
	return b->header->e_machine == EM_AARCH64;
}

/* "  401136:	push   rbp" */
static void read_objdump(struct disassembly *d, const char *text)
{
	for (const char *at = text, *end = NULL; disassemble_next_line(&at, &end);) {
		char *colon;
		const uint64_t link_addr = strtoull(at, &colon, 16);
		if (colon < end && *colon == ':' && colon[1] == '\t')
			disassemble_add(d, link_addr, colon + 2, (size_t)(end - colon) - 2);
	}
}

static bool run_objdump(struct disassembly *d)
{
	char start[64], stop[64], name[] = "objdump", plain[] = "-d",
				  no_bytes[] = "--no-show-raw-insn", intel[] = "-Mintel",
				  *copy = strdup(d->copy);
	const bool is_x86 = d->binary->header->e_machine == EM_X86_64;
	bool ok = copy != NULL;
	for (size_t i = 0; ok && i < d->hot->ranges.n; i++) {
		const struct code_range *r = &d->hot->ranges.at[i];
		struct code_output out = {0};
		snprintf(start, sizeof start, "--start-address=%#" PRIx64, r->start);
		snprintf(stop, sizeof stop, "--stop-address=%#" PRIx64, r->end);
		char *const argv[] = {
			name, plain, no_bytes, start, stop, copy, is_x86 ? intel : NULL, NULL};
		ok = code_tool_run(d->tool, argv, d->left_ms, &out);
		d->is_refused = !ok;
		if (ok)
			read_objdump(d, out.at);
		vec_free(&out);
	}
	free(copy);
	return ok && d->lines.n;
}

/* ---- nvdisasm ---- */

static bool is_cubin(const struct code_binary *b)
{
	return b->header->e_machine == CODE_EM_CUDA;
}

/* A section may have other functions. */
static bool is_in(const struct code_hot *hot, uint64_t link_addr)
{
	for (size_t i = 0; i < hot->ranges.n; i++)
		if (link_addr >= hot->ranges.at[i].start && link_addr < hot->ranges.at[i].end)
			return true;
	return false;
}

/* ".L_x_4:", the target of jumps to the instruction in a following line */
static size_t length_of_label(const char *at, const char *end)
{
	return end > at + 2 && at[0] == '.' && at[1] == 'L' && end[-1] == ':' ? (size_t)(end - at)
									      : 0;
}

/* Adds an instruction; n_label: bytes of the label before it, which jumps name. */
static void add_labelled(struct disassembly *d, uint64_t link_addr, const char *label,
			 size_t n_label, const char *text, size_t n)
{
	char all[2 * MOST_TEXT];
	snprintf(all, sizeof all, "%.*s %.*s", (int)(n_label < MOST_TEXT ? n_label : MOST_TEXT),
		 label, (int)(n < MOST_TEXT ? n : MOST_TEXT), text);
	disassemble_add(d, link_addr, all, strlen(all));
}

/*
 * A line names a section, ".section .text.kernel,..."; lines below it have an offset as a comment,
 * an instruction and a semicolon. Older architectures have "{" before two instructions that go
 * together.
 */
void disassemble_read_nvdisasm(struct disassembly *d, const char *text, const char *section,
			       uint64_t first)
{
	const char *label = text;
	size_t n_label = 0;
	bool is_here = false;
	for (const char *at = text, *end = NULL; disassemble_next_line(&at, &end);) {
		const char *c = at + strspn(at, " \t{");
		const size_t length = length_of_label(at, end);
		if (strncmp(c, ".section", 8) == 0 && (c[8] == '\t' || c[8] == ' ')) {
			const char *name = c + 8 + strspn(c + 8, " \t");
			const size_t n = strlen(section);
			is_here = strncmp(name, section, n) == 0 &&
				  (name[n] == ',' || name[n] == ' ' || name[n] == '\t');
		} else if (length) {
			label = at;
			n_label = length;
		} else if (is_here && c[0] == '/' && c[1] == '*' &&
			   isxdigit((unsigned char)c[2])) { /* strtoull() would skip a newline */
			char *close;
			const uint64_t offset = strtoull(c + 2, &close, 16);
			if (close[0] != '*' || close[1] != '/')
				continue;
			const char *from = close + 2 + strspn(close + 2, " \t{"),
				   *semicolon = memchr(from, ';', (size_t)(end - from));
			if (from < end && from[0] != '.' && is_in(d->hot, first + offset))
				add_labelled(d, first + offset, label, n_label, from,
					     (size_t)((semicolon ? semicolon : end) - from));
			n_label = 0;
		}
	}
}

static bool run_nvdisasm(struct disassembly *d)
{
	char name[] = "nvdisasm", code[] = "-c", only[] = "-fun", index[16], *copy;
	const char *section;
	uint32_t symbol;
	const Elf64_Shdr *s = d->hot->ranges.n
				      ? code_binary_section(d->binary, d->hot->ranges.at[0].start,
							    &section, &symbol)
				      : NULL;
	if (!s || !(copy = strdup(d->copy)))
		return false;
	snprintf(index, sizeof index, "%" PRIu32, symbol);
	char *const some[] = {name, code, only, index, copy, NULL}, *const all[] = {name, code,
										    copy, NULL};
	struct code_output out = {0};
	const bool ok = code_tool_run(d->tool, symbol ? some : all, d->left_ms, &out);
	d->is_refused = !ok;
	if (ok)
		disassemble_read_nvdisasm(d, out.at, section, s->sh_offset);
	vec_free(&out);
	free(copy);
	return ok && d->lines.n;
}

const struct disassembler disassemble_objdump = {
	.tool = "objdump",
	.missing = "no instructions of host code: objdump is not in PATH (package binutils); for "
		   "x86-64, a build with Zydis (package libzydis-dev) needs none",
	.can = is_host,
	.read = run_objdump};
/* Debian's objdump knows only the machine that it runs on. */
const struct disassembler disassemble_objdump_aarch64 = {
	.tool = "aarch64-linux-gnu-objdump",
	.missing = "no instructions of aarch64 code: objdump cannot disassemble it, and "
		   "aarch64-linux-gnu-objdump is not in PATH (package binutils-aarch64-linux-gnu)",
	.can = is_aarch64,
	.read = run_objdump};
const struct disassembler disassemble_nvdisasm = {
	.tool = "nvdisasm",
	.is_cuda = true,
	.missing = "no instructions of GPU kernels: nvdisasm is not in PATH, CUDA_HOME or "
		   "/usr/local/cuda (CUDA's package cuda-nvdisasm)",
	.can = is_cubin,
	.read = run_nvdisasm};
