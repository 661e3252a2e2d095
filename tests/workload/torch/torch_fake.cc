// SPDX-License-Identifier: BSD-3-Clause
//
// What libhpcrun-lite-torch.so sees of PyTorch, under the same names: nodes with numbers, and an
// engine that evaluates them. A node spins for its CPU time and calls what else it was given. The
// layout of Node is that of PyTorch's, as far as the run time reads it.
#include "tests/workload/torch/torch_fake.h"

#include <atomic>
#include <ctime>
#include <memory>
#include <stdexcept>
#include <thread>

#define NOINLINE __attribute__((noinline))

namespace at {
namespace sequence_number {
uint64_t get_and_increment();
NOINLINE uint64_t get_and_increment()
{
	static thread_local uint64_t next;
	return next++;
}
} // namespace sequence_number

struct RecordFunction {
	static uint64_t currentThreadId();
};

uint64_t RecordFunction::currentThreadId()
{
	static std::atomic<uint64_t> last;
	static thread_local uint64_t mine;
	if (!mine)
		mine = ++last;
	return mine;
}
} // namespace at

namespace torch {
namespace autograd {

struct GraphTask {};
struct ReadyQueue {};
struct InputBuffer {};

struct Node : std::enable_shared_from_this<Node> {
	explicit Node(uint64_t n = at::sequence_number::get_and_increment()) : number(n) {}
	virtual ~Node() = default;
	virtual void apply();

	uint64_t number, topological_number = 1;
	bool has_parent = false;
	uint64_t thread = at::RecordFunction::currentThreadId();
	fake_work work = {};
};

static void spin(double seconds)
{
	timespec t;
	double end = -1;
	for (;;) {
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
		const double now = double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
		if (end < 0)
			end = now + seconds;
		if (now >= end)
			return;
	}
}

NOINLINE void Node::apply()
{
	spin(work.seconds);
	if (work.call)
		work.call(work.arg);
	if (work.throws)
		throw std::runtime_error("as it should");
}

struct Engine {
	void evaluate_function(std::shared_ptr<GraphTask> &, Node *, InputBuffer &,
			       const std::shared_ptr<ReadyQueue> &);
	void thread_main(Node *const *nodes, int n);
	void wait(double seconds);
};

NOINLINE void Engine::evaluate_function(std::shared_ptr<GraphTask> &, Node *node, InputBuffer &,
					const std::shared_ptr<ReadyQueue> &)
{
	const std::shared_ptr<Node> keep = node->shared_from_this(); // to be destroyed by a throw
	node->apply();
	std::atomic_signal_fence(std::memory_order_seq_cst); // no tail call
}

// Its frame is where that of evaluate_function() was.
NOINLINE void Engine::wait(double seconds)
{
	spin(seconds);
	std::atomic_signal_fence(std::memory_order_seq_cst);
}

NOINLINE void Engine::thread_main(Node *const *nodes, int n)
{
	std::shared_ptr<GraphTask> task;
	std::shared_ptr<ReadyQueue> queue;
	InputBuffer inputs;
	for (int i = n; i-- > 0;)
		evaluate_function(task, nodes[i], inputs, queue);
	wait(0.001);
}
} // namespace autograd
} // namespace torch

using torch::autograd::Engine;
using torch::autograd::Node;

void *fake_node(const fake_work *work)
{
	auto *node = new std::shared_ptr<Node>(work->is_leaf ? std::make_shared<Node>(UINT64_MAX)
							     : std::make_shared<Node>());
	(*node)->work = *work;
	return node;
}

void fake_free(void *node)
{
	delete static_cast<std::shared_ptr<Node> *>(node);
}

int fake_backward(void *const *nodes, int n, int in_thread)
{
	Node *at[16];
	Engine engine;
	int thrown = 0;
	for (int i = 0; i < n; i++)
		at[i] = static_cast<std::shared_ptr<Node> *>(nodes[i])->get();
	auto run = [&] {
		try {
			engine.thread_main(at, n);
		} catch (const std::runtime_error &) {
			thrown++;
		}
	};
	if (in_thread)
		std::thread(run).join();
	else
		run();
	return thrown;
}
