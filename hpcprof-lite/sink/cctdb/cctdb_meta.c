/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * meta.db: metrics, modules, files, functions and the context tree. The file is built in memory
 * (some 60 bytes a context) and written at once. Test: tests/unit/sink/test_sink_cctdb.c.
 */
#include "common/base/foreign.h"
#include "common/base/log.h"
#include "common/base/strtab.h"
#include "common/base/vec.h"
#include "hpcprof-lite/sink/cctdb/cctdb.h"
#include "hpcprof-lite/sink/cctdb/cctdb_format.h"
#include "hpcprof-lite/sink/cctdb/cctdb_statistics.h"
#include "hpcprof-lite/view/names.h"
#include "hpcprof-lite/sink/outfile.h"
#include "hpcprof-lite/record/sampling_facts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- strings ---- */

/* The common string table and the id in it of everything that has a name there. */
struct names {
	struct strtab table;
	uint32_t *modules, *files, *functions; /* n + 1, the last for the unknown */
	char **metrics;                        /* not in the table */
	uint64_t *offsets;                     /* by id, in the file */
	uint64_t n_bytes;
};

static uint32_t *new_ids(uint32_t n)
{
	return calloc((size_t)n + 1, sizeof(uint32_t));
}

static bool add_names(struct names *names, const struct model *m,
		      const struct cctdb_sources *sources)
{
	struct strtab *t = &names->table;
	uint32_t last = 0;
	names->modules = new_ids(m->n_modules);
	names->files = new_ids(m->n_files);
	names->functions = new_ids(m->n_functions);
	names->metrics = calloc((size_t)m->n_metrics + 1, sizeof *names->metrics);
	if (!names->modules || !names->files || !names->functions || !names->metrics)
		return false;
	for (uint32_t i = 0; i < m->n_metrics; i++)
		if (!(names->metrics[i] = names_metric(&m->metrics[i])))
			return false;
	for (uint32_t i = 0; i <= m->n_modules && last != STRTAB_FAILED; i++)
		last = names->modules[i] = names_add(t, names_module(m, i));
	for (uint32_t i = 0; i < m->n_files && last != STRTAB_FAILED; i++)
		last = names->files[i] = names_add(t, sources->relative[i] ? sources->relative[i]
									   : m->files[i].path);
	for (uint32_t i = 0; i <= m->n_functions && last != STRTAB_FAILED; i++)
		last = names->functions[i] = names_add(
			t,
			names_function(m, i)); /* never "": hpcviewer looks at the first letter */
	for (uint32_t i = 1; i < m->n_contexts && last != STRTAB_FAILED;
	     i += m->contexts[i].subtree_n)
		last = names_add(t, names_entry(&m->contexts[i]));
	return last != STRTAB_FAILED;
}

static bool is_ascii(const char *s)
{
	while (*s && !(*s & 0x80))
		s++;
	return !*s;
}

/* Plain ASCII first, because Hatchet's reader finds strings by adding up lengths in characters. */
static bool place_strings(struct names *names, uint64_t at)
{
	uint32_t n = (uint32_t)names->table.starts.n;
	uint64_t start = at;
	names->offsets = calloc(n ? n : 1, sizeof *names->offsets);
	if (!names->offsets)
		return false;
	for (int ascii = 1; ascii >= 0; ascii--)
		for (uint32_t i = 0; i < n; i++) {
			const char *s = strtab_get(&names->table, i);
			if (is_ascii(s) != (ascii == 1))
				continue;
			names->offsets[i] = at;
			at += strlen(s) + 1;
		}
	names->n_bytes = at - start;
	return true;
}

static void free_names(struct names *names)
{
	strtab_free(&names->table);
	free(names->modules);
	free(names->files);
	free(names->functions);
	for (char **name = names->metrics; name && *name; name++)
		free(*name);
	free(names->metrics);
	free(names->offsets);
}

/* ---- the file in memory ---- */

struct image {
	VEC(uint8_t) bytes;
	struct cctdb_section sections[CCTDB_META_N_SECTIONS];
};

/* Zeroed room at the next multiple of 8, valid until the next call; NULL if memory is short. */
static uint8_t *room(struct image *img, uint64_t n_bytes, uint64_t *offset)
{
	size_t pad = (size_t)(cctdb_align(img->bytes.n, 8) - img->bytes.n);
	uint8_t *at = vec_extend(&img->bytes, pad + n_bytes);
	*offset = img->bytes.n - n_bytes;
	return at ? at + pad : NULL;
}

static uint8_t *section_room(struct image *img, unsigned section, uint64_t n_bytes)
{
	uint64_t offset;
	uint8_t *at = room(img, n_bytes, &offset);
	img->sections[section] = (struct cctdb_section){n_bytes, offset};
	return at;
}

static size_t put_string(uint8_t *at, const char *s)
{
	size_t n = strlen(s) + 1;
	memcpy(at, s, n);
	return n;
}

static void describe_gpu(const struct model_gpu_ledger *l, FILE *out)
{
	uint64_t sums[3] = {0};
	fprintf(out, "\n## GPU ledger: %s, %s\n\n", l->backend, l->entrance);
	for (unsigned k = 1; k < MSR_N_GPU_KINDS; k++) {
		const uint64_t n[3] = {l->launched[k], l->joined[k], l->aggregated[k]};
		for (unsigned i = 0; i < 3; i++)
			sums[i] += n[i];
		if (n[0] || n[1] || n[2])
			fprintf(out,
				"- %s: launched %" PRIu64 ", joined %" PRIu64 ", summed up %" PRIu64
				"\n",
				msr_gpu_kind_name((enum msr_gpu_kind)k), n[0], n[1], n[2]);
	}
	fprintf(out,
		"- GPU operations launched: %" PRIu64 "\n- GPU operations joined: %" PRIu64
		"\n- GPU operations summed up: %" PRIu64 "\n",
		sums[0], sums[1], sums[2]);
	for (unsigned i = 1; i < MSR_N_GPU_LOSSES; i++)
		if (l->losses[i])
			fprintf(out, "- GPU loss, %s: %" PRIu64 " (%s)\n",
				msr_gpu_loss_name((enum msr_gpu_loss)i), l->losses[i],
				msr_gpu_loss_description((enum msr_gpu_loss)i));
	for (unsigned i = 1; i < MSR_N_GPU_LOSSES; i++)
		if (l->graph_losses[i])
			fprintf(out, "- GPU operations of graphs lost, %s: %" PRIu64 " (%s)\n",
				msr_gpu_loss_name((enum msr_gpu_loss)i), l->graph_losses[i],
				msr_gpu_loss_description((enum msr_gpu_loss)i));
	if (l->n_lost_definitions || l->n_lost_contents || l->n_lost_values)
		fprintf(out,
			"- GPU definitions, code objects and values that could not be written: "
			"%" PRIu64 ", %" PRIu64 ", %" PRIu64 "\n",
			l->n_lost_definitions, l->n_lost_contents, l->n_lost_values);
	if (l->unexplained)
		fprintf(out, "- GPU operations not explained: %" PRIu64 "\n", l->unexplained);
	fprintf(out,
		"- GPU operations whose times are out of order: %" PRIu64 "\n- the GPU ledger %s\n",
		l->n_bad_order, l->closes ? "closes" : "does not close");
}

static void describe_sampling(const struct model_gpu_sampling *s, FILE *out)
{
	struct sampling_fact facts[SAMPLING_FACTS];
	if (!sampling_is_there(s))
		return;
	sampling_facts(s, facts);
	fputs("\n## PC samples of GPUs\n\n", out);
	for (unsigned i = 0; i < SAMPLING_FACTS; i++) {
		const struct sampling_fact *f = &facts[i];
		if (!f->is_known)
			continue;
		if (strcmp(f->unit, "ppm") == 0)
			fprintf(out, "- %s: %.4f%% (%s)\n", f->name, (double)f->value / 1e4,
				f->description);
		else
			fprintf(out, "- %s: %" PRIu64 "%s%s (%s)\n", f->name, f->value,
				strcmp(f->unit, "number") == 0 ? "" : " ",
				strcmp(f->unit, "number") == 0 ? "" : f->unit, f->description);
	}
	fprintf(out,
		"- the account of PC samples %s\n- exact and apportioned samples of each context: "
		"metrics GINS and GINS:APPORTIONED\n",
		s->closes ? "closes" : "does not close");
}

/* Describes the measurement and the ledgers for people, in Markdown. The caller owns it. */
static char *describe(const struct model *m)
{
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);
	if (!out)
		return NULL;
	foreign_printf(out, "# %s\n\n", m->title ? m->title : "");
	fprintf(out, "%" PRIu32 " processes, %" PRIu32 " threads.\n\n", m->n_processes,
		model_count_threads(m));
	for (uint32_t i = 0; i < m->n_processes && i < 64; i++) {
		const struct model_process *p = &m->processes[i];
		foreign_printf(out, "- %s, pid %" PRIu32 " on %s",
			       p->command ? p->command : p->executable, p->pid, p->host);
		if (p->rank >= 0)
			fprintf(out, ", rank %" PRId32, p->rank);
		if (p->job && p->job[0])
			foreign_printf(out, ", job %s", p->job);
		if (p->role)
			fprintf(out, ", %s", p->role);
		if (p->is_live)
			fputs(", still running when it was read", out);
		fputc('\n', out);
	}
	if (m->n_processes > 64)
		fprintf(out, "- and %" PRIu32 " more\n", m->n_processes - 64);
	if (m->part)
		foreign_printf(out, "\n## Part of the run\n\n- %s\n", m->part);
	for (uint32_t i = 0; i < m->n_part_notes; i++)
		foreign_printf(out, "- %s\n", m->part_notes[i]);
	const struct model_ledger *l = &m->ledger;
	fprintf(out,
		"\n## Ledger%s\n\n- samples delivered: %" PRIu64
		"\n- samples in the tree: %" PRIu64 "\n",
		m->part ? " of the whole run" : "", l->delivered, l->in_tree);
	for (unsigned i = 0; i < MSR_N_LOSSES; i++)
		if (l->losses[i])
			fprintf(out, "- %s: %" PRIu64 " (%s)\n", msr_loss_name((enum msr_loss)i),
				l->losses[i], msr_loss_description((enum msr_loss)i));
	fprintf(out, "- complete call paths: %" PRIu64 "\n", l->n_complete);
	if (l->n_guessed)
		fprintf(out,
			"- call paths with a guessed frame: %" PRIu64
			" (functions whose name ends in \"" MODEL_GUESSED_SUFFIX
			"\" are these frames;"
			" what of a metric came by them is in its metric :GUESSED)\n",
			l->n_guessed);
	for (unsigned i = 1; i < MSR_N_PATH_ENDS; i++)
		if (l->n_cut[i])
			fprintf(out, "- partial call paths, %s: %" PRIu64 "\n",
				msr_path_end_name((enum msr_path_end)i), l->n_cut[i]);
	if (l->bytes_damaged)
		fprintf(out, "- damaged bytes of the measurement, skipped: %" PRIu64 "\n",
			l->bytes_damaged);
	fprintf(out, "- the ledger %s\n", m->ledger_closes ? "closes" : "does not close");
	if (m->has_gpu) {
		describe_gpu(&m->gpu_ledger, out);
		describe_sampling(&m->gpu_sampling, out);
	}
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

static bool add_general(struct image *img, const struct model *m)
{
	char *title = names_clean(m->title && m->title[0] ? m->title : "<unnamed>"),
	     *description = describe(m);
	if (!title || !description) {
		free(title);
		free(description);
		return false;
	}
	uint8_t *at =
		section_room(img, CCTDB_META_GENERAL,
			     CCTDB_GENERAL_BYTES + strlen(title) + 1 + strlen(description) + 1);
	uint64_t offset = img->sections[CCTDB_META_GENERAL].pointer + CCTDB_GENERAL_BYTES;
	if (at) {
		cctdb_put_general(at, offset, offset + strlen(title) + 1);
		size_t n = put_string(at + CCTDB_GENERAL_BYTES, title);
		put_string(at + CCTDB_GENERAL_BYTES + n, description);
	}
	free(title);
	free(description);
	return at;
}

static bool add_id_names(struct image *img)
{
	static const char *const kinds[CCTDB_N_ID_KINDS] = {"SUMMARY",   "NODE",      "RANK",
							    "THREAD",    "GPUDEVICE", "GPUCONTEXT",
							    "GPUSTREAM", "CORE"};
	size_t n = 0;
	for (unsigned i = 0; i < CCTDB_N_ID_KINDS; i++)
		n += strlen(kinds[i]) + 1;
	uint8_t *at = section_room(img, CCTDB_META_ID_NAMES,
				   CCTDB_ID_NAMES_BYTES + 8 * CCTDB_N_ID_KINDS + n);
	if (!at)
		return false;
	uint64_t start = img->sections[CCTDB_META_ID_NAMES].pointer;
	cctdb_put_id_names(at, start + CCTDB_ID_NAMES_BYTES, CCTDB_N_ID_KINDS);
	n = CCTDB_ID_NAMES_BYTES + 8 * CCTDB_N_ID_KINDS;
	for (unsigned i = 0; i < CCTDB_N_ID_KINDS; i++) {
		cctdb_put_pointer(at + CCTDB_ID_NAMES_BYTES + 8 * i, start + n);
		n += put_string(at + n, kinds[i]);
	}
	return true;
}

/* Where the parts of the section are, relative to it. */
enum {
	SCOPES_AT = CCTDB_METRICS_BYTES,
	METRICS_AT = SCOPES_AT + CCTDB_N_SCOPES * CCTDB_SCOPE_BYTES,
	INSTANCES_BYTES = CCTDB_N_SCOPES * CCTDB_SCOPE_INSTANCE_BYTES,
	DETAIL_BYTES = INSTANCES_BYTES + CCTDB_IDS_PER_METRIC * CCTDB_SUMMARY_BYTES /* at most */
};

static uint64_t scope_at(unsigned s)
{
	return SCOPES_AT + (uint64_t)(s - CCTDB_FIRST_SCOPE) * CCTDB_SCOPE_BYTES;
}

/* Writes the instances and summaries of metric i behind each other. Returns how many summaries. */
static uint16_t put_details(uint8_t *at, uint64_t start, uint32_t i, uint32_t statistics,
			    const uint64_t *formulas)
{
	static const enum cctdb_combine combines[CCTDB_N_PARTIALS] = {
		CCTDB_COMBINE_SUM, CCTDB_COMBINE_SUM, CCTDB_COMBINE_MIN, CCTDB_COMBINE_MAX};
	uint16_t n = 0;
	for (unsigned s = CCTDB_FIRST_SCOPE; s < MODEL_N_SCOPES; s++)
		cctdb_put_scope_instance(at + (s - CCTDB_FIRST_SCOPE) * CCTDB_SCOPE_INSTANCE_BYTES,
					 start + scope_at(s), cctdb_value_id(i, s));
	for (enum cctdb_partial p = CCTDB_SUM; p < CCTDB_N_PARTIALS; p++)
		for (unsigned s = CCTDB_FIRST_SCOPE; s < MODEL_N_SCOPES; s++)
			if (cctdb_has_statistic(statistics, p, s))
				cctdb_put_summary(at + INSTANCES_BYTES + n++ * CCTDB_SUMMARY_BYTES,
						  start + scope_at(s), formulas[p], combines[p],
						  cctdb_statistic_id(i, p, s));
	return n;
}

static uint64_t metric_strings_bytes(const struct model *m, const struct names *names)
{
	uint64_t n = 0;
	for (unsigned s = CCTDB_FIRST_SCOPE; s < MODEL_N_SCOPES; s++)
		n += strlen(cctdb_scope_names[s]) + 1;
	for (unsigned p = 0; p < CCTDB_N_PARTIALS; p++)
		n += strlen(cctdb_formulas[p]) + 1;
	for (uint32_t i = 0; i < m->n_metrics; i++)
		n += strlen(names->metrics[i]) + 1;
	return n;
}

/* Header, scopes, metrics, then for each metric its instances and summaries, then the strings. */
static bool add_metrics(struct image *img, const struct cctdb_plan *plan, const struct names *names)
{
	static const enum cctdb_scope_type types[MODEL_N_SCOPES] = {
		CCTDB_SCOPE_POINT, CCTDB_SCOPE_TRANSITIVE, CCTDB_SCOPE_CUSTOM,
		CCTDB_SCOPE_EXECUTION};
	const struct model *m = plan->m;
	const uint64_t details = METRICS_AT + (uint64_t)m->n_metrics * CCTDB_METRIC_BYTES;
	uint64_t strings = details + (uint64_t)m->n_metrics * DETAIL_BYTES,
		 formulas[CCTDB_N_PARTIALS];
	uint8_t *at =
		section_room(img, CCTDB_META_METRICS, strings + metric_strings_bytes(m, names));
	if (!at)
		return false;
	uint64_t start = img->sections[CCTDB_META_METRICS].pointer;
	cctdb_put_metrics(at, start + METRICS_AT, m->n_metrics, start + SCOPES_AT, CCTDB_N_SCOPES);
	for (unsigned s = CCTDB_FIRST_SCOPE; s < MODEL_N_SCOPES; s++) {
		cctdb_put_scope(at + scope_at(s), start + strings, types[s],
				types[s] == CCTDB_SCOPE_TRANSITIVE ? 0 : 255);
		strings += put_string(at + strings, cctdb_scope_names[s]);
	}
	for (unsigned p = 0; p < CCTDB_N_PARTIALS; p++) {
		formulas[p] = start + strings;
		strings += put_string(at + strings, cctdb_formulas[p]);
	}
	for (uint32_t i = 0; i < m->n_metrics; i++) {
		const uint64_t instances = details + (uint64_t)i * DETAIL_BYTES;
		const uint16_t n =
			put_details(at + instances, start, i, plan->statistics[i], formulas);
		cctdb_put_metric(at + METRICS_AT + i * CCTDB_METRIC_BYTES, start + strings,
				 start + instances, CCTDB_N_SCOPES,
				 start + instances + INSTANCES_BYTES, n);
		strings += put_string(at + strings, names->metrics[i]);
	}
	return true;
}

static bool add_strings(struct image *img, struct names *names)
{
	uint64_t at = cctdb_align(img->bytes.n, 8);
	if (!place_strings(names, at))
		return false;
	uint8_t *p = section_room(img, CCTDB_META_STRINGS, names->n_bytes);
	for (uint32_t i = 0; p && i < names->table.starts.n; i++)
		put_string(p + (names->offsets[i] - at), strtab_get(&names->table, i));
	return p;
}

/* A list section: a header and n items, which the caller fills. */
static uint8_t *add_list(struct image *img, unsigned section, uint32_t n, uint16_t item_bytes)
{
	uint8_t *at = section_room(img, section, CCTDB_LIST_BYTES + (uint64_t)n * item_bytes);
	if (!at)
		return NULL;
	cctdb_put_list(at, img->sections[section].pointer + CCTDB_LIST_BYTES, n, item_bytes);
	return at + CCTDB_LIST_BYTES;
}

static uint64_t item(const struct image *img, unsigned section, uint32_t i, uint16_t item_bytes)
{
	return img->sections[section].pointer + CCTDB_LIST_BYTES + (uint64_t)i * item_bytes;
}
static uint64_t module_pointer(const struct image *img, const struct model *m, uint32_t module)
{
	return item(img, CCTDB_META_MODULES, module < m->n_modules ? module : m->n_modules,
		    CCTDB_MODULE_BYTES);
}
static uint64_t file_pointer(const struct image *img, const struct model *m, uint32_t file)
{
	return file < m->n_files ? item(img, CCTDB_META_FILES, file, CCTDB_FILE_BYTES) : 0;
}
static uint64_t function_pointer(const struct image *img, const struct model *m, uint32_t function)
{
	return item(img, CCTDB_META_FUNCTIONS,
		    function < m->n_functions ? function : m->n_functions, CCTDB_FUNCTION_BYTES);
}

/* Modules and functions have one more item than the model, for unknown code. */
static bool add_objects(struct image *img, const struct model *m, const struct names *names,
			const struct cctdb_sources *sources)
{
	uint8_t *at = add_list(img, CCTDB_META_MODULES, m->n_modules + 1, CCTDB_MODULE_BYTES);
	for (uint32_t i = 0; at && i <= m->n_modules; i++, at += CCTDB_MODULE_BYTES)
		cctdb_put_module(at, names->offsets[names->modules[i]]);
	if (!at || !(at = add_list(img, CCTDB_META_FILES, m->n_files, CCTDB_FILE_BYTES)))
		return false;
	for (uint32_t i = 0; i < m->n_files; i++, at += CCTDB_FILE_BYTES)
		cctdb_put_file(at, sources->relative[i], names->offsets[names->files[i]]);
	if (!(at = add_list(img, CCTDB_META_FUNCTIONS, m->n_functions + 1, CCTDB_FUNCTION_BYTES)))
		return false;
	for (uint32_t i = 0; i <= m->n_functions; i++, at += CCTDB_FUNCTION_BYTES) {
		struct model_function unknown = {.module = MODEL_NONE, .file = MODEL_NONE};
		const struct model_function *f = i < m->n_functions ? &m->functions[i] : &unknown;
		bool placeholder =
			/* "<gpu kernel>": HPCToolkit gives it a name and nothing else */
			f->gpu_kind != MSR_GPU_NO_KIND || f->wait || f->is_range;
		cctdb_put_function(at, &(struct cctdb_function){
			.name = names->offsets[names->functions[i]],
			.module = placeholder ? 0 : module_pointer(img, m, f->module),
			.offset = f->link_addr,
			.file = file_pointer(img, m, f->file),
			.line = f->file < m->n_files ? f->line : 0,
		});
	}
	return true;
}

/* ---- the tree ---- */

static struct cctdb_context convert(const struct image *img, const struct cctdb_plan *plan,
				    uint32_t id)
{
	const struct model *m = plan->m;
	const struct model_context *c = &m->contexts[id];
	static const uint8_t lexical[] = {
		[MODEL_CONTEXT_FUNCTION] = CCTDB_LEXICAL_FUNCTION,
		[MODEL_CONTEXT_LOOP] = CCTDB_LEXICAL_LOOP,
		[MODEL_CONTEXT_LINE] = CCTDB_LEXICAL_LINE,
		[MODEL_CONTEXT_INSTRUCTION] = CCTDB_LEXICAL_INSTRUCTION,
	};
	static const uint8_t relations[] = {
		[MODEL_LEXICAL] = CCTDB_RELATION_LEXICAL,
		[MODEL_CALL] = CCTDB_RELATION_CALL,
		[MODEL_INLINED] = CCTDB_RELATION_INLINED,
	};
	struct cctdb_context out = {.context = plan->id_of[id],
				    .lexical = lexical[c->kind],
				    .relation = relations[c->relation]};
	out.propagation = c->relation == MODEL_LEXICAL ? CCTDB_PROPAGATE_FUNCTION : 0;
	switch (c->kind) {
	case MODEL_CONTEXT_FUNCTION:
		out.function = function_pointer(img, m, c->function);
		break;
	case MODEL_CONTEXT_INSTRUCTION:
		out.module = module_pointer(img, m, c->module);
		out.offset = c->link_addr;
		break;
	default:
		if (c->kind == MODEL_CONTEXT_LOOP && c->file == MODEL_NONE) {
			out.module = module_pointer(img, m, c->module);
			out.offset = c->link_addr;
			break;
		}
		out.file = file_pointer(img, m, c->file);
		out.line = c->line;
	}
	return out;
}

/*
 * The children of one parent are next to each other, parents in the order of their ids. at[id]
 * becomes the offset of a context behind the entry points, at[n_contexts] the end of all. Returns
 * the number of entry points.
 */
static uint32_t place_contexts(const struct image *img, const struct cctdb_plan *plan, uint64_t *at)
{
	const struct model *m = plan->m;
	uint32_t n_entries = 0;
	uint64_t end = 0;
	for (uint32_t child = 1; child < m->n_contexts; child += m->contexts[child].subtree_n)
		n_entries++;
	for (uint32_t id = 1; id < m->n_contexts; id++) {
		if (plan->id_of[id] == MODEL_NONE)
			continue;
		const uint32_t stop = id + m->contexts[id].subtree_n;
		for (uint32_t child = cctdb_plan_first_child(plan, id); child < stop;
		     child = cctdb_plan_next_child(plan, id, child)) {
			struct cctdb_context c = convert(img, plan, child);
			at[child] = end;
			end += cctdb_context_bytes(&c);
		}
	}
	at[m->n_contexts] = end;
	return n_entries;
}

/* Bytes of the children of a context, which are next to each other. */
static uint64_t children_bytes(const struct image *img, const struct cctdb_plan *plan, uint32_t id,
			       const uint64_t *at)
{
	const uint32_t stop = id + plan->m->contexts[id].subtree_n,
		       first = cctdb_plan_first_child(plan, id);
	uint32_t last = 0;
	for (uint32_t child = first; child < stop; child = cctdb_plan_next_child(plan, id, child))
		last = child;
	if (!last)
		return 0;
	struct cctdb_context c = convert(img, plan, last);
	return at[last] + cctdb_context_bytes(&c) - at[first];
}

static void put_entry(uint8_t *at, const struct model_context *c, const struct cctdb_entry *place,
		      uint64_t name)
{
	static const uint8_t kinds[] = {CCTDB_ENTRY_MAIN_THREAD, CCTDB_ENTRY_APPLICATION_THREAD,
					CCTDB_ENTRY_UNKNOWN,     CCTDB_ENTRY_UNKNOWN,
					CCTDB_ENTRY_UNKNOWN,     CCTDB_ENTRY_APPLICATION_THREAD};
	_Static_assert(sizeof kinds == MODEL_ENTRY_OMP_IDLE + 1, "an entry has no kind");
	struct cctdb_entry e = *place;
	e.entry_point = kinds[c->entry];
	e.pretty_name = name;
	cctdb_put_entry(at, &e);
}

static bool add_contexts(struct image *img, const struct cctdb_plan *plan,
			 const struct names *names, struct strtab *table)
{
	const struct model *m = plan->m;
	uint64_t *at = calloc((size_t)m->n_contexts + 1, sizeof *at);
	if (!at)
		return false;
	uint32_t n_entries = place_contexts(img, plan, at);
	uint64_t base = CCTDB_LIST_BYTES + (uint64_t)n_entries * CCTDB_ENTRY_BYTES;
	uint8_t *p = section_room(img, CCTDB_META_CONTEXTS, base + at[m->n_contexts]);
	uint64_t start = img->sections[CCTDB_META_CONTEXTS].pointer;
	if (p)
		cctdb_put_context_list(p, start + CCTDB_LIST_BYTES, (uint16_t)n_entries);
	for (uint32_t id = 1, entry = 0; p && id < m->n_contexts; id++) {
		if (plan->id_of[id] == MODEL_NONE)
			continue;
		const struct model_context *c = &m->contexts[id];
		const uint64_t n_bytes = children_bytes(img, plan, id, at);
		const uint64_t children =
			n_bytes ? start + base + at[cctdb_plan_first_child(plan, id)] : 0;
		if (c->kind != MODEL_CONTEXT_ENTRY) {
			struct cctdb_context out = convert(img, plan, id);
			out.children_bytes = n_bytes;
			out.children = children;
			cctdb_put_context(p + base + at[id], &out);
			continue;
		}
		put_entry(p + CCTDB_LIST_BYTES + CCTDB_ENTRY_BYTES * entry++, c,
			  &(struct cctdb_entry){.children_bytes = n_bytes,
						.children = children,
						.context = plan->id_of[id]},
			  names->offsets[names_add(table, names_entry(c))]); /* is in the table */
	}
	free(at);
	return p;
}

static enum status write_image(struct image *img, const struct sink_options *o)
{
	struct outfile file;
	uint8_t *footer = vec_extend(&img->bytes, CCTDB_FOOTER_BYTES);
	if (!footer) {
		log_error(o->directory, "meta.db: out of memory");
		return STATUS_NO_MEMORY;
	}
	cctdb_put_footer(footer, CCTDB_META);
	cctdb_put_header(img->bytes.at, CCTDB_META, img->sections);
	enum status status = outfile_create(&file, o->directory, "meta.db");
	if (status != STATUS_OK)
		return status;
	outfile_write(&file, img->bytes.at, img->bytes.n, 0);
	return outfile_close(&file);
}

enum status cctdb_write_meta(const struct cctdb_plan *plan, const struct sink_options *o,
			     const struct cctdb_sources *s)
{
	const struct model *m = plan->m;
	struct image img = {0};
	struct names names = {0};
	uint64_t header;
	bool ok = add_names(&names, m, s) && room(&img, cctdb_header_bytes(CCTDB_META), &header) &&
		  add_general(&img, m) && add_id_names(&img) && add_metrics(&img, plan, &names) &&
		  add_strings(&img, &names) && add_objects(&img, m, &names, s) &&
		  add_contexts(&img, plan, &names, &names.table);
	enum status status = STATUS_NO_MEMORY;
	if (ok)
		status = write_image(&img, o);
	else
		log_error(o->directory, "meta.db: out of memory");
	free_names(&names);
	vec_free(&img.bytes);
	return status;
}
