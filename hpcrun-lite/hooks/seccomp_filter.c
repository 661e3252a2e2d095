/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Follows all ways through a filter at once; see seccomp_filter.h. Jumps of this code go forwards only, so one pass does it. The number of the call and the architecture are known, what
 * comes of arguments is not, and a jump on it goes both ways. Must not believe that the code is sound. Test: tests/unit/test_seccomp_filter.c.
 */
#include "hpcrun-lite/hooks/seccomp_filter.h"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <string.h>

struct pass {
	const struct sock_filter *code;
	size_t n;
	struct seccomp_state *states;
	bool is_bad; /* leaves the code */
};

static void flow(struct pass *p, size_t to, const struct seccomp_state *s)
{
	if (to >= p->n) {
		p->is_bad = true;
		return;
	}
	struct seccomp_state *t = &p->states[to];
	bool is_same = !t->is_reached || (t->is_known && s->is_known && t->accumulator == s->accumulator);
	*t = (struct seccomp_state){.accumulator = s->accumulator, .is_reached = true, .is_known = is_same && s->is_known};
}

static void jump(struct pass *p, size_t at, const struct seccomp_state *s)
{
	const struct sock_filter *c = &p->code[at];
	bool is_known = s->is_known && BPF_SRC(c->code) == BPF_K, is_true = true;
	switch (BPF_OP(c->code)) {
	case BPF_JA: flow(p, at + 1 + c->k, s); return;
	case BPF_JEQ: is_true = s->accumulator == c->k; break;
	case BPF_JGT: is_true = s->accumulator > c->k; break;
	case BPF_JGE: is_true = s->accumulator >= c->k; break;
	case BPF_JSET: is_true = s->accumulator & c->k; break;
	default: p->is_bad = true; return;
	}
	if (is_true || !is_known)
		flow(p, at + 1 + c->jt, s);
	if (!is_true || !is_known)
		flow(p, at + 1 + c->jf, s);
}

static void load(const struct sock_filter *c, int call, struct seccomp_state *s)
{
	s->is_known = c->code == (BPF_LD | BPF_IMM) || (c->code == (BPF_LD | BPF_W | BPF_ABS) && (c->k == offsetof(struct seccomp_data, nr) || c->k == offsetof(struct seccomp_data, arch)));
	s->accumulator = BPF_MODE(c->code) == BPF_IMM ? c->k : c->k == offsetof(struct seccomp_data, nr) ? (unsigned)call : AUDIT_ARCH_X86_64;
}

static bool spares(const struct sock_filter *c)
{
	const unsigned action = c->k & SECCOMP_RET_ACTION_FULL;
	return BPF_RVAL(c->code) == BPF_K && (action == SECCOMP_RET_ALLOW || action == SECCOMP_RET_LOG || action == SECCOMP_RET_ERRNO);
}

bool seccomp_filter_spares(const struct sock_filter *code, size_t n, int call, struct seccomp_state *states)
{
	struct pass p = {.code = code, .n = n, .states = states};
	memset(states, 0, n * sizeof *states);
	flow(&p, 0, &(struct seccomp_state){.is_known = true});
	for (size_t at = 0; at < n && !p.is_bad; at++) {
		struct seccomp_state s = states[at];
		if (!s.is_reached)
			continue;
		switch (BPF_CLASS(code[at].code)) {
		case BPF_RET:
			if (!spares(&code[at]))
				return false;
			continue;
		case BPF_JMP: jump(&p, at, &s); continue;
		case BPF_LD: load(&code[at], call, &s); break;
		case BPF_ALU:
			s.is_known = s.is_known && code[at].code == (BPF_ALU | BPF_AND | BPF_K);
			s.accumulator &= code[at].k;
			break;
		case BPF_MISC: s.is_known = s.is_known && BPF_MISCOP(code[at].code) == BPF_TAX; break;
		default: break; /* to the index register and to memory, what is in neither is known */
		}
		flow(&p, at + 1, &s);
	}
	return !p.is_bad;
}
