/* SPDX-License-Identifier: BSD-3-Clause */
/* The contexts of the hand-made model; see model_fixture.h. */
#include "tests/unit/sink/model_fixture_private.h"

/* Appends a context; its subtree count is set by end(). Returns its id. */
static uint32_t begin(struct model_private *x, uint32_t parent, struct model_context c)
{
	c.parent = parent;
	struct model_context *slot = fixture_must(vec_push(&x->contexts));
	*slot = c;
	return (uint32_t)x->contexts.n - 1;
}

static void end(struct model_private *x, uint32_t id)
{
	x->contexts.at[id].subtree_n = (uint32_t)x->contexts.n - id;
}

static uint32_t function(struct model_private *x, uint32_t parent, uint32_t f, uint32_t module,
			 enum model_relation relation)
{
	return begin(x, parent,
		     (struct model_context){.kind = MODEL_CONTEXT_FUNCTION,
					    .relation = (uint8_t)relation,
					    .function = f,
					    .module = module,
					    .file = module == EXE ? MAIN_C : MODEL_NONE,
					    .line = module == EXE ? 10 * (f + 1) : 0,
					    .link_addr = 0x1000 * (f + 1)});
}

static uint32_t line(struct model_private *x, uint32_t parent, uint32_t f, uint32_t file,
		     uint32_t number)
{
	return begin(x, parent,
		     (struct model_context){.kind = MODEL_CONTEXT_LINE,
					    .relation = MODEL_LEXICAL,
					    .function = f,
					    .module = EXE,
					    .file = file,
					    .line = number});
}

static uint32_t instruction(struct model_private *x, uint32_t parent, uint32_t f, uint32_t module,
			    uint64_t addr)
{
	return begin(x, parent,
		     (struct model_context){.kind = MODEL_CONTEXT_INSTRUCTION,
					    .relation = MODEL_LEXICAL,
					    .function = f,
					    .module = module,
					    .file = MODEL_NONE,
					    .link_addr = addr});
}

static void leaf(struct model_private *x, uint32_t id)
{
	end(x, id);
	*(uint32_t *)fixture_must(vec_push(&x->leaves)) = id;
}

static void work(struct model_private *x, uint32_t call, bool loops)
{
	uint32_t f = function(x, call, F_WORK, EXE, MODEL_CALL), l, g;
	if (loops) {
		uint32_t loop = begin(x, f,
				      (struct model_context){.kind = MODEL_CONTEXT_LOOP,
							     .relation = MODEL_LEXICAL,
							     .function = F_WORK,
							     .module = EXE,
							     .file = MAIN_C,
							     .line = 20});
		uint32_t inner = begin(x, loop,
				       (struct model_context){.kind = MODEL_CONTEXT_LOOP,
							      .relation = MODEL_LEXICAL,
							      .function = F_WORK,
							      .module = EXE,
							      .file = MAIN_C,
							      .line = 21});
		leaf(x, line(x, inner, F_WORK, MAIN_C, 22));
		end(x, inner);
		leaf(x, line(x, loop, F_WORK, MAIN_C, 21));
		end(x, loop);
	}
	leaf(x, line(x, f, F_WORK, MAIN_C, 21));
	uint32_t call_line = line(x, f, F_WORK, MAIN_C, 23);
	g = function(x, call_line, F_INLINED, EXE, MODEL_INLINED);
	leaf(x, line(x, g, F_INLINED, WORK_H, 5));
	l = line(x, g, F_INLINED, WORK_H, 6);
	uint32_t t = function(x, l, F_TEMPLATE, EXE, MODEL_INLINED);
	leaf(x, line(x, t, F_TEMPLATE, MISSING_C, 7));
	end(x, t);
	leaf(x, l); /* a line with samples of its own and a call */
	end(x, g);
	end(x, call_line);
	end(x, f);
}

static void recurse(struct model_private *x, uint32_t call, uint32_t depth)
{
	uint32_t f = function(x, call, F_RECURSE, EXE, MODEL_CALL),
		 l = line(x, f, F_RECURSE, UMLAUT_C, 31);
	if (depth > 1)
		recurse(x, l, depth - 1);
	leaf(x, l);
	end(x, f);
}

/* A callback through a library without lines. */
static void sort(struct model_private *x, uint32_t call)
{
	uint32_t q = function(x, call, F_QSORT, LIBC, MODEL_CALL), i;
	i = instruction(x, q, F_QSORT, LIBC, 0x5010);
	uint32_t f = function(x, i, F_COMPARE, EXE, MODEL_CALL);
	leaf(x, line(x, f, F_COMPARE, MAIN_C, 61));
	end(x, f);
	end(x, i);
	leaf(x, instruction(x, q, F_QSORT, LIBC, 0x5020));
	end(x, q);
}

static uint32_t placeholder(struct model_private *x, uint32_t parent, uint32_t f)
{
	return begin(x, parent,
		     (struct model_context){.kind = MODEL_CONTEXT_FUNCTION,
					    .relation = MODEL_CALL,
					    .function = f,
					    .module = MODEL_NONE,
					    .file = MODEL_NONE});
}

static uint32_t kernel_line(struct model_private *x, uint32_t parent, uint32_t f, uint32_t number)
{
	return begin(x, parent,
		     (struct model_context){.kind = MODEL_CONTEXT_LINE,
					    .relation = MODEL_LEXICAL,
					    .function = f,
					    .module = GPU_CODE,
					    .file = KERNEL_CL,
					    .line = number});
}

/* A kernel below its placeholder: PC samples in two lines and in a line of an inlined function. */
static void build_kernel(struct model_private *x, uint32_t call, unsigned which)
{
	uint32_t p = placeholder(x, call, F_GPU_KERNEL);
	uint32_t f = begin(x, p,
			   (struct model_context){.kind = MODEL_CONTEXT_FUNCTION,
						  .relation = MODEL_CALL,
						  .function = F_KERNEL,
						  .module = GPU_CODE,
						  .file = KERNEL_CL,
						  .line = 4,
						  .link_addr = 0x100});
	uint32_t l = kernel_line(x, f, F_KERNEL, 6);
	x->gpu.lines[which][0] = l;
	uint32_t g = begin(x, l,
			   (struct model_context){.kind = MODEL_CONTEXT_FUNCTION,
						  .relation = MODEL_INLINED,
						  .function = F_DEVICE,
						  .module = GPU_CODE,
						  .file = KERNEL_CL,
						  .line = 1});
	x->gpu.lines[which][1] = kernel_line(x, g, F_DEVICE, 2);
	end(x, x->gpu.lines[which][1]);
	end(x, g);
	end(x, l);
	l = begin(x, f,
		  (struct model_context){.kind = MODEL_CONTEXT_INSTRUCTION,
					 .relation = MODEL_LEXICAL,
					 .function = F_KERNEL,
					 .module = GPU_CODE,
					 .file = MODEL_NONE,
					 .link_addr = 0x180});
	x->gpu.lines[which][2] = l;
	end(x, l);
	end(x, f);
	end(x, p);
	x->gpu.kernels[which] = f;
}

/* What one line asks of the GPU: a kernel, a copy, and a wait with the second. */
static void build_gpu_call(struct model_private *x, uint32_t parent, uint32_t f_of, unsigned which,
			   bool kernel, bool others)
{
	uint32_t l = line(x, parent, f_of, MAIN_C, 14 + which),
		 f = function(x, l, F_ENQUEUE, LIBC, MODEL_CALL);
	uint32_t i = instruction(x, f, F_ENQUEUE, LIBC, 0xb010 + 16 * which), p;
	if (kernel)
		build_kernel(x, i, which);
	if (others) {
		p = placeholder(x, i, which ? F_GPU_COPYOUT : F_GPU_COPYIN);
		*(which ? &x->gpu.copyout : &x->gpu.copyin) = p;
		end(x, p);
	}
	if (others && which) {
		x->gpu.sync = placeholder(x, i, F_GPU_SYNC);
		end(x, x->gpu.sync);
	}
	end(x, i);
	end(x, f);
	end(x, l);
}

/* With `depth`, the kernel is launched so many calls below main, by a call of its own. */
static void build_gpu_calls(struct model_private *x, uint32_t main_, unsigned which, uint32_t depth)
{
	size_t first = x->contexts.n;
	uint32_t at = main_;
	for (uint32_t d = 0; d < depth; d++) {
		uint32_t l = line(x, at, d ? F_RECURSE : F_MAIN, MAIN_C, 200 + d);
		at = function(x, l, F_RECURSE, EXE, MODEL_CALL);
	}
	build_gpu_call(x, at, depth ? F_RECURSE : F_MAIN, which, true, !depth);
	for (size_t c = first; c < first + 2 * (size_t)depth; c++)
		end(x, (uint32_t)c);
	if (depth)
		build_gpu_call(x, main_, F_MAIN, which, false, true);
}

static void build_orphan(struct model_private *x, uint32_t root)
{
	uint32_t entry = begin(x, root,
			       (struct model_context){.kind = MODEL_CONTEXT_ENTRY,
						      .entry = MODEL_ENTRY_GPU_NO_LAUNCH,
						      .module = MODEL_NONE,
						      .file = MODEL_NONE,
						      .function = MODEL_NONE});
	uint32_t p = placeholder(x, entry, F_GPU_KERNEL);
	x->gpu.orphan = begin(x, p,
			      (struct model_context){.kind = MODEL_CONTEXT_FUNCTION,
						     .relation = MODEL_CALL,
						     .function = F_OTHER_KERNEL,
						     .module = MODEL_NONE,
						     .file = MODEL_NONE});
	end(x, x->gpu.orphan);
	end(x, p);
	end(x, entry);
}

void fixture_build_tree(struct model_private *x, const struct fixture_options *o)
{
	uint32_t root = begin(x, MODEL_NONE,
			      (struct model_context){.kind = MODEL_CONTEXT_ROOT,
						     .module = MODEL_NONE,
						     .file = MODEL_NONE,
						     .function = MODEL_NONE});
	const struct model_context none = {.kind = MODEL_CONTEXT_ENTRY,
					   .module = MODEL_NONE,
					   .file = MODEL_NONE,
					   .function = MODEL_NONE};
	struct model_context e = none;
	uint32_t entry = begin(x, root, e), main_ = function(x, entry, F_MAIN, EXE, MODEL_CALL), l;
	l = line(x, main_, F_MAIN, MAIN_C, 12);
	work(x, l, o->loops);
	sort(x, l);
	end(x, l);
	l = line(x, main_, F_MAIN, MAIN_C, 13);
	work(x, l, false);
	if (o->recursion)
		recurse(x, l, o->recursion);
	leaf(x, l);
	for (uint32_t i = 0; i < o->n_extra; i++) {
		l = line(x, main_, F_MAIN, MAIN_C, 100 + i);
		uint32_t f = function(x, l, F_NAMED + i, EXE, MODEL_CALL);
		for (uint32_t k = 0; k < 8; k++)
			leaf(x, line(x, f, F_NAMED + i, WORK_H, 100 + 8 * i + k));
		end(x, f);
		end(x, l);
	}
	for (unsigned i = 0; o->n_gpu_ops && i < 2; i++)
		build_gpu_calls(x, main_, i, o->gpu_depth);
	end(x, main_);
	end(x, entry);
	e.entry = MODEL_ENTRY_THREAD;
	entry = begin(x, root, e);
	uint32_t t = function(x, entry, F_THREAD, EXE, MODEL_CALL);
	l = line(x, t, F_THREAD, MAIN_C, 91);
	work(x, l, false);
	end(x, l);
	end(x, t);
	end(x, entry);
	e.entry = MODEL_ENTRY_PARTIAL;
	for (unsigned why = MSR_END_NO_CFI; why <= MSR_END_NO_MODULE; why++) {
		e.end = (uint8_t)why;
		entry = begin(x, root, e);
		uint32_t f = function(x, entry, F_EVIL, why == MSR_END_NO_CFI ? EXE : MODEL_NONE,
				      MODEL_CALL);
		leaf(x,
		     instruction(x, f, F_EVIL, why == MSR_END_NO_CFI ? EXE : MODEL_NONE, 0xdead0));
		end(x, f);
		end(x, entry);
	}
	if (o->n_gpu_ops)
		build_orphan(x, root);
	end(x, root);
}
