// SPDX-License-Identifier: BSD-3-Clause
// Names and classes of contexts, and the values of metrics for what the user has selected.

const CLASSES = {
  // of frames; the colours are in style.css
  entry: "where paths start",
  host: "host code",
  python: "Python",
  runtime: "runtime, driver",
  launch: "launch",
  kernel: "GPU kernel",
  device: "device code",
  copy: "GPU copy, set",
  wait: "wait",
  guessed: "guessed",
};

class Profile {
  constructor(data) {
    Object.assign(this, data);
    this.metrics = this.meta.metrics;
    this.metrics.forEach((m, i) => {
      m.id = i;
      m.label = this.str(m.name);
    });
    this.selection = { time: null, profiles: null, frame: null };
    this.cache = new Map();
    this.isComplete = false; // threads and time lines are there
    this.folding = { hidden: new Set(), groups: new Map() }; // of frames, as flame graphs fold
    this.classes = this.classify();
    this.hasFlow = this.profiles.some(p => p.kind === PROFILE_QUEUE);
  }

  // ---- names ----

  functionName(f) {
    return f < 0 ? "<unknown function>" : this.str(this.functions.name[f]);
  }
  filePath(f) {
    return f < 0 ? "" : this.str(this.files[f]);
  }
  fileName(f) {
    return baseName(this.filePath(f));
  }
  modulePath(m) {
    return m < 0 ? "" : this.str(this.meta.modules[m].path);
  }
  place(file, line) {
    return file < 0 ? "" : `${this.fileName(file)}:${line}`;
  }

  name(c) {
    switch (this.kind[c]) {
      case CONTEXT_ROOT:
        return this.scopeName;
      case CONTEXT_ENTRY:
        return this.str(this.entryName.get(c));
      case CONTEXT_FUNCTION:
        return this.functionName(this.fn[c]);
      case CONTEXT_LOOP:
        return this.file[c] >= 0
          ? `loop at ${this.place(this.file[c], this.line[c])}`
          : `loop at ${hex(this.address.get(c))}`;
      case CONTEXT_LINE:
        return this.place(this.file[c], this.line[c]);
      default:
        return this.meta.modules[this.module[c]]?.gpu
          ? `+${hex(this.address.get(c))}`
          : `${baseName(this.modulePath(this.module[c]))}+${hex(this.address.get(c))}`;
    }
  }
  // An address is a name in its module only.
  uniqueName(c) {
    const name = this.name(c);
    return name.startsWith("<unknown at ")
      ? `${name} [${baseName(this.modulePath(this.module[c]))}]`
      : name;
  }
  // Of a call: its line; without lines the function that calls, and the address.
  placeName(c) {
    const name = this.name(c),
      fn = this.fn[c];
    return this.kind[c] === CONTEXT_INSTRUCTION && fn >= 0
      ? `${shorten(this.functionName(fn))} (${name})`
      : name;
  }
  shortName(c) {
    return shorten(this.uniqueName(c));
  }
  // The line that calls a function, or where it is defined; "" if unknown.
  where(c) {
    const up = this.parent[c];
    if (this.kind[c] === CONTEXT_FUNCTION && this.kind[up] === CONTEXT_LINE) return this.name(up);
    const f = this.fn[c];
    return this.kind[c] === CONTEXT_FUNCTION && f >= 0
      ? this.place(this.functions.file[f], this.functions.line[f])
      : "";
  }
  profileName(p) {
    const profile = this.profiles[p],
      process = this.meta.processes[profile.process];
    const parts = [];
    const role = process && this.str(process.role);
    if (process && process.rank >= 0) parts.push(`rank ${process.rank}`);
    else if (this.meta.processes.length > 1)
      parts.push(`${baseName(this.str(process.executable))} ${process.pid}`);
    if (role) parts.push(role);
    if (profile.kind === PROFILE_QUEUE) {
      parts.push(
        this.str(this.meta.queues[profile.queue].name) +
          (profile.lane ? `, row ${profile.lane + 1}` : ""),
      );
    } else {
      const name = this.str(profile.name);
      parts.push(
        (profile.thread ? `thread ${profile.thread}` : "main thread") +
          (name && profile.thread ? ` ${name}` : ""),
      );
    }
    return parts.join(", ");
  }
  // Contexts from the root's child to c.
  path(c) {
    const path = [];
    for (; c; c = this.parent[c]) path.push(c);
    return path.reverse();
  }
  pathNames(c) {
    return this.path(c)
      .filter(x => this.kind[x] === CONTEXT_FUNCTION || this.kind[x] === CONTEXT_ENTRY)
      .map(x => this.name(x));
  }

  // Is the innermost frame of the context a wait off the processor?
  isBlocked(context) {
    const fn = this.fn[context];
    this.blocked ??= this.functions.name.map(n => /^<(blocked|ready|stopped)/.test(this.str(n)));
    return fn >= 0 && !!this.blocked[fn];
  }

  // The class of each context, as an index into CLASSES.
  classify() {
    const names = Object.keys(CLASSES),
      id = Object.fromEntries(names.map((n, i) => [n, i]));
    const out = new Uint8Array(this.n),
      f = this.functions;
    const ofFunction = (c, fn) => {
      if (this.marked[c]) return id.guessed;
      if (this.isBlocked(c)) return id.wait;
      if (fn >= 0 && f.gpuKind[fn]) {
        return f.gpuKind[fn] === OP_SYNC
          ? id.wait
          : f.gpuKind[fn] === OP_KERNEL
            ? id.launch
            : f.gpuKind[fn] <= OP_SET
              ? id.copy
              : id.runtime;
      }
      const module = this.module[c] < 0 ? null : this.meta.modules[this.module[c]];
      if (!module || module.gpu) {
        const up = this.fn[this.parent[c]];
        return up >= 0 && f.gpuKind[up] === OP_KERNEL ? id.kernel : module ? id.device : id.host;
      }
      return module.python ? id.python : module.role === MODULE_PROGRAM ? id.host : id.runtime;
    };
    for (let c = 1; c < this.n; c++) {
      if (this.kind[c] === CONTEXT_ENTRY) out[c] = id.entry;
      else if (this.kind[c] === CONTEXT_FUNCTION) out[c] = ofFunction(c, this.fn[c]);
      else out[c] = out[this.parent[c]];
    }
    this.classNames = names;
    return out;
  }
  className(c) {
    return this.classNames[this.classes[c]];
  }
  isKernel(c) {
    return this.kind[c] === CONTEXT_FUNCTION && this.className(c) === "kernel";
  }

  // Code of the user: the programs that ran, Python files that are not installed, GPU kernels.
  isOwn(c) {
    this.executables ??= new Set(this.meta.processes.map(x => baseName(this.str(x.executable))));
    const module = this.module[c] < 0 ? null : this.meta.modules[this.module[c]];
    if (!module || module.gpu || module.role !== MODULE_PROGRAM)
      return (
        this.className(c) === "kernel" ||
        (!!module?.python && !isPythonLibrary(this.str(module.path)))
      );
    if (module.python) return !isPythonLibrary(this.str(module.path));
    return this.executables.has(baseName(this.str(module.path)));
  }

  // ---- comparisons: metric i + 1 has the base side of metric i ----

  get isComparison() {
    return !!this.meta.comparison;
  }
  before(metric) {
    return metric + 1;
  }
  isBase(metric) {
    return this.isComparison && metric % 2 === 1;
  }
  // "+120 ms (+12.0 %)"
  formatChange(metric, now, before) {
    const change = now - before;
    const sign = change > 0 ? "+" : change < 0 ? "−" : "±";
    const share = before ? ` (${sign}${Math.abs((100 * change) / before).toFixed(1)} %)` : " (new)";
    return sign + this.format(metric, Math.abs(change)) + (now || before ? share : "");
  }

  // ---- metrics ----

  metricByRole(role) {
    return this.metrics.findIndex(m => m.role === role);
  }
  // GPUs work for a tenth of the run or more: its GPU time comes before its CPU time.
  get isGpuRun() {
    const gpu = this.metricByRole(ROLE.gpuTime);
    return !this.isComparison && gpu >= 0 && this.wholes[gpu] >= (0.1 * this.meta.elapsed) / 1e6;
  }
  // -1: none measured something.
  sampledMetric() {
    return this.metrics.findIndex((m, i) => m.kind === METRIC_SAMPLED && this.isShown(i));
  }
  // The first metric that measures something, preferably CPU time.
  mainMetric() {
    if (this.isComparison) return this.meta.comparison.metric;
    const cpu = this.sampledMetric();
    if (cpu >= 0 && !this.isGpuRun) return cpu;
    const gpu = this.metricByRole(ROLE.gpuTime);
    if (gpu >= 0 && this.isShown(gpu)) return gpu;
    return Math.max(
      0,
      this.metrics.findIndex((m, i) => this.isShown(i)),
    );
  }
  // The metric measured something in the whole run, on either side of a comparison.
  isShown(metric) {
    const { wholes } = this;
    if (this.isBase(metric)) return false;
    return wholes[metric] > 0 || (this.isComparison && wholes[this.before(metric)] > 0);
  }
  unit(metric) {
    return this.str(this.metrics[metric].unit);
  }
  format(metric, value) {
    return formatValue(value, this.unit(metric));
  }

  // ---- selection ----

  // {time: [from, to] in microseconds, profiles: Set of their ids, frame: {fn} or {context}}, each
  // null for everything. A frame stands for all that runs in it or below it. State keeps it.
  setSelection(selection) {
    this.selection = selection;
    this.cache.clear();
  }
  get isSelected() {
    return !!(this.selection.time || this.selection.profiles || this.selection.frame);
  }
  get scopeName() {
    return this.isSelected ? "selection" : "whole run";
  }
  frameName(frame) {
    return frame.fn === undefined ? this.name(frame.context) : this.functionName(frame.fn);
  }
  // By context: 1 in or below a frame; null for no frame.
  inside(frame) {
    if (!frame) return null;
    return this.cached(`inside ${frame.fn} ${frame.context}`, () =>
      insideFrame(this, frame, this.folding),
    );
  }
  // Values by context, without those outside of the selected frame.
  cut(values) {
    const inside = this.inside(this.selection.frame);
    return inside ? values.map((v, c) => (inside[c] ? v : 0)) : values;
  }
  isIn(p) {
    return !this.selection.profiles || this.selection.profiles.has(p);
  }
  // True if values of the metric follow a selection of time.
  hasTime(metric) {
    const m = this.metrics[metric];
    if (m.kind === METRIC_SAMPLED) return !!this.meta.hasTraces;
    return (
      this.hasFlow &&
      [
        ROLE.gpuTime,
        ROLE.kernelTime,
        ROLE.copyTime,
        ROLE.setTime,
        ROLE.kernels,
        ROLE.copies,
        ROLE.sets,
      ].includes(m.role)
    );
  }

  // The share of the whole run that is on time lines. The rest was summed up during the run, or its
  // records are missing.
  timedShare(metric) {
    this.timedShares ??= new Map();
    if (!this.timedShares.has(metric)) {
      const selection = this.selection;
      this.selection = { time: [0, Infinity], profiles: null, frame: null };
      const isSampled = this.metrics[metric].kind === METRIC_SAMPLED;
      const timed = isSampled ? this.sumSamples(metric) : this.sumOps(metric);
      this.selection = selection;
      const add = values => values.reduce((sum, value) => sum + value, 0);
      this.timedShares.set(metric, add(timed) / (add(this.sumTotals(metric)) || 1));
    }
    return this.timedShares.get(metric);
  }

  // What counts at each context itself, for the selection: GPU time of kernels where their samples
  // are. Float64Array by context; do not change.
  self(metric) {
    return this.cached(`self ${metric}`, () => this.cut(this.spread(metric)));
  }
  uncut(metric) {
    const { time, profiles } = this.selection,
      isSampled = this.metrics[metric].kind === METRIC_SAMPLED;
    if (!time && !profiles) return this.sumTotals(metric);
    if (!this.hasTime(metric) || !(time || (!isSampled && this.hasQueueSelected)))
      return this.sumProfiles(metric);
    return isSampled ? this.sumSamples(metric) : this.sumOps(metric);
  }
  // Queues have operations and no values of their own.
  get hasQueueSelected() {
    const { profiles } = this.selection;
    return !!profiles && [...profiles].some(p => this.profiles[p].kind === PROFILE_QUEUE);
  }
  // Inclusive values of the selected rows at all times.
  untimed(metric) {
    return this.cached(`untimed ${metric}`, () => {
      const { time, profiles } = this.selection;
      const out = time || profiles ? this.sumProfiles(metric) : this.sumTotals(metric);
      return this.sumUp(this.cut(out).slice());
    });
  }
  // The values of each run, which judge a comparison, are at the kernels.
  spread(metric) {
    const { role } = this.metrics[metric],
      samples = this.isComparison ? -1 : this.metricByRole(ROLE.samples);
    if ((role !== ROLE.gpuTime && role !== ROLE.kernelTime) || samples < 0)
      return this.uncut(metric);
    const out = this.uncut(metric).slice(),
      at = this.uncut(samples),
      sum = this.sumUp(at.slice());
    for (let c = 1; c < this.n; c++) {
      if (!out[c] || !sum[c] || !this.isKernel(c)) continue;
      const time = out[c];
      out[c] = 0;
      for (let k = c; k < c + this.subtree[c]; k++) out[k] += (time * at[k]) / sum[c];
    }
    return out;
  }
  // Inclusive values by context.
  total(metric) {
    return this.cached(`total ${metric}`, () => this.sumUp(this.self(metric).slice()));
  }
  sumUp(values) {
    for (let c = this.n - 1; c > 0; c--) if (values[c]) values[this.parent[c]] += values[c];
    return values;
  }
  whole(metric) {
    return this.isSelected ? this.total(metric)[0] : this.wholes[metric];
  }
  // Of all metrics, without an array for each.
  get wholes() {
    return this.cached("wholes", () => {
      const out = new Float64Array(this.metrics.length),
        t = this.totals;
      for (let i = 0; i < t.n; i++) out[t.metric[i]] += t.value[i];
      return out;
    });
  }
  // How many samples of the metric each context has itself, for the selection; null: not known.
  // Of rows and times they are those on the time lines.
  samples(metric) {
    const { time, profiles } = this.selection,
      kind = this.metrics[metric]?.kind;
    if (kind !== METRIC_SAMPLED || (profiles && !time && !this.meta.hasTraces)) return null;
    return this.cached(`samples ${metric}`, () => {
      if (!time && !profiles) return this.cut(this.countTotals(metric));
      const out = new Float64Array(this.n),
        [from, to] = time ?? [0, Infinity],
        stride = this.meta.reduced.sampleStride;
      for (const p of this.profiles) {
        const s = this.isIn(p.id) ? p.samples : null;
        for (let i = s ? lowerBound(s.time, from) : 0; s && i < s.n && s.time[i] < to; i++)
          if (s.metric[i] === metric) out[s.context[i]] += stride;
      }
      return this.cut(out);
    });
  }
  countTotals(metric) {
    const out = new Float64Array(this.n),
      t = this.totals;
    for (let i = 0; i < t.n; i++) if (t.metric[i] === metric) out[t.context[i]] += t.samples[i];
    return out;
  }
  cached(key, make) {
    if (!this.cache.has(key)) this.cache.set(key, make());
    return this.cache.get(key);
  }

  sumTotals(metric) {
    const out = new Float64Array(this.n),
      t = this.totals;
    for (let i = 0; i < t.n; i++) if (t.metric[i] === metric) out[t.context[i]] += t.value[i];
    return out;
  }
  sumProfiles(metric) {
    const out = new Float64Array(this.n);
    for (const p of this.profiles) {
      if (!p.rows || !this.isIn(p.id)) continue;
      const r = p.rows;
      for (let i = 0; i < r.n; i++) if (r.metric[i] === metric) out[r.context[i]] += r.value[i];
    }
    return out;
  }
  // A sample counts for its share of what its context has in its thread.
  sumSamples(metric) {
    if (this.metrics[metric].label.startsWith("OFFCPU ")) return sumWaits(this, metric);
    const out = new Float64Array(this.n),
      count = new Float64Array(this.n),
      weight = new Float64Array(this.n);
    const [from, to] = this.selection.time;
    for (const p of this.profiles) {
      if (!p.samples || !this.isIn(p.id)) continue;
      const s = p.samples,
        r = p.rows;
      for (let i = 0; i < s.n; i++) if (s.metric[i] === metric) count[s.context[i]]++;
      for (let i = 0; i < r.n; i++) {
        const c = r.context[i];
        if (r.metric[i] === metric && count[c]) weight[c] = r.value[i] / count[c];
      }
      const end = to >= this.meta.span ? s.n : lowerBound(s.time, to);
      for (let i = lowerBound(s.time, from); i < end; i++)
        if (s.metric[i] === metric) out[s.context[i]] += weight[s.context[i]];
      for (let i = 0; i < s.n; i++) count[s.context[i]] = weight[s.context[i]] = 0;
    }
    return out;
  }
  sumOps(metric) {
    const out = new Float64Array(this.n),
      role = this.metrics[metric].role;
    const kinds = {
      [ROLE.gpuTime]: [OP_KERNEL, OP_COPY, OP_SET],
      [ROLE.kernelTime]: [OP_KERNEL],
      [ROLE.copyTime]: [OP_COPY],
      [ROLE.setTime]: [OP_SET],
      [ROLE.kernels]: [OP_KERNEL],
      [ROLE.copies]: [OP_COPY],
      [ROLE.sets]: [OP_SET],
    }[role];
    const counts = role >= ROLE.kernels,
      stride = this.meta.reduced.opStride;
    const [from, to] = this.selection.time ?? [-Infinity, Infinity];
    for (const p of this.profiles) {
      if (!p.ops) continue;
      const o = p.ops;
      for (let i = 0; i < o.n; i++) {
        if (o.start[i] >= to) break;
        if (o.end[i] <= from || !kinds.includes(o.kind[i])) continue;
        if (!this.isIn(p.id) && !(o.launcher[i] >= 0 && this.isIn(o.launcher[i]))) continue;
        const time = (Math.min(o.end[i], to) - Math.max(o.start[i], from)) / 1e6;
        out[o.context[i]] += (counts ? 1 : time) * stride;
      }
    }
    return out;
  }
}

// ---- small tools ----

function lowerBound(sorted, value) {
  let low = 0,
    high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
function isPythonLibrary(path) {
  return /^<|\/(site|dist)-packages\/|\/lib\/python\d/.test(path);
}
// A long C++ name without what is in its brackets: "kernel<..>(..)".
function shorten(name) {
  if (name.length < 48 || name.includes("operator")) return name;
  let out = "",
    depth = 0;
  const rest = name.replaceAll("(anonymous namespace)", "\u0001");
  for (let i = 0; i < rest.length; i++) {
    const c = rest[i];
    if ((c === "<" && i > 0) || c === "(" || c === "{") {
      if (depth++ === 0) out += `${c}..`;
    } else if (depth && ((c === ">" && rest[i - 1] !== "-") || c === ")" || c === "}")) {
      if (--depth === 0) out += c;
    } else if (depth === 0) {
      out += c;
    }
  }
  return depth ? name : out.replaceAll("\u0001", "(anonymous)").replace("(..)::{..}", "");
}
function baseName(path) {
  return path.slice(path.lastIndexOf("/") + 1);
}
function hex(n) {
  return `0x${(n ?? 0).toString(16)}`;
}
function count(n) {
  return Math.round(n).toLocaleString("en-US");
}
function percent(part, whole) {
  if (!whole) return "";
  const p = (100 * part) / whole;
  return p && p < 0.05 ? "<0.1 %" : `${p.toFixed(1)} %`;
}
function plural(n, one, many = `${one}s`) {
  return `${count(n)} ${n === 1 ? one : many}`;
}
function formatSeconds(s) {
  const a = Math.abs(s);
  if (a === 0) return "0 s";
  if (a >= 100) return `${s.toFixed(0)} s`;
  if (a >= 1) return `${s.toFixed(2)} s`;
  if (a >= 0.9995e-3) return `${(s * 1e3).toPrecision(3)} ms`.replace("1.00e+3 ms", "1.00 s");
  if (a >= 0.9995e-6) return `${(s * 1e6).toPrecision(3)} µs`;
  return `${(s * 1e9).toFixed(0)} ns`;
}
function formatBytes(b) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let i = 0;
  for (; b >= (i ? 999.5 : 1024) && i < 4; i++) b /= 1024;
  return `${i ? b.toPrecision(3) : b} ${units[i]}`;
}
function formatJoules(j) {
  const a = Math.abs(j);
  if (a >= 99950) return `${(j / 1e3).toFixed(0)} kJ`;
  if (a >= 100) return `${j.toFixed(0)} J`;
  if (a >= 0.9995) return `${j.toPrecision(3)} J`;
  return `${(j * 1e3).toPrecision(3)} mJ`;
}
function formatWatts(w) {
  return w >= 99.5 ? `${w.toFixed(0)} W` : `${w.toPrecision(3)} W`;
}
function formatValue(value, unit) {
  if (unit === "sec") return formatSeconds(value);
  if (unit === "J") return formatJoules(value);
  if (unit === "B") return formatBytes(value);
  if (Math.abs(value) >= 1e6) return `${(value / 1e6).toPrecision(4)} M`;
  return value % 1 && Math.abs(value) < 1000 ? value.toPrecision(4) : count(Math.round(value));
}
function hash(text) {
  let h = 2166136261;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 16777619);
  return h >>> 0;
}

// An element with text and attributes. Names only ever become text, never markup.
function el(tag, attributes = {}, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) e.addEventListener(name.slice(2), value);
    else if (value === true) e.setAttribute(name, "");
    else if (value !== false && value != null) e.setAttribute(name, value);
  }
  e.append(...children.filter(c => c != null));
  return e;
}
function announce(text) {
  document.getElementById("live").textContent = text;
}
// The same for everybody to see, for a moment.
function say(text) {
  announce(text);
  document.querySelector(".toast")?.remove();
  const toast = el("div", { class: "toast", "aria-hidden": "true" }, text);
  document.body.append(toast);
  setTimeout(() => toast.remove(), 1800);
}
