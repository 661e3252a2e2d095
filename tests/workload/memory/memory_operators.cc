/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls each operator new and delete of C++ 100 times, in functions of known names. What an
 * operator throws must arrive.
 */
#include <cstdio>
#include <new>

#define APART __attribute__((noinline))
enum { N = 100, SIZE = 3000 };

struct alignas(128) wide {
	char room[SIZE + 72];
};
struct plain {
	char room[SIZE];
};

static void *volatile kept[8 * N];

APART void single()
{
	for (int i = 0; i < N; i++)
		kept[i] = new plain;
}
APART void many()
{
	for (int i = 0; i < N; i++)
		kept[N + i] = new char[SIZE];
}
APART void careful()
{
	for (int i = 0; i < N; i++) {
		kept[2 * N + i] = new (std::nothrow) plain;
		kept[3 * N + i] = new (std::nothrow) char[SIZE];
	}
}
APART void in_line()
{
	for (int i = 0; i < N; i++) {
		kept[4 * N + i] = new wide;
		kept[5 * N + i] = new wide[1];
		kept[6 * N + i] = new (std::nothrow) wide;
		kept[7 * N + i] = new (std::nothrow) wide[1];
	}
}

/* Half of each, so that the rest is seen at the end. */
APART static void give_back()
{
	const std::align_val_t by = std::align_val_t(alignof(wide));
	for (int i = 0; i < N / 2; i++) {
		delete static_cast<plain *>(kept[i]);
		delete[] static_cast<char *>(kept[N + i]);
		operator delete(kept[2 * N + i], std::nothrow);
		operator delete[](kept[3 * N + i], std::nothrow);
		delete static_cast<wide *>(kept[4 * N + i]);
		delete[] static_cast<wide *>(kept[5 * N + i]);
		operator delete(kept[6 * N + i], by, std::nothrow);
		operator delete[](kept[7 * N + i], by, std::nothrow);
	}
}

int main()
{
	bool is_thrown = false;
	single();
	many();
	careful();
	in_line();
	give_back();
	try {
		volatile std::size_t too_many = std::size_t(1) << 62;
		kept[0] = operator new(too_many);
	} catch (const std::bad_alloc &) {
		is_thrown = true;
	}
	std::puts(is_thrown ? "thrown" : "not thrown");
	return is_thrown ? 0 : 1;
}
