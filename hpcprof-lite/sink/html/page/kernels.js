// SPDX-License-Identifier: BSD-3-Clause
// GPU kernels: time, launches, occupancy, stall reasons, hottest lines, launch sites.

class KernelView {
  constructor(app, container) {
    this.app = app;
    this.holder = el("div", {});
    container.append(this.holder);
  }
  // Kernels by function, by falling time.
  collect() {
    const p = this.app.profile,
      kernels = new Map();
    const time = this.metric(ROLE.kernelTime),
      launches = this.metric(ROLE.kernels);
    for (let c = 1; c < p.n; c++) {
      if (!p.isKernel(c)) continue;
      if (!kernels.has(p.fn[c]))
        kernels.set(p.fn[c], { fn: p.fn[c], contexts: [], time: 0, launches: 0 });
      const k = kernels.get(p.fn[c]);
      k.contexts.push(c);
      k.time += time[c];
      k.launches += launches[c];
    }
    return [...kernels.values()]
      .filter(k => k.time || k.launches || this.sum(k, ROLE.samples))
      .sort((a, b) => b.time - a.time || b.launches - a.launches);
  }
  metric(role) {
    const p = this.app.profile,
      m = p.metricByRole(role);
    return m < 0 ? new Float64Array(p.n) : p.total(m);
  }
  sum(kernel, role) {
    const values = this.metric(role);
    return kernel.contexts.reduce((sum, c) => sum + values[c], 0);
  }
  draw() {
    const p = this.app.profile,
      kernels = this.collect();
    if (!kernels.length) {
      this.holder.replaceChildren(
        ...this.idle(),
        el("p", { class: "empty" }, "No GPU kernels in this selection."),
      );
      return;
    }
    const whole = kernels.reduce((sum, k) => sum + k.time, 0);
    const hasSamples = p.metricByRole(ROLE.samples) >= 0;
    const note =
      p.selection.time && hasSamples
        ? el(
            "p",
            { class: "note" },
            "Samples of GPU instructions have no times: their numbers are those of the whole run.",
          )
        : null;
    this.holder.replaceChildren(
      ...[
        ...this.idle(),
        ...counterCards(this.app),
        note,
        ...kernels.slice(0, 60).map((k, i) => this.card(k, whole, i < 3)),
      ].filter(Boolean),
    );
    if (kernels.length > 60)
      this.holder.append(
        el(
          "p",
          { class: "note" },
          `${kernels.length - 60} more kernels are in the tables, under Functions.`,
        ),
      );
  }
  card(k, whole, open) {
    const p = this.app.profile;
    const name = p.functionName(k.fn),
      facts = this.facts(k);
    const samples = this.sum(k, ROLE.samples);
    const bar = samples ? this.stallBar(k.contexts) : null;
    const card = el(
      "details",
      { class: "kernel", open },
      el(
        "summary",
        {},
        el(
          "span",
          { class: "kernel-name" },
          el("i", { class: "swatch frame-kernel" }),
          el("bdi", { title: name }, shorten(name)),
        ),
        el(
          "span",
          { class: "kernel-time" },
          formatSeconds(k.time),
          el("span", { class: "quiet" }, ` ${percent(k.time, whole)}`),
        ),
        el(
          "span",
          { class: "meter" },
          el("i", { style: `width:${(100 * k.time) / (whole || 1)}%` }),
        ),
      ),
    );
    card.append(
      el(
        "dl",
        { class: "facts" },
        ...facts.flatMap(([term, value]) => [
          el("div", {}, el("dt", {}, term), el("dd", {}, value)),
        ]),
      ),
    );
    if (bar) card.append(bar);
    const columns = el("div", { class: "columns" });
    const lines = samples ? this.hotLines(k, samples) : null;
    if (lines) columns.append(lines);
    columns.append(this.launchSites(k));
    card.append(columns);
    const blames = this.app.blames.table(k.fn, samples);
    if (blames) card.append(blames);
    return card;
  }
  facts(k) {
    const p = this.app.profile,
      facts = [["launches", count(k.launches)]];
    if (k.launches) facts.push(["mean time", formatSeconds(k.time / k.launches)]);
    for (const m of p.metrics) {
      if (m.kind !== METRIC_GPU_MEAN || m.divisor < 0) continue;
      const values = p.untimed(m.id), // sums over launches have no times
        divisor = p.untimed(m.divisor);
      const v = k.contexts.reduce((s, c) => s + values[c], 0),
        d = k.contexts.reduce((s, c) => s + divisor[c], 0);
      if (!v || !d) continue;
      const isPercent = p.unit(m.id) === "%";
      facts.push([
        shortMetric(m.label, p.str(m.description)),
        isPercent
          ? `${(v / d).toFixed(0)} %`
          : formatValue(Math.round((v / d) * 100) / 100, p.unit(m.id)),
      ]);
    }
    const limit = this.occupancyLimit(k);
    if (limit) facts.push(["occupancy limited by", limit]);
    return facts;
  }
  occupancyLimit(k) {
    const p = this.app.profile,
      contexts = new Set(k.contexts);
    for (const profile of p.profiles) {
      const o = profile.ops;
      for (let i = 0; o && i < Math.min(o.n, 200000); i++)
        if (o.shape[i] >= 0 && contexts.has(o.context[i]))
          return p.str(p.meta.shapes[o.shape[i]].limit);
    }
    return "";
  }
  // [metric, value] of stall reasons and issued samples, largest first.
  stalls(contexts, of = "total") {
    const p = this.app.profile;
    return p.metrics
      .filter(m => m.role === ROLE.stall || m.role === ROLE.issued)
      .map(m => [m, contexts.reduce((s, c) => s + p[of](m.id)[c], 0)])
      .filter(([, v]) => v > 0)
      .sort((a, b) => b[1] - a[1]);
  }
  stallBar(contexts) {
    const p = this.app.profile,
      list = this.stalls(contexts);
    const all = list.reduce((s, [, v]) => s + v, 0);
    const bar = el("div", {
      class: "stalls",
      role: "img",
      "aria-label": list
        .slice(0, 5)
        .map(([m, v]) => `${p.str(m.reason)} ${percent(v, all)}`)
        .join(", "),
    });
    const names = el("ul", { class: "stall-names" });
    list.forEach(([m, v], i) => {
      const colour = `var(--stall-${m.role === ROLE.issued ? "issued" : i % 8})`;
      const title = [p.str(m.reason), percent(v, all), p.str(m.meaning), p.str(m.hint)]
        .filter(Boolean)
        .join("\n");
      bar.append(el("i", { style: `flex-grow:${v};background:${colour}`, title }));
      if (i < 5 && v > 0.03 * all)
        names.append(
          el(
            "li",
            { title },
            el("i", { class: "swatch", style: `background:${colour}` }),
            el("strong", {}, `${p.str(m.reason)} ${percent(v, all)}`),
            el("span", { class: "quiet" }, ` ${p.str(m.meaning)}`),
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
      const [top] = this.stalls(line.contexts, "self"),
        c = line.context;
      body.append(
        el(
          "tr",
          {},
          el("td", { class: "number" }, percent(line.value, samples)),
          el(
            "td",
            {},
            top ? el("span", { title: p.str(top[0].meaning) }, p.str(top[0].reason)) : "",
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
  // Why each device was idle: one table for each, of the whole run.
  idle() {
    const p = this.app.profile;
    if (p.selection.time) return [];
    return p.meta.devices.filter(d => d.watched > 0).map(d => this.idleCard(d));
  }
  idleCard(device) {
    const p = this.app.profile,
      body = el("tbody", {}),
      seconds = ns => formatSeconds(ns / 1e9),
      idle = device.parts.reduce((sum, part) => sum + (part.idle ? part.ns : 0), 0);
    for (const part of device.parts.filter(part => part.ns))
      body.append(
        el(
          "tr",
          {},
          el("td", { class: "number" }, percent(part.ns, device.watched)),
          el("td", { class: "number" }, seconds(part.ns)),
          el("td", {}, p.str(part.words)),
        ),
      );
    const facts = [
      device.launches &&
        `launch to start when nothing was in flight: median ${seconds(device.latency)}, ` +
          `95 % within ${seconds(device.latency95)} (${count(device.launches)})`,
      `at most ${count(device.inFlight)} operations in flight`,
      device.waiting && `idle while all threads waited for it: ${seconds(device.waiting)}`,
      device.unsampled && `idle while no thread had a sample: ${seconds(device.unsampled)}`,
      device.energy &&
        `energy ${formatJoules(device.energy / 1e6)} ± ${formatJoules(device.energyError / 1e6)}, ` +
          `${percent(device.energyUsed, device.energy)} of it while operations ran, on average ` +
          `${((1e3 * device.energy) / device.energyTime).toFixed(0)} W`,
    ].filter(Boolean);
    return el(
      "section",
      { class: "kernel idle" },
      el(
        "h4",
        {},
        "Why idle: ",
        el("bdi", {}, `${p.str(device.type)} ${device.ordinal} ${p.str(device.name)}`),
        `, ${percent(idle, device.watched)} of ${seconds(device.watched)}`,
      ),
      el("table", {}, body),
      el("p", { class: "quiet" }, facts.join("; ") + "."),
    );
  }
  // The innermost line of the program's own code above each context.
  launchSites(k) {
    const p = this.app.profile,
      time = this.metric(ROLE.kernelTime),
      n = this.metric(ROLE.kernels);
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

function launchSite(p, kernel) {
  let innermost = 0;
  for (let c = p.parent[kernel]; c; c = p.parent[c]) {
    const module = p.module[c] < 0 ? null : p.meta.modules[p.module[c]],
      fn = p.fn[c];
    if (fn < 0 || p.functions.gpuKind[fn] || p.functions.isLaunch[fn]) continue;
    if (p.kind[c] === CONTEXT_FUNCTION && !innermost) innermost = c;
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
    "GKER:BLKS": "blocks",
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
