/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the GPU part of measurement files for tests: checks what must hold in a file at any moment,
 * and prints what is in it as "name value" lines. Independent of hpcprof-lite; knows the format
 * only from its headers. Usage: gpu_check [-k] FILE...   -k: the process may have been killed at
 * any instruction. Exit 1: an identity is violated.
 */
#include "common/format/measurement_gpu.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct launch {
	uint64_t id;
	uint32_t thread, node;
	unsigned kind;
	uint32_t n_ops;
};

static struct {
	struct launch *launch;
	uint64_t n_launches, n_ops, n_lost_ops, n_without_launch, n_without_op, n_path, n_no_path;
	uint64_t busy_ns, amount;
	uint64_t n_aggregates, aggregate_launches, aggregate_ops, aggregate_lost, aggregate_busy_ns;
	uint64_t n_defined[16], n_shapes, n_clocks, n_pc, pc_count, n_values, n_ranges, n_backends;
	uint64_t max_nodes[4096];
	const struct msr_node *nodes[4096][256]; /* by thread and extent */
	uint32_t n_node_extents[4096];
	uint64_t node_first[4096][256];
	struct msr_gpu_tally tally;              /* sums */
} f;

static char module_path[65536][256];
static int failures, killed;
static const char *file_name;

#define FAIL(...) (printf("# %s: ", file_name), printf(__VA_ARGS__), putchar('\n'), failures++)

static int by_id(const void *a, const void *b)
{
	const struct launch *x = a, *y = b;
	return (x->id > y->id) - (x->id < y->id);
}

static struct launch *find_launch(uint64_t id)
{
	const struct launch key = {.id = id};
	return f.n_launches > 0 ? bsearch(&key, f.launch, f.n_launches, sizeof key, by_id) : NULL;
}

static void add_launches(const struct msr_view *v)
{
	const struct msr_gpu_launch *l = (const void *)v->content;
	uint64_t n = v->n_bytes / sizeof *l;
	f.launch = realloc(f.launch, (f.n_launches + n + 1) * sizeof *f.launch);
	if (!f.launch)
		exit(2);
	for (uint64_t i = 0; i < n; i++) {
		uint64_t id = (v->extent->first & ~(uint64_t)UINT32_MAX) | l[i].id_low;
		f.launch[f.n_launches++] =
			(struct launch){id, v->extent->thread, l[i].kind_node & MSR_TRACE_NODE_MAX,
					l[i].kind_node >> 28, 0};
		if (i && v->extent->thread != UINT32_MAX && l[i].enter_ns < l[i - 1].enter_ns)
			FAIL("launches of a thread run backwards");
		if (l[i].kind_node >> 28 == 0 || l[i].kind_node >> 28 >= MSR_N_GPU_KINDS)
			FAIL("launch of kind %u", l[i].kind_node >> 28);
	}
}

static void add_ops(const struct msr_view *v)
{
	unsigned stride = v->extent->record_bytes;
	if (stride != MSR_GPU_OP_SHORT && stride != MSR_GPU_OP_LONG) {
		FAIL("ops of %u bytes", stride);
		return;
	}
	for (uint64_t i = 0; i + stride <= v->n_bytes; i += stride) {
		const struct msr_gpu_op *op = (const void *)(v->content + i);
		struct launch *l = find_launch(op->id_kind & MSR_GPU_ID_MAX);
		unsigned kind = op->id_kind >> 48 & 255;
		f.n_ops++;
		f.n_without_launch += !l;
		if (l)
			l->n_ops++;
		if (kind & MSR_GPU_OP_LOST) {
			f.n_lost_ops++;
			continue;
		}
		if (kind == 0 || kind >= MSR_N_GPU_KINDS)
			FAIL("op of kind %u", kind);
		if (op->queue > f.n_defined[MSR_GPU_DEF_QUEUE] || op->shape > f.n_shapes)
			FAIL("op of queue %u, shape %u", op->queue, op->shape);
		if (op->end_ns < op->start_ns)
			FAIL("op ends before it starts");
		if (stride == MSR_GPU_OP_LONG && op->queued_before_ns < op->submitted_before_ns)
			FAIL("op submitted before it was queued");
		f.busy_ns += op->end_ns - op->start_ns;
		f.amount += op->amount;
	}
}

static void add_definitions(const struct msr_view *v)
{
	for (uint64_t at = 0; at < v->n_bytes;) {
		const struct msr_gpu_definition *d = (const void *)(v->content + at);
		if (v->n_bytes - at < sizeof *d || d->bytes < sizeof *d || d->bytes % 8 ||
		    d->bytes > v->n_bytes - at || d->type < 1 ||
		    d->type > MSR_GPU_DEF_DEVICE_LIMITS || d->id == 0) {
			FAIL("definition at %" PRIu64, at);
			return;
		}
		if (d->type != MSR_GPU_DEF_STALL && d->type != MSR_GPU_DEF_DEVICE_LIMITS &&
		    d->id != f.n_defined[d->type] + 1)
			FAIL("definition %u of type %u", d->id, d->type);
		f.n_defined[d->type]++;
		if (d->type == MSR_GPU_DEF_CODE) {
			const struct msr_gpu_def_code *c = (const void *)d;
			printf("code %s %" PRIu64 "\n", (const char *)(c + 1), c->content_bytes);
		}
		if (d->type == MSR_GPU_DEF_FUNCTION)
			printf("function %s\n",
			       (const char *)d + sizeof(struct msr_gpu_def_function));
		at += d->bytes;
	}
}

static void add_aggregates(const struct msr_view *v)
{
	const struct msr_gpu_aggregate *a = (const void *)v->content;
	for (uint64_t i = 0; i < v->n_bytes / sizeof *a; i++) {
		f.n_aggregates++;
		f.aggregate_launches += a[i].n_launches;
		f.aggregate_ops += a[i].n_ops;
		f.aggregate_busy_ns += a[i].busy_ns;
		for (unsigned k = 0; k < 4; k++)
			f.aggregate_lost += a[i].n_lost[k];
		if (a[i].n_launches && (a[i].detail || a[i].queue || a[i].shape))
			FAIL("launches counted where queue and shape are known");
		if (a[i].thread == UINT32_MAX && a[i].node)
			FAIL("node of no thread");
	}
}

static void add_tally(const struct msr_view *v)
{
	const struct msr_gpu_tally *t = (const void *)v->content;
	if (v->n_bytes < sizeof *t)
		return;
	const uint64_t *from = (const void *)t->launched;
	uint64_t *to = (void *)f.tally.launched;
	for (size_t i = 0; i < (sizeof *t - offsetof(struct msr_gpu_tally, launched)) / sizeof *to;
	     i++)
		to[i] += from[i];
	f.n_backends++;
	printf("backend %s %u %s\n", t->backend, v->extent->sequence, t->entrance);
}

static void add_module(const struct msr_view *v)
{
	for (uint64_t at = 0; at + sizeof(struct msr_module) <= v->n_bytes;) {
		const struct msr_module *m = (const void *)(v->content + at);
		snprintf(module_path[m->id], sizeof module_path[m->id], "%s",
			 (const char *)(m + 1));
		if (m->bytes < sizeof *m)
			return;
		at += m->bytes;
	}
}

static void add_nodes(const struct msr_view *v)
{
	uint32_t t = v->extent->thread, n = t < 4096 ? f.n_node_extents[t] : 256;
	if (n == 256)
		return;
	f.nodes[t][n] = (const void *)v->content;
	f.node_first[t][n] = v->extent->first;
	f.n_node_extents[t]++;
	uint64_t end = v->extent->first + v->n_bytes / sizeof(struct msr_node);
	f.max_nodes[t] = end > f.max_nodes[t] ? end : f.max_nodes[t];
}

/* Extents do not lie in the file in the order of their nodes. */
static const struct msr_node *node_of(uint32_t t, uint32_t id)
{
	uint32_t best = UINT32_MAX;
	for (uint32_t i = 0; i < f.n_node_extents[t]; i++)
		if (id >= f.node_first[t][i] &&
		    (best == UINT32_MAX || f.node_first[t][i] > f.node_first[t][best]))
			best = i;
	return best == UINT32_MAX ? NULL : &f.nodes[t][best][id - f.node_first[t][best]];
}

static void scan(const uint8_t *bytes, uint64_t n_bytes, unsigned pass)
{
	struct msr_view v;
	uint64_t pos = MSR_HEADER_BYTES, skipped;
	for (enum msr_scan s;
	     (s = msr_next_extent(bytes, n_bytes, &pos, &v, &skipped)) != MSR_SCAN_END;) {
		if (s == MSR_SCAN_DAMAGED) {
			if (!killed && pass == 0)
				FAIL("damaged: %" PRIu64 " bytes before %" PRIu64, skipped, pos);
			continue;
		}
		uint64_t n = v.extent->record_bytes ? v.n_bytes / v.extent->record_bytes : 0;
		if (pass == 1) {
			if (v.extent->kind == MSR_GPU_OP)
				add_ops(&v);
			continue;
		}
		switch (v.extent->kind) {
		case MSR_NODE: add_nodes(&v); break;
		case MSR_MODULE: add_module(&v); break;
		case MSR_GPU_LAUNCH: add_launches(&v); break;
		case MSR_GPU_DEFINITION: add_definitions(&v); break;
		case MSR_GPU_AGGREGATE: add_aggregates(&v); break;
		case MSR_GPU_TALLY: add_tally(&v); break;
		case MSR_GPU_SHAPE: f.n_shapes += n; break;
		case MSR_GPU_CLOCK: f.n_clocks += n; break;
		case MSR_GPU_PC_RANGE: f.n_ranges += n; break;
		case MSR_GPU_VALUE: f.n_values += n; break;
		case MSR_GPU_PC:
			f.n_pc += n;
			for (uint64_t i = 0; i < n; i++)
				f.pc_count +=
					((const struct msr_gpu_pc *)(const void *)v.content)[i]
						.count;
			break;
		default: break;
		}
	}
}

/* Every launch stands at a node that is there; its leaf's module is counted. */
static void check_launches(void)
{
	static uint64_t by_module[65536], by_caller[65536], by_node[1 << 16];
	uint64_t n_places = 0;
	memset(by_module, 0, sizeof by_module);
	memset(by_caller, 0, sizeof by_caller);
	memset(by_node, 0, sizeof by_node);
	for (uint64_t i = 0; i < f.n_launches; i++) {
		const struct launch *l = &f.launch[i];
		if (i && l->id == l[-1].id)
			FAIL("two launches have id %" PRIu64, l->id);
		f.n_without_op += l->n_ops == 0;
		if (l->thread == UINT32_MAX || l->node == 0) {
			f.n_no_path++;
			continue;
		}
		const struct msr_node *n = l->thread < 4096 && l->node < f.max_nodes[l->thread]
						   ? node_of(l->thread, l->node)
						   : NULL;
		if (!n) {
			FAIL("launch %" PRIu64 " stands at node %u of thread %u", l->id, l->node,
			     l->thread);
			continue;
		}
		f.n_path++;
		by_module[msr_addr_module(n->addr)]++;
		const struct msr_node *caller = node_of(l->thread, n->parent);
		if (caller)
			by_caller[msr_addr_module(caller->addr)]++;
		n_places += by_node[(l->node ^ l->thread << 8) & 65535]++ == 0;
	}
	for (unsigned m = 0; m < 65536; m++) {
		const char *slash = strrchr(module_path[m], '/'),
			   *name = slash ? slash + 1 : module_path[m];
		if (by_module[m])
			printf("leaf %s %" PRIu64 "\n", name, by_module[m]);
		if (by_caller[m])
			printf("caller %s %" PRIu64 "\n", name, by_caller[m]);
	}
	printf("places %" PRIu64 "\n", n_places);
}

static uint64_t sum(const _Atomic uint64_t *of, unsigned n)
{
	uint64_t s = 0;
	while (n)
		s += of[--n];
	return s;
}

static void check_tally(void)
{
	const struct msr_gpu_tally *t = &f.tally;
	/* a few words of each thread */
	uint64_t launched = sum(t->launched, 16), recorded = sum(t->recorded, 16),
		 aggregated = sum(t->aggregated, 16), lost = 0, slack = killed ? 64 : 0;
	for (unsigned i = 0; i < MSR_GPU_LOSS_ROOM; i++)
		if (i != MSR_GPU_LOSS_NO_PATH)
			lost += t->launch_losses[i];
	if (launched < recorded + aggregated + lost ||
	    launched > recorded + aggregated + lost + slack)
		FAIL("launched %" PRIu64 ", recorded %" PRIu64 ", aggregated %" PRIu64
		     ", lost %" PRIu64,
		     launched, recorded, aggregated, lost);
	if (recorded > f.n_launches || recorded + slack < f.n_launches)
		FAIL("%" PRIu64 " launch records, the tally says %" PRIu64, f.n_launches, recorded);
	if (aggregated > f.aggregate_launches || aggregated + slack < f.aggregate_launches)
		FAIL("%" PRIu64 " launches in aggregates, the tally says %" PRIu64,
		     f.aggregate_launches, aggregated);
	if (t->n_ops > f.n_ops || t->n_ops + slack < f.n_ops)
		FAIL("%" PRIu64 " op records, the tally says %" PRIu64, f.n_ops,
		     (uint64_t)t->n_ops);
	printf("launched %" PRIu64 "\nrecorded %" PRIu64 "\naggregated %" PRIu64
	       "\nlaunch_lost %" PRIu64 "\n",
	       launched, recorded, aggregated, lost);
	for (unsigned i = 0; i < MSR_N_GPU_LOSSES; i++) {
		uint64_t n = t->launch_losses[i] + t->op_losses[i] + t->lost[i];
		if (n)
			printf("lost-%s %" PRIu64 "\n", msr_gpu_loss_name((enum msr_gpu_loss)i), n);
	}
	for (unsigned k = 0; k < MSR_N_GPU_KINDS; k++)
		if (t->launched[k])
			printf("launched-%s %" PRIu64 "\n", msr_gpu_kind_name((enum msr_gpu_kind)k),
			       (uint64_t)t->launched[k]);
	printf("record_bytes %" PRIu64 "\nlost_definitions %" PRIu64 "\nlost_contents %" PRIu64
	       "\nlost_pc %" PRIu64 "\n",
	       (uint64_t)t->record_bytes, (uint64_t)t->n_lost_definitions,
	       (uint64_t)t->n_lost_contents, (uint64_t)t->n_lost_pc);
}

static void check_file(const uint8_t *bytes, uint64_t n_bytes)
{
	free(f.launch);
	memset(&f, 0, sizeof f);
	scan(bytes, n_bytes, 0);
	if (f.n_launches > 0)
		qsort(f.launch, f.n_launches, sizeof *f.launch, by_id);
	scan(bytes, n_bytes, 1);
	check_launches();
	check_tally();
	printf("ops %" PRIu64 "\nlost_ops %" PRIu64 "\nops_without_launch %" PRIu64
	       "\nlaunches_without_op %" PRIu64 "\nwith_path %" PRIu64 "\nwithout_path %" PRIu64
	       "\nbusy_ns %" PRIu64 "\namount %" PRIu64 "\n",
	       f.n_ops, f.n_lost_ops, f.n_without_launch, f.n_without_op, f.n_path, f.n_no_path,
	       f.busy_ns, f.amount);
	printf("aggregates %" PRIu64 "\naggregate_ops %" PRIu64 "\naggregate_lost %" PRIu64
	       "\naggregate_busy_ns %" PRIu64 "\n",
	       f.n_aggregates, f.aggregate_ops, f.aggregate_lost, f.aggregate_busy_ns);
	printf("devices %" PRIu64 "\nqueues %" PRIu64 "\ncodes %" PRIu64 "\nfunctions %" PRIu64
	       "\nshapes %" PRIu64 "\nbackends %" PRIu64 "\n",
	       f.n_defined[MSR_GPU_DEF_DEVICE], f.n_defined[MSR_GPU_DEF_QUEUE],
	       f.n_defined[MSR_GPU_DEF_CODE], f.n_defined[MSR_GPU_DEF_FUNCTION], f.n_shapes,
	       f.n_backends);
	printf("clocks %" PRIu64 "\npc %" PRIu64 "\npc_count %" PRIu64 "\nvalues %" PRIu64
	       "\nranges %" PRIu64 "\n",
	       f.n_clocks, f.n_pc, f.pc_count, f.n_values, f.n_ranges);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "-k")) {
			killed = 1;
			continue;
		}
		file_name = argv[i];
		FILE *in = fopen(argv[i], "rb");
		if (!in || fseek(in, 0, SEEK_END) != 0) {
			perror(argv[i]);
			return 2;
		}
		uint64_t n_bytes = (uint64_t)ftell(in);
		uint8_t *bytes = aligned_alloc(64, (n_bytes + 63) & ~UINT64_C(63));
		rewind(in);
		if (!bytes || fread(bytes, 1, n_bytes, in) != n_bytes)
			return 2;
		fclose(in);
		check_file(bytes, n_bytes);
		free(bytes);
	}
	return failures != 0;
}
