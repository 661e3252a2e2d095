// SPDX-License-Identifier: BSD-3-Clause
// How work is distributed over ranks and threads, for the whole run or for one function.

// Threads of which balance is judged, as in the tables of the report: for a time, those that count.
function countedThreads(p, metric, list, profileOf) {
  const some = p.metrics[metric].time ? list.filter(x => profileOf(x).counts) : list;
  return some.length ? some : list;
}

// Over how many threads the mean is.
function nOfMean(p, metric, n) {
  return p.metrics[metric].time ? Math.min(n, p.meta.threads || n) : n;
}

// Work of a GPU counts at the thread that launched it.
function isOfGpu(m) {
  return [METRIC_GPU_TIME, METRIC_GPU_COUNT, METRIC_GPU_MEAN, METRIC_GPU_SAMPLES].includes(m.kind);
}

// The mean of values that add up to `sum`. For a time, over the threads that matter at one time.
function meanOfThreads(p, metric, sum, n, most) {
  return Math.min(sum / nOfMean(p, metric, n), most);
}

// Of the same threads: without those that had less because they lived before or after others.
function leastOfThreads(p, metric, values) {
  return [...values].sort((a, b) => b - a)[nOfMean(p, metric, values.length) - 1];
}

const HOT_CELL = 0.73; // of the most; in dark pages text on hotter cells is black
const MOST_LABELS = 32; // cells of a process that have room for words

class ThreadView {
  constructor(app, container) {
    this.app = app;
    this.holder = el("div", {});
    container.append(this.holder);
  }
  threads() {
    const p = this.app.profile;
    return p.profiles.filter(x => x.kind === PROFILE_THREAD);
  }
  // The value of each thread: everything, or all below one function. Whole run: selections of
  // threads would hide what to compare.
  values(metric) {
    const p = this.app.profile,
      inside = p.inside(p.selection.frame);
    return this.threads().map(profile => {
      const r = profile.rows;
      let sum = 0;
      for (let i = 0; i < (r?.n ?? 0); i++)
        if (r.metric[i] === metric && (!inside || inside[r.context[i]])) sum += r.value[i];
      return { profile, value: sum };
    });
  }
  draw() {
    const app = this.app,
      p = app.profile,
      metric = app.metric,
      { frame } = p.selection;
    if (!p.isComplete) return;
    this.holder.classList.toggle("whole-run", !!(p.selection.time || p.selection.profiles));
    const values = this.values(metric);
    const shown = values.filter(v => v.profile.rows?.n || v.profile.samples?.n);
    if (!shown.length) {
      this.holder.replaceChildren(el("p", { class: "empty" }, "No thread has values."));
      return;
    }
    const m = p.metrics[metric];
    if (isOfGpu(m)) return this.drawLaunchers(shown, metric);
    const counted = countedThreads(p, metric, values, v => v.profile);
    let most = counted.reduce((a, v) => Math.max(a, v.value), 1e-30),
      mean = meanOfThreads(
        p,
        metric,
        counted.reduce((s, v) => s + v.value, 0),
        counted.length,
        most,
      );
    if (!frame && m.most > 0) [mean, most] = [m.mean / m.scale, m.most / m.scale];
    const title = frame ? p.frameName(frame) : "everything";
    this.holder.replaceChildren(
      el(
        "p",
        {},
        `${metricWords(p, metric, true)} of ${plural(nOfMean(p, metric, counted.length), "thread")} in `,
        el("strong", {}, el("bdi", {}, title)),
        `: mean ${p.format(metric, mean)}, most ${p.format(metric, most)}. ` +
          "Balance (mean / most): ",
        el("strong", {}, percent(mean, most)),
        m.time
          ? `. Even work would save ${p.format(metric, most - mean)} of elapsed time (most − mean).`
          : ".",
      ),
      this.usefulBalance(m) ?? "",
      this.strip(shown, most, metric),
      el("h3", {}, "Functions with the most imbalance"),
      el(
        "p",
        { class: "keys" },
        "Could save: most − mean, the elapsed time that even work would save.",
      ),
      this.functionTable(metric, countedThreads(p, metric, this.threads(), x => x)),
    );
  }
  // The balance under "Waiting" is another one.
  usefulBalance(m) {
    const { app } = this,
      { pop } = app.profile.meta;
    if (!pop || !m.time || app.profile.selection.frame) return null;
    const open = () => app.go("waiting", { "waiting.card": "Parallel efficiency" });
    return el(
      "p",
      { class: "keys" },
      "This balance is of all samples, also those of threads that wait in a loop. That of useful " +
        "time alone is ",
      el(
        "button",
        { type: "button", class: "link", onclick: open },
        `load balance ${(pop.phases[0].balance / 10).toFixed(1)} %`,
      ),
      ", as POP defines it.",
    );
  }
  // Balance is that of the threads that launch; the work of the others is not for a GPU.
  drawLaunchers(values, metric) {
    const p = this.app.profile,
      launchers = values.filter(v => v.value > 0),
      most = launchers.reduce((a, v) => Math.max(a, v.value), 1e-30),
      mean = launchers.reduce((sum, v) => sum + v.value, 0) / launchers.length,
      { frame } = p.selection,
      isEven = launchers.length < 2;
    this.holder.replaceChildren(
      el(
        "p",
        {},
        `${metricWords(p, metric, true)} in `,
        el("strong", {}, el("bdi", {}, frame ? p.frameName(frame) : "everything")),
        ` counts at the thread that launched it: ${count(launchers.length)} of ` +
          `${plural(this.threads().length, "thread")}`,
        isEven ? "." : `, mean ${p.format(metric, mean)}, most ${p.format(metric, most)}. `,
        isEven ? "" : "Balance (mean / most): ",
        isEven ? "" : el("strong", {}, percent(mean, most)),
      ),
      this.strip(values, most, metric),
      isEven ? "" : el("h3", {}, "Functions with the most imbalance of threads that launch"),
      isEven ? "" : this.functionTable(metric, launchers.map(v => v.profile)),
    );
  }
  // One cell for each thread, one row for each process.
  strip(values, most, metric) {
    const p = this.app.profile,
      byProcess = new Map();
    for (const v of values) {
      if (!byProcess.has(v.profile.process)) byProcess.set(v.profile.process, []);
      byProcess.get(v.profile.process).push(v);
    }
    const grid = el("div", { class: "strip" });
    const toggle = list => {
      const ids = list.map(v => v.profile.id),
        set = new Set(p.selection.profiles ?? []);
      const all = ids.every(id => set.has(id));
      for (const id of ids)
        if (all) set.delete(id);
        else set.add(id);
      this.app.select({ profiles: set.size ? set : null });
    };
    for (const [process, list] of byProcess) {
      const info = p.meta.processes[process];
      const role = p.str(info.role);
      const name =
        (info.rank >= 0 ? `rank ${info.rank}` : `${baseName(p.str(info.executable))} ${info.pid}`) +
        (role ? `, ${role}` : "");
      const sum = list.reduce((s, v) => s + v.value, 0);
      grid.append(
        el(
          "button",
          {
            type: "button",
            class: "rank",
            title: "Select this process",
            onclick: () => toggle(list),
          },
          el("bdi", {}, name),
          el("span", { class: "quiet" }, p.format(metric, sum)),
        ),
      );
      grid.append(
        el(
          "div",
          { class: "cells" },
          ...list.map(v =>
            el(
              "button",
              {
                type: "button",
                class:
                  (p.selection.profiles?.has(v.profile.id) ? "cell chosen" : "cell") +
                  (v.value > HOT_CELL * most ? " hot" : "") +
                  (list.length > MOST_LABELS ? "" : " labelled"),
                style: `--heat:${Math.min(v.value / most, 1).toFixed(3)}`,
                title:
                  `${p.profileName(v.profile.id)}: ${p.format(metric, v.value)}, ` +
                  `${percent(v.value, most)} of the most` +
                  (v.profile.counts ? "" : "; not in the account: it did nothing"),
                "aria-label": `${p.profileName(v.profile.id)}: ${p.format(metric, v.value)}`,
                onclick: () => toggle([v]),
              },
              list.length > MOST_LABELS
                ? ""
                : el("span", {}, v.profile.thread ? String(v.profile.thread) : "main"),
              list.length > MOST_LABELS ? "" : el("b", {}, p.format(metric, v.value)),
            ),
          ),
        ),
      );
    }
    return grid;
  }
  // The 1000 functions with the largest values of their own.
  largest(metric) {
    const p = this.app.profile,
      sums = new Map(),
      t = p.totals;
    for (let i = 0; i < t.n; i++) {
      const fn = p.fn[t.context[i]];
      if (t.metric[i] === metric && fn >= 0) sums.set(fn, (sums.get(fn) ?? 0) + t.value[i]);
    }
    return [...sums]
      .sort((a, b) => b[1] - a[1])
      .slice(0, 1000)
      .map(([fn]) => fn);
  }
  menuOf(fn) {
    return [
      ["Select only this", () => this.app.select({ frame: { fn } })],
      ["Callers and callees", () => this.app.go("flame", { "flame.of": fn })],
      ["Copy name", () => copyText(this.app.profile.functionName(fn))],
    ];
  }
  functionTable(metric, threads) {
    const p = this.app.profile,
      sums = new Map();
    for (const fn of this.largest(metric)) sums.set(fn, new Float64Array(threads.length));
    threads.forEach((profile, t) => {
      const r = profile.rows;
      for (let i = 0; i < (r?.n ?? 0); i++) {
        const list = r.metric[i] === metric && sums.get(p.fn[r.context[i]]);
        if (list) list[t] += r.value[i];
      }
    });
    const rows = [...sums].map(([fn, v]) => {
      const most = v.reduce((a, b) => Math.max(a, b), 0),
        least = leastOfThreads(p, metric, v);
      const sum = v.reduce((a, b) => a + b, 0);
      const mean = meanOfThreads(p, metric, sum, v.length, most);
      return { id: fn, sum, most, least, mean };
    });
    const column = (title, value, hint) => ({
      title,
      hint,
      value,
      text: row => p.format(metric, value(row)),
      width: 96,
    });
    const table = new Table({
      label: "Imbalance by function",
      sort: "0",
      menu: row => this.menuOf(row.id),
      columns: [
        {
          ...column(p.metrics[metric].time ? "could save" : "most − mean", r => r.most - r.mean),
          share: r => (r.most - r.mean) / (p.whole(metric) || 1),
        },
        column("sum", r => r.sum),
        { ...column("least", r => r.least), hasZero: () => true },
        column("mean", r => r.mean),
        column("most", r => r.most),
        {
          title: "balance",
          value: r => r.mean / r.most,
          text: r => percent(r.mean, r.most),
          width: 96,
        },
        {
          title: "function, by its own values",
          wide: true,
          node: row => el("bdi", { title: p.functionName(row.id) }, shorten(p.functionName(row.id))),
        },
      ],
      onenter: row => this.app.select({ frame: { fn: row.id } }),
    });
    table.setRows(rows);
    return table.box;
  }
}
