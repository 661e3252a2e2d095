// SPDX-License-Identifier: BSD-3-Clause
// The card of a GPU kernel: facts of its launches, stall reasons, hottest lines, launch sites.

class KernelCard {
  constructor(view) {
    this.view = view;
    this.app = view.app;
  }
  card(k, whole) {
    const p = this.app.profile,
      name = p.functionName(k.fn),
      samples = this.view.sum(k, ROLE.samples);
    const card = el(
      "section",
      { class: "kernel", "aria-label": `kernel ${name}` },
      el(
        "h3",
        {},
        el("i", { class: "swatch frame-kernel" }),
        el("bdi", {}, name),
        el("span", { class: "quiet" }, ` ${formatSeconds(k.time)}, ${percent(k.time, whole)}`),
      ),
      el(
        "dl",
        { class: "facts" },
        ...this.facts(k).map(([term, value]) =>
          el("div", {}, el("dt", {}, term), el("dd", {}, value)),
        ),
      ),
    );
    if (samples) card.append(this.stallBar(k.contexts));
    card.append(...this.advice(k));
    const columns = el("div", { class: "columns" });
    if (samples) columns.append(this.hotLines(k, samples));
    columns.append(this.launchSites(k));
    card.append(columns);
    const blames = this.app.blames.table(k.fn, samples);
    if (blames) card.append(blames);
    return card;
  }
  advice(k) {
    const rows = (this.app.profile.meta.advice ?? []).filter(row => row.function === k.fn);
    if (!rows.length) return [];
    return [el("section", { class: "advice" }, ...rows.map(row => adviceRow(this.app, row)))];
  }
  facts(k) {
    const p = this.app.profile,
      facts = [["launches", count(k.launches)]];
    if (k.launches) facts.push(["mean time", formatSeconds(k.time / k.launches)]);
    for (const m of p.metrics) {
      const mean = this.view.mean(k, m);
      if (mean === null) continue;
      facts.push([
        shortMetric(m.label, p.str(m.description)),
        p.unit(m.id) === "%"
          ? `${mean.toFixed(0)} %`
          : formatValue(mean < 1000 ? Math.round(mean * 100) / 100 : Math.round(mean), p.unit(m.id)),
      ]);
    }
    if (k.limit) facts.push(["occupancy limited by", k.limit]);
    return facts;
  }
  stallBar(contexts) {
    const p = this.app.profile,
      list = this.view.stalls(contexts);
    const all = list.reduce((s, [, v]) => s + v, 0);
    const bar = el("div", {
      class: "stalls",
      role: "img",
      "aria-label": list
        .slice(0, 5)
        .map(([m, v]) => `${stallWords(p, m)} ${percent(v, all)}`)
        .join(", "),
    });
    const names = el("ul", { class: "stall-names" });
    list.forEach(([m, v], i) => {
      const colour = `var(--stall-${m.role === ROLE.issued ? "issued" : i % 8})`;
      const title = [stallWords(p, m), percent(v, all), p.str(m.hint)].filter(Boolean).join("\n");
      bar.append(el("i", { style: `flex-grow:${v};background:${colour}`, title }));
      if (i < 5 && v > 0.03 * all)
        names.append(
          el(
            "li",
            { title },
            el("i", { class: "swatch", style: `background:${colour}` }),
            el("strong", {}, `${percent(v, all)} `),
            stallWords(p, m),
          ),
        );
    });
    return el("div", {}, bar, names);
  }
  hotLines(k, samples) {
    const p = this.app.profile,
      metric = p.metricByRole(ROLE.samples),
      self = p.self(metric);
    const lines = new Map();
    for (const k0 of k.contexts) {
      for (let c = k0; c < k0 + p.subtree[k0]; c++) {
        if (!self[c]) continue;
        const at =
          p.kind[c] === CONTEXT_INSTRUCTION && p.kind[p.parent[c]] === CONTEXT_LINE
            ? p.parent[c]
            : c;
        const key = p.kind[at] === CONTEXT_LINE ? `${p.file[at]}:${p.line[at]}` : p.name(at);
        if (!lines.has(key)) lines.set(key, { context: at, value: 0, contexts: [] });
        const line = lines.get(key);
        line.value += self[c];
        line.contexts.push(c);
      }
    }
    const list = [...lines.values()].sort((a, b) => b.value - a.value).slice(0, 8);
    const body = el("tbody", {});
    for (const line of list) {
      const [top] = this.view.stalls(line.contexts, "self"),
        c = line.context;
      body.append(
        el(
          "tr",
          {},
          el("td", { class: "number" }, percent(line.value, samples)),
          el(
            "td",
            {},
            top ? stallWords(p, top[0]) : "",
          ),
          el(
            "td",
            {},
            el(
              "button",
              { type: "button", class: "link", onclick: () => this.app.showSource(c) },
              el("bdi", {}, p.name(c)),
            ),
            el("code", {}, el("bdi", {}, sourceLine(p, p.file[c], p.line[c]).trim())),
          ),
        ),
      );
    }
    return el(
      "section",
      {},
      el("h4", {}, "Hottest lines"),
      el(
        "table",
        {},
        el(
          "thead",
          {},
          el("tr", {}, el("th", {}, "samples"), el("th", {}, "waits for"), el("th", {}, "line")),
        ),
        body,
      ),
    );
  }
  // The innermost line of the program's own code above each context.
  launchSites(k) {
    const p = this.app.profile,
      time = this.view.metric(ROLE.kernelTime),
      n = this.view.metric(ROLE.kernels);
    const sites = new Map();
    for (const c of k.contexts) {
      const site = launchSite(p, c);
      const key =
        p.kind[site] === CONTEXT_LINE
          ? `${p.file[site]}:${p.line[site]}:${p.fn[site]}`
          : `f${p.fn[site]}`;
      if (!sites.has(key)) sites.set(key, { site, time: 0, n: 0, context: c });
      sites.get(key).time += time[c];
      sites.get(key).n += n[c];
    }
    const body = el("tbody", {});
    for (const s of [...sites.values()].sort((a, b) => b.time - a.time).slice(0, 6))
      body.append(
        el(
          "tr",
          {},
          el("td", { class: "number" }, formatSeconds(s.time)),
          el("td", { class: "number" }, count(s.n)),
          el(
            "td",
            {},
            el(
              "button",
              { type: "button", class: "link", onclick: () => this.app.showFlame(s.context) },
              el("bdi", {}, p.name(s.site)),
            ),
            " ",
            el(
              "span",
              { class: "quiet" },
              el("bdi", {}, p.kind[s.site] === CONTEXT_LINE ? p.functionName(p.fn[s.site]) : ""),
            ),
          ),
        ),
      );
    return el(
      "section",
      {},
      el("h4", {}, "Launched at"),
      el(
        "table",
        {},
        el(
          "thead",
          {},
          el("tr", {}, el("th", {}, "time"), el("th", {}, "launches"), el("th", {}, "line")),
        ),
        body,
      ),
    );
  }
}

// "waits for data from global memory (GMEM)"
function stallWords(p, m) {
  const reason = p.str(m.reason).replaceAll("_", " "),
    meaning = p.str(m.meaning);
  return meaning ? `${meaning} (${reason})` : reason;
}
function launchSite(p, kernel) {
  let innermost = 0;
  for (let c = p.parent[kernel]; c; c = p.parent[c]) {
    const module = p.module[c] < 0 ? null : p.meta.modules[p.module[c]],
      fn = p.fn[c];
    if (fn < 0 || p.functions.gpuKind[fn] || p.functions.isLaunch[fn]) continue;
    const isMachinery = [MODULE_LAUNCH, MODULE_INTERPRETER].includes(module?.role);
    if (p.kind[c] === CONTEXT_FUNCTION && !isMachinery && !innermost) innermost = c;
    if (
      p.kind[c] === CONTEXT_LINE &&
      module &&
      module.role === MODULE_PROGRAM &&
      !module.gpu &&
      !/(site|dist)-packages|\/lib\/python\d/.test(p.filePath(p.file[c]))
    )
      return c;
  }
  return innermost || p.parent[kernel];
}
function shortMetric(label, description) {
  const known = {
    "GKER:BLKS": "blocks per launch (mean)",
    "GKER:BLK_THR": "threads per block",
    "GKER:THR_REG": "registers per thread",
    "GKER:OCC_THR": "theoretical occupancy",
    "GSAMP:UTIL": "SM utilization",
    "GKER:FGP_ACT": "warps per SM",
    "GKER:FGP_MAX": "warps per SM at most",
    "GKER:LMEM (B)": "local memory per thread",
    "GKER:STMEM (B)": "static shared memory",
    "GKER:DYMEM (B)": "dynamic shared memory",
    "GKER:BLK_SM (B)": "shared memory per block",
    "GKER:THR": "threads per launch",
  };
  return known[label] ?? (description || label);
}
function sourceLine(p, file, line) {
  for (const block of p.sources.get(file) ?? [])
    if (line >= block.first && line < block.first + block.lines.length)
      return block.lines[line - block.first];
  return "";
}
