/* SPDX-License-Identifier: BSD-3-Clause */
/* Between the parts of the checker: the model, the search, the hooks. See order.h. */
#ifndef TESTS_ORDER_ORDER_INTERNAL_H
#define TESTS_ORDER_ORDER_INTERNAL_H

#include "tests/order/order.h"

enum { RELAXED, CONSUME, ACQUIRE, RELEASE, ACQ_REL, SEQ_CST };

/* ---- order_run.c ---- */

/* The thread that runs; -1: none, so accesses are ordinary ones. */
extern int order_thread;
/* Returns one of 0..n-1, each in one run. */
unsigned order_choose(unsigned n);
/* Lets another thread go on, or this one. */
void order_switch(void);
/* Ends this run because of a fault. Does not return. */
_Noreturn void order_stop(const char *fault);
/* Ends this run and all before it: the layout of memory has changed. Does not return. */
_Noreturn void order_again(void);
/* The order at the last order_at(), weakened if it is to be. */
int order_weakened(int order);

/* ---- order_model.c ---- */

void model_forget(void);
/* Keeps the layout of memory. */
void model_forget_locations(void);
void model_begin(void);
/* Writes the last value, or the first one, of each place to memory. */
void model_show_last(void);
void model_restore(void);
uint64_t model_hash(void);

/* The thread's plain store has been done: takes its value from memory. */
void model_settle(void);
void model_read(uintptr_t at, size_t n);  /* before a plain load */
void model_write(uintptr_t at, size_t n); /* before a plain store */
uint64_t model_load(uintptr_t at, unsigned n, int order);
void model_store(uintptr_t at, unsigned n, uint64_t value, int order);
/* Reads, and stores change(read, operand). */
uint64_t model_change(uintptr_t at, unsigned n, uint64_t (*change)(uint64_t, uint64_t),
		      uint64_t operand, int order);
/* Returns true if it has stored. Sets *expected otherwise. */
bool model_compare(uintptr_t at, unsigned n, uint64_t *expected, uint64_t value, int order,
		   int failure_order);
void model_fence(int order);

#endif
