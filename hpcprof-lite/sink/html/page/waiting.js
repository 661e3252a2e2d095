// SPDX-License-Identifier: BSD-3-Clause
// Where the time of parallel programs goes: what all processors were used for.

const MOST_REGIONS = 30;
const MOST_PROCESSES = 32; // rows of processes; of more, those that worked least

function useBar(p, rows, us, whole) {
  return el(
    "span",
    { class: "use-bar", role: "img", "aria-label": "shares of the time, as in the table" },
    ...rows.map((row, i) =>
      us[i] > 0
        ? el("i", {
            class: stateClass(row.state, row.shade),
            style: `width:${(100 * us[i]) / whole}%`,
            title: `${p.str(row.name)}: ${formatSeconds(us[i] / 1e6)}, ${percent(us[i], whole)}`,
          })
        : "",
    ),
  );
}

// Of a use over the ranks, as in the text: least, mean, most; null: none has it.
function spreadCells(p, spread) {
  if (spread === undefined) return [];
  if (!spread) return [el("td", { colspan: 3 })]; // time without threads is of no rank
  const [least, leastAt, mean, most, mostAt] = spread,
    rank = i => ` (${p.meta.processes[i].rank})`,
    cell = (us, more) => el("td", { class: "number" }, formatSeconds(us / 1e6) + more);
  return [cell(least, rank(leastAt)), cell(mean, ""), cell(most, rank(mostAt))];
}

function useTable(p, rows, us, whole, spreads) {
  const body = el("tbody", {});
  rows.forEach((row, i) => {
    if (us[i] < 0.0005 * whole) return;
    body.append(
      el(
        "tr",
        {},
        el("td", {}, el("i", { class: `swatch ${stateClass(row.state, row.shade)}`, "aria-hidden": "true" })),
        el("td", { class: "number" }, percent(us[i], whole)),
        el("td", { class: "number" }, formatSeconds(us[i] / 1e6)),
        el("td", {}, p.str(row.name)),
        ...spreadCells(p, spreads?.[i]),
      ),
    );
  });
  const head = ["", "share", "time", "", "least (rank)", "mean", "most (rank)"];
  return el(
    "table",
    { class: "plain uses shares" },
    spreads
      ? el("thead", {}, el("tr", {}, ...head.map(h => el("th", { class: h ? "number" : "" }, h))))
      : "",
    body,
  );
}

// null: the run has one thread and nothing to divide.
function usesCard(app, isBrief) {
  const p = app.profile,
    u = p.meta.uses;
  if (!u) return null;
  const whole = u.capacity,
    notes = [];
  if (u.lacksOffcpu)
    notes.push("Measured with -e CPUTIME -e OFFCPU, the report says why threads did not run.");
  if (u.allowed && u.allowed < u.threads)
    notes.push(
      `The processes may use ${plural(u.allowed, "processor")}, but have ` +
        `${plural(u.threads, "thread")}.`,
    );
  if (u.leftOut)
    notes.push(
      `Not counted: ${plural(u.leftOut, "other thread")} with less than 1 % CPU time ` +
        "(launchers and drivers: less than 10 %).",
    );
  if (u.allThreads > u.threads)
    notes.push(
      `${plural(u.allThreads, "thread")} are counted, but rarely more than ${u.threads} existed ` +
        "at the same time.",
    );
  if (u.throttled > 0)
    notes.push(
      `The CPU quota throttled threads for ${formatSeconds(u.throttled / 1e6)}: ` +
        "they were ready, but without a processor.",
    );
  const noun = u.allowed && u.given < u.threads ? "thread" : "processor";
  return el(
    "section",
    { class: "card wide whole-run" },
    el("h2", {}, `Where the time of ${plural(u.threads, noun)} went`),
    u.allowed && u.cpu
      ? el(
          "p",
          {},
          (u.given < u.allowed
            ? `Of ${plural(u.allowed, "processor")} the CPU quota gives ` +
              `${+u.given.toFixed(2)}, which ${u.given > 1 ? "were" : "was"} used `
            : `${plural(u.allowed, "processor")} ${u.allowed === 1 ? "was" : "were"} used `) +
            `${percent(u.cpu, u.given * u.elapsed)}: ${formatSeconds(u.cpu / 1e6)} of ` +
            `CPU time by the system's clock in ${+u.given.toFixed(2)} × ${formatSeconds(u.elapsed / 1e6)}`,
        )
      : "",
    el(
      "p",
      { class: "quiet" },
      whole > 1.005 * u.elapsed * u.threads
        ? `${formatSeconds(whole / 1e6)} of all threads in ${formatSeconds(u.elapsed / 1e6)}`
        : `${formatSeconds(u.elapsed / 1e6)} × ${plural(u.threads, "thread")} = ` +
            formatSeconds(whole / 1e6),
    ),
    useBar(p, u.rows, u.us, whole),
    useTable(p, u.rows, u.us, whole, isBrief ? null : u.spreads),
    ...notes.map(n => el("p", { class: "keys" }, n)),
    isBrief && app.views.waiting
      ? el(
          "button",
          { type: "button", class: "link", onclick: () => app.go("waiting") },
          "By process, and what waits",
        )
      : "",
  );
}

class WaitingView {
  static isThere(p) {
    const m = p.meta;
    return !!(m.uses || m.pop || m.regions || m.mpi || m.nccl);
  }
  constructor(app, container) {
    this.app = app;
    this.container = container;
  }
  draw() {
    this.container.replaceChildren(
      el(
        "div",
        { class: "overview" },
        usesCard(this.app, false) ?? "",
        this.efficiencies() ?? "",
        this.regions() ?? "",
        ...new MpiCards(this.app).cards(),
        ...new NcclCards(this.app).cards(),
        this.processes() ?? "",
      ),
    );
    this.point(this.app.state.get("waiting.card"));
  }
  // Shows the card whose title begins with this.
  point(title) {
    if (!title) return;
    for (const card of this.container.querySelectorAll(".card"))
      if (card.querySelector("h2")?.textContent.startsWith(title)) {
        card.classList.add("pointed");
        card.scrollIntoView({ block: "start" });
        return;
      }
  }
  // Parts of a thousand.
  share(x) {
    return x === undefined ? "" : `${(x / 10).toFixed(1)} %`;
  }
  efficiencies() {
    const p = this.app.profile,
      pop = p.meta.pop;
    if (!pop) return null;
    // Without MPI nothing is transferred, so what POP calls communication is all serialisation.
    const hasRanks = p.meta.processes.some(x => x.rank >= 0),
      busiest = "most useful time of a thread / elapsed time",
      columns = [
        ["parallel", "parallel efficiency", "mean useful time of the threads / elapsed time"],
        ["balance", "load balance", "mean / most useful time of a thread"],
        hasRanks
          ? ["communication", "communication", busiest]
          : ["communication", "serialisation", `${busiest}: what waits for other threads`],
        ["serialisation", "serialisation", "communication / transfer: what waits for other ranks"],
        ["transfer", "transfer", "elapsed time without the transfer of data / elapsed time"],
        ["mpi", "of MPI", "time outside of MPI / elapsed time, of the main threads"],
        ["omp", "of OpenMP", "parallel efficiency / that of MPI"],
        ["offload", "device offload", "useful / (useful + waiting for a GPU)"],
      ].filter(([key]) => pop.phases.some(x => key in x));
    const body = el("tbody", {});
    for (const x of pop.phases)
      body.append(
        el(
          "tr",
          {},
          el(
            "td",
            {},
            x.context
              ? el(
                  "button",
                  { type: "button", class: "link", onclick: () => this.app.showFlame(x.context) },
                  el("bdi", {}, p.str(x.name)),
                )
              : el("bdi", {}, p.str(x.name)),
          ),
          el("td", { class: "number" }, formatSeconds(x.elapsed / 1e6)),
          ...columns.map(([key]) => el("td", { class: "number" }, this.share(x[key]))),
        ),
      );
    const d = pop.devices;
    return el(
      "section",
      { class: "card wide whole-run" },
      el("h2", {}, "Parallel efficiency"),
      el(
        "p",
        { class: "keys" },
        `As the POP centre defines it: parallel efficiency = load balance × ${columns[2][1]}.`,
        pop.setup ? " Time in MPI_Init and MPI_Finalize is left out." : "",
        pop.more
          ? ` Not shown: ${pop.more} more ${pop.marked ? "phase" : "loop"}` +
            `${pop.more === 1 ? "" : "s"}.`
          : "",
        pop.lacksLines ? " Phases need time lines: measure without --no-trace." : "",
        pop.lost ? ` Phases that were not recorded: ${pop.lost}. Their times are missing.` : "",
      ),
      el(
        "table",
        { class: "plain uses shares" },
        el(
          "thead",
          {},
          el(
            "tr",
            {},
            el("th", {}, "phase"),
            el("th", { class: "number" }, "elapsed"),
            ...columns.map(([, name, title]) => el("th", { class: "number", title }, name)),
          ),
        ),
        body,
      ),
      d.n
        ? el(
            "p",
            {},
            `${plural(d.n, "GPU")}: ${this.share(d.parallel)} of the time in kernels = ` +
              `load balance ${this.share(d.balance)} × ` +
              `communication ${this.share(d.communication)} × ` +
              `orchestration ${this.share(d.orchestration)}`,
          )
        : "",
    );
  }
  regions() {
    const p = this.app.profile,
      all = p.meta.regions,
      rows = p.meta.uses?.rows ?? [];
    if (!all) return null;
    const list = all.rows,
      title = `Parallel regions of OpenMP by possible gain: ${plural(
        all.worth + all.small,
        "region",
      )}, ${formatSeconds(all.time / 1e6)}`;
    if (!all.teams)
      return el(
        "section",
        { class: "card wide whole-run" },
        el("h2", {}, title),
        el("p", { class: "quiet" }, "Left out: all teams have one thread."),
      );
    const body = el("tbody", {});
    for (const r of list.slice(0, MOST_REGIONS)) {
      const [least, most] = r.threads,
        whole = r.us.reduce((a, b) => a + b, 0),
        name = p.str(r.name);
      body.append(
        el(
          "tr",
          {},
          el("td", { class: "number" }, r.known ? formatSeconds(r.gain / 1e6) : "–"),
          el("td", { class: "number" }, formatSeconds(r.time / 1e6)),
          el("td", { class: "number" }, count(r.instances)),
          el("td", { class: "number" }, least === most ? most : `${least}–${most}`),
          el("td", { class: "number" }, r.known ? this.share(r.efficiency) : "–"),
          el("td", { class: "number" }, r.imbalance === undefined ? "–" : this.share(r.imbalance)),
          el("td", { class: "region-bar" }, whole ? useBar(p, rows, r.us, whole) : ""),
          el(
            "td",
            {},
            r.function >= 0
              ? el(
                  "button",
                  {
                    type: "button",
                    class: "link",
                    onclick: () => this.app.select({ frame: { fn: r.function } }, { view: "flame" }),
                  },
                  el("bdi", {}, name),
                )
              : el("bdi", {}, name),
          ),
        ),
      );
    }
    const head = [
      ["gain", "elapsed time that could be saved if all work were spread evenly at no cost"],
      ["time", "from fork to join"],
      ["instances", "how often the region ran"],
      ["threads", "size of the team"],
      ["efficiency", "work / (threads × time)"],
      ["imbalance", "(most − mean) / most of the threads' time in the region, or of their work"],
    ];
    return el(
      "section",
      { class: "card wide whole-run" },
      el("h2", {}, title),
      list.length
        ? el(
            "table",
            { class: "plain uses shares" },
            el(
              "thead",
              {},
              el(
                "tr",
                {},
                ...head.map(([name, title]) => el("th", { class: "number", title }, name)),
                el("th", {}, "work and waits"),
                el("th", {}, "region"),
              ),
            ),
            body,
          )
        : "",
      list.length
        ? el(
            "p",
            { class: "keys" },
            "Gain: all that waits and unequal work cost in the region. ",
            el(
              "button",
              { type: "button", class: "link", onclick: () => this.app.go("overview") },
              "What matters most",
            ),
            " names the likely part of it that one cause has, such as a lock, so its time is smaller.",
          )
        : "",
      all.bounds && list.length
        ? el(
            "p",
            { class: "quiet" },
            "With REALTIME, a blocked thread counts as one that works: efficiencies are upper " +
              "bounds, and gains lower bounds. Measure with CPUTIME instead.",
          )
        : "",
      all.worth > MOST_REGIONS
        ? el("p", { class: "quiet" }, `${all.worth - MOST_REGIONS} more`)
        : "",
      all.small
        ? el(
            "p",
            { class: "quiet" },
            `Left out: ${plural(all.small, "region")} that could gain less than ` +
              `${all.share} % of the run.`,
          )
        : "",
    );
  }
  processName(i) {
    const p = this.app.profile,
      x = p.meta.processes[i],
      role = p.str(x.role);
    return (
      (x.rank >= 0 ? `rank ${x.rank}` : `${baseName(p.str(x.executable))}, pid ${x.pid}`) +
      (role ? `, ${role}` : "")
    );
  }
  select(processes) {
    const p = this.app.profile,
      mine = p.profiles.filter(x => processes.includes(x.process) && x.kind === PROFILE_THREAD);
    this.app.select({ profiles: new Set(mine.map(x => x.id)) }, { view: "flame" });
  }
  // The processes of a rank, such as a shell and what it starts, are one row, as in the text.
  ranks() {
    const meta = this.app.profile.meta,
      rows = new Map();
    meta.uses.processes.forEach((x, i) => {
      const rank = meta.processes[i].rank,
        whole = x.us.reduce((a, b) => a + b, 0),
        key = rank >= 0 ? rank : `process ${i}`,
        row = rows.get(key);
      if (!(whole > 0)) return;
      if (row) {
        row.all.push(i);
        row.us = row.us.map((us, k) => us + x.us[k]);
        row.whole += whole;
        row.name = `rank ${rank}`;
      } else rows.set(key, { i, all: [i], us: x.us, whole, name: this.processName(i) });
    });
    return [...rows.values()];
  }
  processes() {
    const p = this.app.profile,
      u = p.meta.uses;
    if (!u || u.processes.length < 2) return null;
    const list = this.ranks(),
      work = u.rows.findIndex(r => r.state === "work"),
      share = x => (work < 0 ? 0 : x.us[work] / x.whole),
      most = list.reduce((a, x) => Math.max(a, x.whole), 0);
    let shown = list;
    if (list.length > MOST_PROCESSES)
      shown = [...list].sort((a, b) => share(a) - share(b)).slice(0, MOST_PROCESSES);
    const body = el("tbody", {});
    for (const x of shown)
      body.append(
        el(
          "tr",
          {},
          el(
            "td",
            {},
            el(
              "button",
              { type: "button", class: "link", onclick: () => this.select(x.all) },
              el("bdi", {}, x.name),
            ),
          ),
          el("td", { class: "number" }, percent(share(x), 1)),
          el("td", { class: "use-cell" }, useBar(p, u.rows, x.us, most)),
        ),
      );
    return el(
      "section",
      { class: "card wide whole-run" },
      el("h2", {}, list.some(x => p.meta.processes[x.i].rank >= 0) ? "By rank" : "By process"),
      list.length > shown.length
        ? el(
            "p",
            { class: "quiet" },
            `The ${shown.length} of ${list.length} that worked the smallest part of their time.`,
          )
        : "",
      el(
        "table",
        { class: "plain uses" },
        el(
          "thead",
          {},
          el("tr", {}, el("th", {}, ""), el("th", { class: "number" }, "worked"), el("th", {}, "")),
        ),
        body,
      ),
    );
  }
}
