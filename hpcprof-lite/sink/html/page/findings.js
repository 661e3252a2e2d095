// SPDX-License-Identifier: BSD-3-Clause
// What matters most: the findings of the whole run, as in the report, and the view that shows
// exactly what each is about.

const MOST_FINDINGS = 5;

// By cause: the beginning of the name of the metric that has the time, or the view with the row.
// ready: only threads without a processor.
const FINDING_SETS = {
  processors: { view: "timeline", ready: true },
  "no-processor": { view: "timeline", ready: true },
  "new-threads": { view: "timeline" },
  balance: { view: "threads" },
  critical: { activity: "OMP:LOCK" },
  mutex: { activity: "BLOCKED:LOCK" },
  ordered: { activity: "OMP:ORDERED" },
  condition: { activity: "BLOCKED:THREAD" },
  sleep: { activity: "BLOCKED:SLEEP" },
  imbalance: { view: "waiting", card: "Parallel regions" },
  barrier: { view: "waiting", card: "Parallel regions" },
  "late-rank": { view: "waiting", card: "MPI: who comes last" },
  straggler: { view: "threads" },
  "rank-waits": { view: "waiting", card: "MPI: calls by waiting" },
  "small-messages": { view: "waiting", card: "MPI: by size" },
  "large-messages": { view: "waiting", card: "MPI: by size" },
  launches: { view: "kernels" },
  copies: { view: "kernels" },
  waits: { view: "kernels" },
  host: { view: "kernels" },
  overlap: { view: "kernels" },
  pinned: { view: "kernels" },
  "open-call": { view: "waiting", card: "MPI: calls that did not end" },
};

const STATE_SHARES = {
  work: "working",
  openmp: "in OpenMP",
  mpi: "in MPI",
  torch: "in PyTorch collectives",
  lock: "waiting for locks or threads",
  io: "in I/O",
  ready: "ready without a processor",
  gpu: "waiting for GPUs",
  sleep: "in sleep or other waits",
};

// "solver ran for 3.01 s: 2 ranks with 4 threads on 8 processors. 71 % working, 20 % MPI."
function runSentence(p) {
  const m = p.meta,
    u = m.uses,
    ranks = new Set(m.processes.map(x => x.rank).filter(r => r >= 0)).size,
    command = p.str(m.processes[0]?.command ?? m.title),
    failed = m.processes.filter(x => !x.ok && !x.live && !x.blank),
    parts = [
      el("strong", {}, el("bdi", { title: command }, shortCommand(command))),
      ` ran for ${formatSeconds(m.elapsed / 1e6)}`,
    ];
  if (ranks > 1) parts.push(` with ${plural(ranks, "rank")}`);
  if (u)
    parts.push(
      `${ranks > 1 ? "," : " with"} ${plural(u.threads, "thread")}` +
        (u.allowed ? ` on ${plural(u.allowed, "processor")}` : ""),
    );
  if (u) parts.push(`: ${stateShares(p, u)}`);
  if (m.devices.some(d => d.watched)) parts.push(`. ${gpuShare(m.devices)}`);
  parts.push(".");
  if (failed.length)
    parts.push(
      el("strong", { class: "bad" }, ` ${plural(failed.length, "process", "processes")} failed: `),
      el("bdi", {}, p.str(failed[0].end)),
      ".",
    );
  return parts;
}
function shortCommand(command) {
  return command.length > 80 ? `${command.slice(0, 79)}…` : command;
}
function stateShares(p, u) {
  const sums = new Map();
  u.rows.forEach((row, i) => {
    // what is no state has its own words
    const words = STATE_SHARES[row.state] ?? p.str(row.name);
    sums.set(words, (sums.get(words) ?? 0) + u.us[i]);
  });
  return [...sums]
    .filter(([, us]) => us >= 0.02 * u.capacity)
    .sort((a, b) => b[1] - a[1])
    .map(([words, us]) => `${percent(us, u.capacity)} ${words}`)
    .join(", ");
}
function gpuShare(devices) {
  const watched = devices.filter(d => d.watched),
    all = watched.reduce((sum, d) => sum + d.watched, 0),
    idle = watched.reduce(
      (sum, d) => sum + d.parts.filter(x => x.idle).reduce((ns, x) => ns + x.ns, 0),
      0,
    );
  const name = watched.length > 1 ? "The GPUs were" : "The GPU was";
  return `${name} busy ${percent(all - idle, all)} of the time`;
}

// Is the run long enough? Two standard deviations of the share that the hottest function has of the
// samples. null: nothing was sampled, or one sample may be a long wait.
function certaintyLine(app) {
  const p = app.profile,
    isTick = m =>
      p.metrics[m]?.kind === METRIC_SAMPLED && !/^(OFFCPU|MEMORY)/.test(p.metrics[m].label),
    metric = [app.metric, p.sampledMetric()].find(isTick),
    samples = metric === undefined ? null : p.samples(metric),
    all = samples?.reduce((sum, n) => sum + n, 0);
  const rows = all ? groupContexts(p, GROUPINGS.Functions, [metric]) : [];
  if (!rows.length) return null;
  const top = rows.reduce((a, b) => (b.self.get(metric) > a.self.get(metric) ? b : a)),
    share = top.self.get(metric) / p.whole(metric),
    error = 2 * Math.sqrt((share * (1 - share)) / all),
    hundredths = x => `${(100 * x).toFixed(1)} %`;
  return el(
    "p",
    { class: "certainty quiet" },
    `${plural(all, "sample")} of ${metricWords(p, metric, true)}: `,
    el("bdi", {}, shorten(p.uniqueName(top.context))),
    ` has ${hundredths(share)} ± ${hundredths(error)}, with a certainty of 95 %. ` +
      "Four times as many samples halve the error.",
  );
}

// null: there are none, or this is a comparison.
function findingsList(app) {
  const p = app.profile,
    rows = (p.meta.findings ?? []).filter(row => !NAMES_FINDINGS.includes(row.key)),
    more = rows.slice(MOST_FINDINGS);
  if (!rows.length) return null;
  return el(
    "div",
    { class: "rows" },
    ...rows.slice(0, MOST_FINDINGS).map(row => findingRow(app, row)),
    more.length
      ? el(
          "details",
          { class: "more-findings" },
          el("summary", { class: "quiet" }, `${plural(more.length, "more finding")}`),
          ...more.map(row => findingRow(app, row)),
        )
      : "",
    el(
      "p",
      { class: "keys" },
      "Elapsed time of the whole run that a cure could give back, each by itself: they do not add " +
        "up.",
    ),
  );
}

// Of the placeholder for time without a processor; "": there is none.
function readyFrame(p) {
  for (let f = 0; f < p.functions.n; f++)
    if (p.functionName(f).startsWith("<ready")) return `n${f}`;
  return "";
}
// The state that shows what a finding is about, and nothing else.
function findingKeys(app, row) {
  const p = app.profile,
    set = FINDING_SETS[row.key] ?? {},
    place = row.places[0],
    metric = p.metrics.findIndex(m => set.activity && m.label.startsWith(`${set.activity} `)),
    keys = { view: "tree", t: "", p: "", f: "", "tree.at": "", "tree.open": "" };
  keys["waiting.card"] = set.card ?? "";
  if (set.view && app.views[set.view]) keys.view = set.view;
  if (metric >= 0) Object.assign(keys, app.metricKeys(metric));
  if (set.ready) keys.f = readyFrame(p);
  if (row.function >= 0) keys.f = `n${row.function}`;
  if (row.process >= 0)
    keys.p = formatSet(p.profiles.filter(x => x.process === row.process).map(x => x.id));
  if (place) keys["tree.at"] = place.context;
  return keys;
}

function findingRow(app, row) {
  const p = app.profile,
    elapsed = p.meta.elapsed / 1e6,
    subject = p.str(row.subject),
    facts = row.facts.map(f => `${p.str(f.what)}: ${adviceValue(p.str(f.unit), f.value)}`),
    line = (term, ...words) => el("div", {}, el("dt", {}, term), el("dd", {}, ...words));
  return el(
    "details",
    { class: "finding", "data-key": row.key },
    el(
      "summary",
      {},
      el(
        "span",
        { class: "gain" },
        row.high > 0 ? el("i", { style: `width:${percentWidth(row.likely, elapsed)}` }) : "",
      ),
      el("span", { class: "gain-text" }, row.high > 0 ? percent(row.likely, elapsed) : ""),
      el(
        "span",
        { class: "finding-text" },
        el("strong", {}, p.str(row.title)),
        subject ? el("bdi", { title: subject }, `, ${shorten(subject)}`) : "",
        row.high > 0
          ? el(
              "span",
              { class: "quiet" },
              ` ${formatSeconds(row.likely)} (${formatSeconds(row.low)} to ` +
                `${formatSeconds(row.high)})`,
            )
          : "",
      ),
      el(
        "button",
        {
          type: "button",
          class: "show",
          title: "Show what this is about, and nothing else",
          onclick: e => {
            e.preventDefault();
            app.state.set(findingKeys(app, row));
          },
        },
        "show",
      ),
    ),
    el(
      "dl",
      { class: "facts tall" },
      subject ? line("which", el("bdi", {}, subject)) : "",
      facts.length ? line("why", facts.join("; ")) : "",
      line("do", p.str(row.cure)),
      ...row.places.map(place =>
        line("where", `${percent(place.share, 1)} `, ...app.blames.place(place.context)),
      ),
    ),
  );
}
function percentWidth(part, whole) {
  return `${Math.max(0, Math.min(100, (100 * part) / (whole || 1))).toFixed(1)}%`;
}

// ---- names that are missing ----

const NAMES_FINDINGS = ["no-names", "no-lines"];

// For files of the system among those with these names: what fetches the symbols of the file that
// ran, which need not be the one that is there now.
function symbolLines(p, names) {
  const files = p.meta.modules.filter(
    m =>
      m.build && /^\/(usr\/)?lib/.test(p.str(m.path)) && names.includes(baseName(p.str(m.path))),
  );
  const lines = files.map(m => {
    const command =
      `DEBUGINFOD_URLS=https:${"//"}debuginfod.elfutils.org ` +
      `debuginfod-find debuginfo ${m.build}`;
    return el(
      "p",
      {},
      el("bdi", {}, baseName(p.str(m.path))),
      ...(m.structure === STRUCTURE_CHANGED
        ? [
            ` has another build id on this machine than in the run (${m.build}), so its symbols ` +
              "here would be wrong. Make the report where the program ran.",
          ]
        : [
            ": ",
            el("code", {}, command),
            " ",
            el("button", { type: "button", onclick: () => copyText(command) }, "Copy"),
          ]),
    );
  });
  if (files.some(m => m.structure !== STRUCTURE_CHANGED))
    lines.push(el("p", {}, "Then make the report again: hpcprof-lite finds what was fetched."));
  return lines;
}
// "libcuda.so.1 (50.8 %)": what the share of the finding leaves out.
function vendorModules(p) {
  const metric = p.sampledMetric();
  if (metric < 0) return "";
  return groupContexts(p, GROUPINGS.Modules, [metric])
    .filter(
      row =>
        p.meta.modules[p.module[row.context]]?.role === MODULE_LAUNCH &&
        row.self.get(metric) > 0.01 * p.whole(metric),
    )
    .map(
      row =>
        `${GROUPINGS.Modules.name(p, row.context)} ` +
        `(${percent(row.self.get(metric), p.whole(metric))})`,
    )
    .join(", ");
}

// null: names and lines are there.
function namesBanner(app) {
  const p = app.profile,
    rows = (p.meta.findings ?? []).filter(row => NAMES_FINDINGS.includes(row.key));
  if (!rows.length) return null;
  const vendors = rows.some(row => row.key === "no-names") ? vendorModules(p) : "";
  return el(
    "section",
    { class: "card wide banner" },
    ...rows.map(row =>
      el(
        "p",
        {},
        el("strong", {}, `${p.str(row.title)}: `),
        `${percent(row.facts[0]?.value ?? 0, 1)} of the time, in `,
        el("bdi", {}, p.str(row.subject)),
        `. To mend it: ${p.str(row.cure)}.`,
      ),
    ),
    ...rows
      .filter(row => row.key === "no-names")
      .flatMap(row => symbolLines(p, p.str(row.subject).split(", "))),
    vendors
      ? el("p", { class: "quiet" }, "Left out: libraries between the program and a GPU, whose ",
          "vendors publish no names: ", el("bdi", {}, vendors), ".")
      : "",
  );
}
