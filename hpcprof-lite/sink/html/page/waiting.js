// SPDX-License-Identifier: BSD-3-Clause
// Where the time of parallel programs goes: what all processors were used for.

const MOST_PROCESSES = 32; // rows of processes; of more, those that worked least

// Rows of one group have its colour, each weaker than the one before.
function useClasses(rows) {
  const seen = {};
  return rows.map(row => {
    const n = (seen[row.group] = (seen[row.group] ?? -1) + 1);
    return `use use-${row.group} use-step-${Math.min(n, 4)}`;
  });
}

function useBar(p, rows, us, whole) {
  const classes = useClasses(rows);
  return el(
    "span",
    { class: "use-bar", role: "img", "aria-label": "shares of the time, as in the table" },
    ...rows.map((row, i) =>
      us[i] > 0
        ? el("i", {
            class: classes[i],
            style: `width:${(100 * us[i]) / whole}%`,
            title: `${p.str(row.name)}: ${formatSeconds(us[i] / 1e6)}, ${percent(us[i], whole)}`,
          })
        : "",
    ),
  );
}

function useTable(p, rows, us, whole) {
  const classes = useClasses(rows),
    body = el("tbody", {});
  rows.forEach((row, i) => {
    if (us[i] < 0.0005 * whole) return;
    body.append(
      el(
        "tr",
        {},
        el("td", {}, el("i", { class: `swatch ${classes[i]}`, "aria-hidden": "true" })),
        el("td", { class: "number" }, percent(us[i], whole)),
        el("td", { class: "number" }, formatSeconds(us[i] / 1e6)),
        el("td", {}, p.str(row.name)),
      ),
    );
  });
  return el("table", { class: "plain uses shares" }, body);
}

// null: the run has one thread and nothing to divide.
function usesCard(app, isBrief) {
  const p = app.profile,
    u = p.meta.uses;
  if (!u) return null;
  const whole = u.us.reduce((a, b) => a + b, 0),
    notes = [];
  if (u.lacksOffcpu)
    notes.push("Measured with -e OFFCPU, the report says why threads did not run.");
  if (u.allowed && u.allowed < u.threads)
    notes.push(
      `The processes may use ${plural(u.allowed, "processor")}, but have ` +
        `${plural(u.threads, "thread")}.`,
    );
  if (u.allThreads > u.threads)
    notes.push(`There were ${plural(u.allThreads, "thread")}, not all at one time.`);
  return el(
    "section",
    { class: "card wide" },
    el("h2", {}, `Where the time of ${plural(u.threads, "processor")} went`),
    el(
      "p",
      { class: "quiet" },
      `${formatSeconds(u.elapsed / 1e6)} × ${plural(u.threads, "thread")} = ` +
        formatSeconds(whole / 1e6),
    ),
    useBar(p, u.rows, u.us, whole),
    useTable(p, u.rows, u.us, whole),
    ...notes.map(n => el("p", { class: "keys" }, n)),
    isBrief && app.views.waiting
      ? el(
          "button",
          { type: "button", class: "link", onclick: () => app.show("waiting") },
          "By process, and what waits",
        )
      : "",
  );
}

class WaitingView {
  static isThere(p) {
    return !!p.meta.uses;
  }
  constructor(app, container) {
    this.app = app;
    this.container = container;
  }
  draw() {
    this.container.replaceChildren(
      el("div", { class: "overview" }, usesCard(this.app, false) ?? "", this.processes() ?? ""),
    );
  }
  processName(i) {
    const p = this.app.profile,
      x = p.meta.processes[i];
    return x.rank >= 0 ? `rank ${x.rank}` : `${baseName(p.str(x.executable))}, pid ${x.pid}`;
  }
  select(process) {
    const p = this.app.profile,
      mine = p.profiles.filter(x => x.process === process && x.kind === PROFILE_THREAD);
    p.select({ profiles: new Set(mine.map(x => x.id)) });
    this.app.show("flame");
  }
  processes() {
    const p = this.app.profile,
      u = p.meta.uses;
    if (!u || u.processes.length < 2) return null;
    const sum = x => x.us.reduce((a, b) => a + b, 0),
      list = u.processes.map((x, i) => ({ i, us: x.us, whole: sum(x) })).filter(x => x.whole > 0),
      work = u.rows.findIndex(r => r.group === "work"),
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
              { type: "button", class: "link", onclick: () => this.select(x.i) },
              el("bdi", {}, this.processName(x.i)),
            ),
          ),
          el("td", { class: "number" }, percent(share(x), 1)),
          el("td", { class: "use-cell" }, useBar(p, u.rows, x.us, most)),
        ),
      );
    return el(
      "section",
      { class: "card wide" },
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
