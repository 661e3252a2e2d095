// SPDX-License-Identifier: BSD-3-Clause
// Calls of MPI (-e MPI): ranks, what waits, who comes last, sizes, who sends to whom.

const MOST_MPI_ROWS = 16,
  MOST_OTHER_PLACES = 200;

class MpiCards {
  constructor(app) {
    this.app = app;
    this.profile = app.profile;
    this.mpi = app.profile.meta.mpi;
  }
  cards() {
    return this.mpi
      ? [
          this.open(),
          this.places(),
          this.sites(),
          this.ranks(),
          this.sizes(),
          this.pairs(),
          this.comms(),
        ].filter(Boolean)
      : [];
  }
  card(title, ...children) {
    return el("section", { class: "card wide whole-run" }, el("h2", {}, title), ...children);
  }
  table(heads, rows) {
    return el(
      "table",
      { class: "plain uses shares" },
      el(
        "thead",
        {},
        el("tr", {}, ...heads.map(h => el("th", { class: h.text ? "" : "number" }, h.name))),
      ),
      el("tbody", {}, ...rows),
    );
  }
  number(...children) {
    return el("td", { class: "number" }, ...children);
  }
  seconds(us) {
    return us > 0 ? formatSeconds(us / 1e6) : "";
  }
  // The line that calls, with a link to its place in the flame graph.
  place(context) {
    const p = this.profile;
    return el(
      "button",
      { type: "button", class: "link", onclick: () => this.app.showFlame(context) },
      el("bdi", {}, p.placeName(context)),
    );
  }
  processName(process) {
    const x = this.profile.meta.processes[process];
    return x.rank >= 0 ? `rank ${x.rank}` : `pid ${x.pid}`;
  }
  // What threads were in when the run ended: of a job that hung, the answer.
  open() {
    const list = this.mpi.open.slice(0, MOST_MPI_ROWS);
    if (!list.length) return null;
    return this.card(
      "MPI: calls that did not end",
      this.table(
        [
          { name: "until the end" },
          { name: "threads" },
          { name: "", text: true },
          { name: "call", text: true },
        ],
        list.map(x =>
          el(
            "tr",
            {},
            this.number(this.seconds(x.us)),
            this.number(count(x.n)),
            el("td", {}, (x.n > 1 ? "one of " : "") + this.processName(x.process)),
            el("td", {}, this.profile.str(x.call), " at ", this.place(x.context)),
          ),
        ),
      ),
    );
  }
  // Calls of at least a thousandth of the time in MPI; the others are counted.
  places() {
    const m = this.mpi,
      whole = m.whole,
      large = m.places.filter(x => Math.max(x.us, x.waited) >= whole.us / 1000),
      shown = large.slice(0, MOST_MPI_ROWS),
      rest = m.places.slice(shown.length),
      heads = [
        { name: "waiting" },
        { name: "time" },
        { name: "calls" },
        { name: "sent" },
        { name: "call", text: true },
      ],
      rows = list => list.map(x =>
          el(
            "tr",
            {},
            this.number(this.seconds(x.waited), x.waited && !x.known ? " ~" : ""),
            this.number(this.seconds(x.us)),
            this.number(count(x.n)),
            this.number(x.sent ? formatBytes(x.sent) : ""),
            el("td", {}, this.profile.str(x.call), " at ", this.place(x.context)),
          ),
        );
    return this.card(
      "MPI: calls by waiting time",
      el(
        "p",
        {},
        `${formatSeconds(whole.us / 1e6)} in ${count(whole.n)} calls, ` +
          `${percent(whole.us, m.elapsed)} of the time of the threads that called; ` +
          `${formatSeconds(whole.waited / 1e6)} of it waiting.`,
      ),
      ...this.notes().map(n => el("p", { class: "keys" }, n)),
      this.table(heads, rows(shown)),
      rest.length
        ? el(
            "details",
            {},
            el("summary", { class: "quiet" }, plural(rest.length, "more place")),
            this.table(heads, rows(rest.slice(0, MOST_OTHER_PLACES))),
          )
        : "",
      el("p", { class: "keys" }, "~: a part of the waiting time is an estimate."),
    );
  }
  notes() {
    const m = this.mpi,
      notes = [];
    if (m.lost) notes.push(`${count(m.lost)} calls could not be recorded.`);
    if (m.summed)
      notes.push(`${count(m.summed)} calls are recorded without their peers, to save space.`);
    if (m.clockError < 0)
      notes.push(
        "The clocks of the hosts could not be compared; " +
          "waiting between hosts relies on their time of day.",
      );
    else if (m.clockError)
      notes.push(`The clocks of the hosts are known to ±${formatSeconds(m.clockError / 1e9)}.`);
    return notes;
  }
  late(site, x) {
    const p = this.profile;
    return el(
      "tr",
      { class: "sub" },
      this.number(this.seconds(x.waited)),
      this.number(percent(x.n, site.n)),
      el(
        "td",
        {},
        el("strong", {}, this.processName(p.profiles[x.profile].process)),
        ` last, ${formatSeconds(x.behind / x.n / 1e6)} behind the others on average, `,
        `${formatSeconds(x.most / 1e6)} at most, from `,
        this.place(x.context),
      ),
    );
  }
  sites() {
    const all = this.mpi.sites.filter(s => s.waited > 0),
      least = all.reduce((sum, s) => sum + s.waited, 0) / 100,
      sites = all.filter(s => s.waited >= least).slice(0, MOST_MPI_ROWS),
      more = all.length - sites.length;
    if (!sites.length) return null;
    const rows = sites.flatMap(site => [
      el(
        "tr",
        {},
        this.number(this.seconds(site.waited)),
        this.number(count(site.n)),
        el("td", {}, this.profile.str(site.call), " at ", this.place(site.context)),
      ),
      ...site.late.slice(0, 3).map(x => this.late(site, x)),
    ]);
    return this.card(
      "MPI: who comes last to collective calls",
      this.table(
        [
          { name: "others waited" },
          { name: "calls" },
          { name: "call, and who was last", text: true },
        ],
        rows,
      ),
      more ? el("p", { class: "quiet" }, `${plural(more, "more place")} of less than 1 %.`) : "",
    );
  }
  ranks() {
    const all = this.mpi.processes;
    if (all.length < 2) return null;
    const shown = all.length > 32 ? [...all].sort((a, b) => b.waited - a.waited).slice(0, 32) : all,
      rows = shown.map(x =>
        el(
          "tr",
          {},
          el("td", {}, this.processName(x.process)),
          this.number(percent(x.us, x.elapsed)),
          this.number(this.seconds(x.us)),
          this.number(this.seconds(x.waited)),
          this.number(count(x.n)),
          this.number(formatBytes(x.sent)),
          this.number(formatBytes(x.received)),
          el(
            "td",
            { class: "use-cell" },
            el(
              "span",
              { class: "use-bar" },
              el("i", {
                class: stateClass("mpi"),
                title: "waiting",
                style: `width:${(100 * x.waited) / x.elapsed}%`,
              }),
              el("i", {
                class: stateClass("mpi", 2),
                title: "in MPI, not waiting",
                style: `width:${(100 * (x.us - x.waited)) / x.elapsed}%`,
              }),
            ),
          ),
        ),
      );
    return this.card(
      "MPI: by rank",
      all.length > shown.length
        ? el("p", { class: "quiet" }, `The ${shown.length} of ${all.length} that waited most.`)
        : "",
      this.table(
        [
          { name: "", text: true },
          { name: "share" },
          { name: "time" },
          { name: "waiting" },
          { name: "calls" },
          { name: "sent" },
          { name: "received" },
          { name: "dark: waiting", text: true },
        ],
        rows,
      ),
    );
  }
  sizes() {
    const sizes = this.mpi.sizes.filter(x => x.class),
      most = Math.max(...sizes.map(x => x.us), 1);
    if (!sizes.length) return null;
    const rows = sizes.map(x =>
      el(
        "tr",
        {},
        this.number(formatBytes(2 ** (x.class - 1))),
        this.number(count(x.n)),
        this.number(formatBytes(x.sent)),
        this.number(formatBytes(x.received)),
        this.number(this.seconds(x.us)),
        el(
          "td",
          { class: "size-bar" },
          el(
            "span",
            { class: "meter" },
            el("i", { style: `width:${(100 * x.us) / most}%`, class: x.collective ? "light" : "" }),
          ),
        ),
        el("td", {}, x.collective ? "collective" : ""),
      ),
    );
    return this.card(
      "MPI: by size",
      this.table(
        [
          { name: "from" },
          { name: "calls" },
          { name: "sent" },
          { name: "received" },
          { name: "time" },
          { name: "", text: true },
          { name: "", text: true },
        ],
        rows,
      ),
    );
  }
  // A matrix of bytes for up to 64 ranks, else the largest pairs.
  pairs() {
    const pairs = this.mpi.pairs;
    if (!pairs.length) return null;
    const n = Math.max(...pairs.map(([from, to]) => Math.max(from, to))) + 1,
      most = Math.max(...pairs.map(x => x[3]), 1),
      title = ([from, to, calls, bytes]) =>
        `${from} to ${to}: ${formatBytes(bytes)} in ${count(calls)} calls`;
    if (n > 64)
      return this.card(
        "MPI: who sends to whom",
        el("ul", {}, ...pairs.slice(0, MOST_MPI_ROWS).map(x => el("li", {}, title(x)))),
      );
    const step = Math.ceil(n / 16), // every how manieth row and column has its number
      label = (i, axis) => el("span", { class: `matrix-label ${axis}` }, i % step ? "" : i),
      grid = el("div", {
        class: "matrix",
        style: `grid-template-columns: auto repeat(${n}, minmax(4px, 22px))`,
        role: "img",
        "aria-label": "bytes from each rank (row) to each rank (column)",
      });
    grid.append(el("span", {}), ...Array.from({ length: n }, (_, i) => label(i, "column")));
    const at = new Map(pairs.map(x => [x[0] * n + x[1], x]));
    for (let i = 0; i < n * n; i++) {
      const x = at.get(i);
      if (i % n === 0) grid.append(label(i / n, "row"));
      grid.append(
        el("i", {
          title: x ? title(x) : `${Math.floor(i / n)} to ${i % n}: nothing`,
          style: x ? `opacity:${0.15 + (0.85 * Math.log1p(x[3])) / Math.log1p(most)}` : "",
          class: x ? stateClass("mpi") : "",
        }),
      );
    }
    return this.card(
      "MPI: who sends to whom",
      el("p", { class: "keys" }, "Rows send, columns receive. Darker: more bytes (logarithmic)."),
      grid,
    );
  }
  comms() {
    const what = x =>
      x.world
        ? "MPI_COMM_WORLD"
        : !x.matched
          ? "of one process"
          : x.measured < x.ranks
            ? "not all of its ranks were measured"
            : "";
    const rows = this.mpi.comms
      .slice(0, MOST_MPI_ROWS)
      .map(x =>
        el(
          "tr",
          {},
          this.number(this.seconds(x.us)),
          this.number(count(x.n)),
          this.number(count(x.ranks)),
          el("td", {}, what(x)),
        ),
      );
    if (!rows.length) return null;
    return this.card(
      "MPI: communicators",
      this.table(
        [{ name: "time" }, { name: "calls" }, { name: "ranks" }, { name: "", text: true }],
        rows,
      ),
    );
  }
}
