// SPDX-License-Identifier: BSD-3-Clause
// Functions that a linker with --icf=all makes one, and an alias, which is no other function. Used
// by tests/cli/struct/struct_judge.sh.
struct Tree {
	int v;
	int grow(int n);
};
struct Stone {
	int v;
	int shrink(int n);
};
int Tree::grow(int n)
{
	return v * n + n / 7;
}
int Stone::shrink(int n)
{
	return v * n + n / 7;
}
extern "C" int first(int n)
{
	return n * 5 / 3;
}
extern "C" int second(int n)
{
	return n * 5 / 3;
}
extern "C" int real(int n)
{
	return n ^ 77;
}
extern "C" int alias(int n) __attribute__((alias("real")));
