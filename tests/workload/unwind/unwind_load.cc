// SPDX-License-Identifier: BSD-3-Clause
// Work for tests/cli/unwind/unwind_complete.sh: containers, strings, streams, virtual calls,
// sorting, now and then an exception.
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace
{
struct node {
	virtual ~node() = default;
	virtual unsigned long value(unsigned depth) const = 0;
};
struct leaf : node {
	unsigned long value(unsigned depth) const override
	{
		return depth;
	}
};
struct pair : node {
	std::unique_ptr<node> left, right;
	unsigned long value(unsigned depth) const override
	{
		return left->value(depth + 1) * 3 + right->value(depth + 1);
	}
};

std::unique_ptr<node> make(unsigned depth)
{
	if (depth == 0)
		return std::make_unique<leaf>();
	auto p = std::make_unique<pair>();
	p->left = make(depth - 1);
	p->right = make(depth - 1);
	return p;
}

unsigned long words(unsigned n)
{
	std::map<std::string, unsigned long> m;
	for (unsigned i = 0; i < n; i++) {
		std::ostringstream s;
		s << "word" << i * 7919 % 997 << ' ' << i * 0.5;
		m[s.str()] += i;
	}
	std::vector<std::pair<std::string, unsigned long>> v(m.begin(), m.end());
	std::sort(v.begin(), v.end(),
		  [](const auto &a, const auto &b) { return a.second > b.second; });
	return v.size() + v.front().first.size();
}
} // namespace

int main(int argc, char **argv)
{
	const unsigned rounds = argc > 1 ? (unsigned)std::atoi(argv[1]) : 10;
	unsigned long total = 0;
	for (unsigned i = 0; i < rounds; i++) {
		total += words(5000) + make(14)->value(0);
		try {
			total += std::stoul(i % 2 ? "17" : "none");
		} catch (const std::invalid_argument &) {
			total++;
		}
	}
	std::cout << total << '\n';
}
