/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See nv_energy.h. Reading NVML takes 2.4 ms to 28 ms in the driver of an H200. So a thread of ours
 * does it, and only when the meter is about to change (doc/energy.md). Tests:
 * tests/unit/cupti/test_energy.c, tests/cli/gpu/energy.sh.
 */
#include "hpcrun-lite/gpu/cupti/energy/nv_energy.h"

#include "common/safe/text.h"
#include "hpcrun-lite/gpu/cupti/energy/nv_meter.h"
#include "hpcrun-lite/gpu/cupti/energy/nv_nvml.h"
#include "hpcrun-lite/gpu/cupti/energy/nv_rapl.h"
#include "hpcrun-lite/gpu/cupti/nv_shared.h"

#define HOST_PERIOD_NS UINT64_C(100000000)
#define END_WAIT_NS UINT64_C(100000000)

enum gpu_state { GPU_UNSEEN, GPU_READ, GPU_REFUSED };

static struct {
	struct nv_library own; /* the process's own functions, not those of a recording */
	sem_t wake, done;
	_Atomic bool is_running, is_asked;
	struct nv_nvml nvml;
	bool has_nvml;
	uint32_t nvml_id;
	struct nv_rapl rapl;
	uint64_t host_ns; /* when to read the host's meters next */
	struct nv_meter host[NV_RAPL_METERS];
	struct {
		enum gpu_state state;
		void *handle;
		struct nv_meter meter;
	} gpu[NV_MAX_DEVICES];
} energy;

/* ---- readings ---- */

static void record(struct nv_meter *m, uint64_t energy_uj, uint64_t read_ns)
{
	struct msr_gpu_energy change;
	if (nv_meter_read(m, energy_uj, read_ns, &change))
		nv.host->energy(nv.host, &change);
}

static void refuse(uint32_t ordinal, const char *why)
{
	char number[32];
	struct text t = text_in(number, sizeof number);
	text_put_u64(&t, ordinal);
	text_put(&t, ": ");
	energy.gpu[ordinal].state = GPU_REFUSED;
	nv_note("NVML gives no energy of GPU ", number, why);
}

static void read_gpu(uint32_t ordinal)
{
	uint64_t energy_uj, before_ns = energy.own.now_ns();
	const char *why = "";
	if (!nv_nvml_energy(&energy.nvml, energy.gpu[ordinal].handle, &energy_uj, &why)) {
		refuse(ordinal, why);
		return;
	}
	record(&energy.gpu[ordinal].meter, energy_uj,
	       before_ns + (energy.own.now_ns() - before_ns) / 2);
}

/* Finds the meter of a GPU when the program has begun to use it. */
static void look_at_gpu(uint32_t ordinal)
{
	CUuuid uuid;
	const char *why = "";
	uint32_t device = nv_device_known(ordinal, &uuid);
	if (!device)
		return;
	void *handle = nv_nvml_device(&energy.nvml, (const uint8_t *)uuid.bytes, &why);
	if (!handle) {
		refuse(ordinal, why);
		return;
	}
	if (!energy.nvml_id)
		energy.nvml_id = nv.host->counter(
			nv.host, "NVML", "energy of the GPU with its memory, by NVML", MSR_UNIT_UJ);
	energy.gpu[ordinal].handle = handle;
	energy.gpu[ordinal].meter = (struct nv_meter){.id = energy.nvml_id, .device = device};
	energy.gpu[ordinal].state = GPU_READ;
}

static void read_host(void)
{
	for (unsigned i = 0; i < energy.rapl.n; i++) {
		uint64_t energy_uj;
		if (nv_rapl_read(&energy.rapl.meter[i], &energy_uj))
			record(&energy.host[i], energy_uj, energy.own.now_ns());
	}
}

/* Reads the meters that are due at `now_ns`, or `all`. Returns when to read next. */
static uint64_t read_due(uint64_t now_ns, bool all)
{
	uint64_t next_ns = now_ns + NV_METER_PERIOD_NS;
	/*
	 * Stop when the process ends, so that it waits for one reading at most, not for all GPUs.
	 */
	for (uint32_t i = 0; energy.has_nvml && i < NV_MAX_DEVICES && !nv_trace_is_over(); i++) {
		const struct nv_meter *m = &energy.gpu[i].meter;
		if (energy.gpu[i].state == GPU_UNSEEN)
			look_at_gpu(i);
		if (energy.gpu[i].state != GPU_READ)
			continue;
		if (all || nv_meter_next(m) <= now_ns)
			read_gpu(i);
		if (nv_meter_next(m) < next_ns)
			next_ns = nv_meter_next(m);
	}
	if (all || now_ns >= energy.host_ns) {
		read_host();
		energy.host_ns = now_ns + HOST_PERIOD_NS;
	}
	return next_ns;
}

/* Measurement is off: the next readings must not count as changes. */
static void forget(void)
{
	for (uint32_t i = 0; i < NV_MAX_DEVICES; i++)
		energy.gpu[i].meter.is_read = false;
	for (unsigned i = 0; i < NV_RAPL_METERS; i++)
		energy.host[i].is_read = false;
}

/* ---- the thread ---- */

static void open_meters(void)
{
	const char *why = "";
	energy.has_nvml = nv_nvml_open(&energy.nvml, &why);
	if (!energy.has_nvml)
		nv_note("the energy of GPUs is not measured: ", why, "");
	nv_rapl_open(&energy.rapl, NV_RAPL_DIRECTORY);
	if (energy.rapl.is_denied)
		nv_note("the energy of the host is not measured: only root may read ",
			NV_RAPL_DIRECTORY "intel-rapl:*/energy_uj", "");
	for (unsigned i = 0; i < energy.rapl.n; i++)
		energy.host[i].id =
			nv.host->counter(nv.host, energy.rapl.meter[i].name,
					 "energy of a part of the host, by RAPL", MSR_UNIT_UJ);
}

static void *work(void *unused)
{
	(void)unused;
	open_meters();
	while (!nv_trace_is_over() && nv_is_here()) {
		bool is_end =
			atomic_exchange_explicit(&energy.is_asked, false, memory_order_acq_rel);
		uint64_t now_ns = energy.own.now_ns(), next_ns = now_ns + NV_METER_PERIOD_NS;
		if (nv.host->is_off(nv.host))
			forget();
		else if (nv.host->generation(nv.host))
			next_ns = read_due(now_ns, is_end);
		if (is_end)
			sem_post(&energy.done);
		energy.own.wait(&energy.wake, next_ns);
	}
	return NULL;
}

void nv_energy_start(void)
{
	if (!nv.options.energy || nv_library_stand_in)
		return;
	nv_library_own(&energy.own);
	sem_init(&energy.wake, 0, 0);
	sem_init(&energy.done, 0, 0);
	bool is_running = energy.own.spawn(work, NULL);
	atomic_store_explicit(&energy.is_running, is_running, memory_order_release);
	if (!is_running)
		nv_note("energy is not measured: its thread cannot be started", "", "");
}

void nv_energy_end(uint64_t until_ns)
{
	if (!atomic_load_explicit(&energy.is_running, memory_order_acquire))
		return;
	uint64_t most_ns = energy.own.now_ns() + END_WAIT_NS;
	/* take the answer to an earlier end that did not wait for it */
	energy.own.wait(&energy.done, 0);
	atomic_store_explicit(&energy.is_asked, true, memory_order_release);
	sem_post(&energy.wake);
	energy.own.wait(&energy.done, until_ns < most_ns ? until_ns : most_ns);
}
