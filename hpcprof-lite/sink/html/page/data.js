// SPDX-License-Identifier: BSD-3-Clause
// Decodes the sections of the report. doc/formats/report.md defines them.

// Reads unsigned LEB128 numbers up to 2^53, and signed ones in zigzag encoding.
class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }
  number() {
    const b = this.bytes;
    let byte = b[this.at++];
    if (byte < 128) return byte;
    let value = byte & 127,
      shift = 7;
    do {
      byte = b[this.at++];
      value = shift < 28 ? value | ((byte & 127) << shift) : value + (byte & 127) * 2 ** shift;
      shift += 7;
    } while (byte > 127);
    return value;
  }
  delta() {
    const n = this.number();
    return n % 2 ? -(n + 1) / 2 : n / 2;
  }
  text() {
    const n = this.number();
    this.at += n;
    return new TextDecoder().decode(this.bytes.subarray(this.at - n, this.at));
  }
}

// The bytes of one section. The element is removed, because the browser would keep its text.
async function readSection(name) {
  const element = document.querySelector(`script[data-section="${name}"]`);
  if (!element) throw new Error(`the report has no section "${name}": the file is not complete`);
  const text = element.textContent;
  element.remove();
  const packed = Uint8Array.fromBase64 ? Uint8Array.fromBase64(text) : decodeBase64(text);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function decodeBase64(text) {
  const out = new Uint8Array(
    Math.floor(text.length / 4) * 3 - (text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0),
  );
  const step = 1 << 20; // a multiple of 4 characters
  for (let i = 0, at = 0; i < text.length; i += step) {
    const part = atob(text.slice(i, i + step));
    for (let k = 0; k < part.length; k++) out[at++] = part.charCodeAt(k);
  }
  return out;
}

// Strings are separated by NUL. Each is decoded when it is first used.
function readStrings(bytes) {
  const starts = [0],
    known = [];
  for (let i = 0; i < bytes.length; i++) if (bytes[i] === 0) starts.push(i + 1);
  const decoder = new TextDecoder();
  return id =>
    (known[id] ??= showable(decoder.decode(bytes.subarray(starts[id], starts[id + 1] - 1))));
}

// Names come from foreign programs. Control characters and marks that turn the direction of text
// are shown as what they are, so that a name cannot pretend to be another.
function showable(text) {
  return text.replace(
    /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g,
    c =>
      c < " "
        ? String.fromCharCode(0x2400 + c.charCodeAt(0))
        : `\u2039U+${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}\u203a`,
  );
}

const METRIC_SAMPLED = 0,
  METRIC_GPU_TIME = 1,
  METRIC_GPU_COUNT = 2,
  METRIC_GPU_MEAN = 3,
  METRIC_GPU_SAMPLES = 4,
  METRIC_GUESSED = 5,
  METRIC_ACTIVITY = 6,
  METRIC_MEMORY = 10;
const ROLE = {
  gpuTime: 1,
  kernelTime: 2,
  copyTime: 3,
  setTime: 4,
  syncTime: 5,
  kernels: 6,
  copies: 7,
  copyBytes: 8,
  sets: 9,
  setBytes: 10,
  syncs: 11,
  samples: 12,
  apportioned: 13,
  measured: 14,
  expected: 15,
  issued: 16,
  stall: 17,
  stallIdle: 18,
};
const CONTEXT_ROOT = 0,
  CONTEXT_ENTRY = 1,
  CONTEXT_FUNCTION = 2,
  CONTEXT_LOOP = 3,
  CONTEXT_LINE = 4,
  CONTEXT_INSTRUCTION = 5;
const INLINED = 2;
const OP_KERNEL = 1,
  OP_COPY = 2,
  OP_SET = 3,
  OP_SYNC = 6;
const MODULE_PROGRAM = 0,
  MODULE_INTERPRETER = 1,
  MODULE_LAUNCH = 2,
  MODULE_START = 3;
const STRUCTURE_CHANGED = 1; // the file is not the one that ran
const PROFILE_THREAD = 0,
  PROFILE_QUEUE = 1;

function readFunctions(bytes, model) {
  const r = new Reader(bytes),
    n = r.number();
  const f = {
    n,
    name: new Uint32Array(n),
    module: new Int32Array(n),
    file: new Int32Array(n),
    line: new Uint32Array(n),
    gpuKind: new Uint8Array(n),
    isNode: new Uint8Array(n),
    isLaunch: new Uint8Array(n),
  };
  for (let i = 0; i < n; i++) {
    f.name[i] = r.number();
    f.module[i] = r.number() - 1;
    f.file[i] = r.number() - 1;
    f.line[i] = r.number();
    const flags = r.number();
    f.isLaunch[i] = flags & 1;
    f.isNode[i] = (flags >> 1) & 1;
    f.gpuKind[i] = flags >> 2;
  }
  model.functions = f;
  model.files = new Uint32Array(r.number());
  for (let i = 0; i < model.files.length; i++) model.files[i] = r.number();
}

function readContexts(bytes, model) {
  const r = new Reader(bytes),
    n = r.number();
  Object.assign(model, {
    n,
    parent: new Uint32Array(n),
    kind: new Uint8Array(n),
    relation: new Uint8Array(n),
    entry: new Uint8Array(n),
    marked: new Uint8Array(n),
    activity: new Uint8Array(n),
    fn: new Int32Array(n),
    module: new Int32Array(n),
    file: new Int32Array(n).fill(-1),
    line: new Uint32Array(n),
    entryName: new Map(),
    address: new Map(),
    subtree: new Uint32Array(n).fill(1),
  });
  for (let i = 0; i < n; i++) {
    model.parent[i] = i - r.number();
    const bits = r.number(),
      kind = bits & 7;
    model.kind[i] = kind;
    model.relation[i] = (bits >> 3) & 3;
    model.entry[i] = (bits >> 5) & 7;
    model.marked[i] = (bits >> 8) & 1;
    model.activity[i] = bits >> 9;
    model.fn[i] = r.number() - 1;
    model.module[i] = r.number() - 1;
    if (kind === CONTEXT_ENTRY) model.entryName.set(i, r.number());
    if (kind === CONTEXT_LOOP || kind === CONTEXT_LINE) {
      model.file[i] = r.number() - 1;
      model.line[i] = r.number();
    }
    if (kind === CONTEXT_LOOP || kind === CONTEXT_INSTRUCTION) model.address.set(i, r.number());
  }
  for (let i = n - 1; i > 0; i--) model.subtree[model.parent[i]] += model.subtree[i];
}

// Rows of (context, metric, value), in no order.
function readRows(r, model, counts) {
  const n = r.number();
  const rows = {
    n,
    context: new Uint32Array(n),
    metric: new Uint16Array(n),
    value: new Float64Array(n),
    samples: counts ? new Float64Array(n) : null,
  };
  for (let i = 0, context = 0; i < n; i++) {
    context += r.delta();
    rows.context[i] = context;
    rows.metric[i] = r.number();
    rows.value[i] = r.number() / model.meta.metrics[rows.metric[i]].scale;
    if (counts) rows.samples[i] = r.number();
  }
  return rows;
}

function readSamples(bytes, model) {
  const r = new Reader(bytes);
  for (const profile of model.profiles) {
    if (profile.kind !== PROFILE_THREAD) continue;
    const n = r.number();
    const s = {
      n,
      time: new Float64Array(n),
      context: new Uint32Array(n),
      metric: new Uint16Array(n),
    };
    for (let i = 0, time = 0; i < n; i++) s.time[i] = time += r.number();
    for (let i = 0; i < n; i++) s.context[i] = r.number();
    for (let i = 0; i < n; i++) s.metric[i] = r.number();
    s.shown = n && r.number() ? new Uint32Array(n) : s.context; // what the thread had on its stack
    for (let i = 0; i < n && s.shown !== s.context; i++) s.shown[i] = r.number();
    profile.samples = s;
  }
}

// Times in microseconds, as those of samples.
function readOps(bytes, model) {
  const r = new Reader(bytes);
  for (const profile of model.profiles) {
    if (profile.kind !== PROFILE_QUEUE) continue;
    const n = r.number();
    const o = {
      n,
      start: new Float64Array(n),
      end: new Float64Array(n),
      context: new Uint32Array(n),
      launcher: new Int32Array(n),
      enter: new Float64Array(n),
      kind: new Uint8Array(n),
      amount: new Float64Array(n),
      shape: new Int32Array(n),
    };
    for (let i = 0, start = 0; i < n; i++) {
      start += r.delta();
      o.start[i] = start / 1000;
      o.end[i] = (start + r.number()) / 1000;
      o.context[i] = r.number();
      o.launcher[i] = r.number() - 1;
      const before = r.number();
      o.enter[i] = before ? (start - before + 1) / 1000 : -1;
      o.kind[i] = r.number() & 15;
      o.amount[i] = r.number();
      o.shape[i] = r.number() - 1;
    }
    profile.ops = o;
  }
}

// Where threads waited for GPUs. Times in microseconds.
function readWaits(bytes, model) {
  const r = new Reader(bytes);
  for (const profile of model.profiles) {
    if (profile.kind !== PROFILE_THREAD) continue;
    const n = r.number(),
      w = { n, start: new Float64Array(n), end: new Float64Array(n), context: new Uint32Array(n) };
    for (let i = 0, start = 0; i < n; i++) {
      start += r.delta();
      w.start[i] = start / 1000;
      w.end[i] = (start + r.number()) / 1000;
      w.context[i] = r.number();
    }
    profile.waits = w;
  }
}

// Tracks of NVTX below their profiles. Times in microseconds; by start, outer ranges before inner.
function readRanges(bytes, model) {
  const r = new Reader(bytes);
  for (let tracks = r.number(); tracks > 0; tracks--) {
    const profile = model.profiles[r.number()],
      lane = r.number(),
      n = r.number();
    const t = {
      profile: profile.id,
      lane,
      n,
      start: new Float64Array(n),
      end: new Float64Array(n),
      range: new Uint32Array(n),
      depth: new Uint8Array(n),
    };
    const open = []; // ends of the ranges around
    for (let i = 0, start = 0; i < n; i++) {
      start += r.delta();
      t.start[i] = start / 1000;
      t.end[i] = (start + r.number()) / 1000;
      t.range[i] = r.number();
      while (open.length && open[open.length - 1] <= t.start[i]) open.pop();
      t.depth[i] = Math.min(255, open.length);
      if (t.end[i] > t.start[i]) open.push(t.end[i]);
    }
    (profile.tracks ??= []).push(t);
  }
}

// Meters of energy: value[i] is the mean power in W from edge[i] to edge[i + 1], in microseconds; 0:
// unknown.
function readPower(bytes) {
  const r = new Reader(bytes),
    meters = [];
  for (let n = r.number(); n > 0; n--) {
    const m = { name: r.number(), device: r.number() - 1, process: r.number(), most: 0 };
    Object.assign(m, { edge: [], value: [] });
    for (let at = 0, step; (step = r.number()) > 0;) {
      at += step - 1;
      m.edge.push(at / 1000);
      m.value.push(r.number() / 1000);
      m.most = Math.max(m.most, m.value.at(-1));
    }
    if (m.most) meters.push(m);
  }
  return meters;
}

// Live bytes of processes, as a meter: value[i] is the most from edge[i] to edge[i + 1].
function readMemory(bytes) {
  const r = new Reader(bytes),
    meters = [];
  for (let n = r.number(); n > 0; n--) {
    const m = { process: r.number(), isLive: true, most: 0, edge: [], value: [] },
      start = r.number() / 1000,
      length = r.number() / 1000,
      points = r.number();
    for (let i = 0; i < points; i++) {
      m.edge.push(start + (length * i) / points);
      m.value.push(r.number());
      m.most = Math.max(m.most, m.value[i]);
    }
    m.edge.push(start + length);
    m.value.push(0);
    if (m.most) meters.push(m);
  }
  return meters;
}

// By file: blocks of {first, lines}.
function readSources(bytes) {
  const r = new Reader(bytes),
    sources = new Map();
  for (let file; (file = r.number()) !== 0;) {
    const blocks = [];
    for (let n = r.number(); n > 0; n--) {
      const block = { first: r.number(), lines: [] };
      for (let k = r.number(); k > 0; k--)
        block.lines.push(showable(r.text().replace(/\t/g, "    ")));
      blocks.push(block);
    }
    sources.set(file - 1, blocks);
  }
  return sources;
}

// Instructions of the hottest functions. Samples of instruction i: first[i] to first[i + 1].
function readCode(bytes, model) {
  const r = new Reader(bytes),
    functions = [];
  for (let n = r.number(); n > 0; n--) {
    const f = { fn: r.number() - 1, module: r.number(), name: r.number(), n: r.number() };
    Object.assign(f, { address: [], text: [], file: [], line: [], isApart: [], inlined: [] });
    Object.assign(f, { first: [0], metric: [], samples: [], value: [] });
    for (let i = 0, address = 0; i < f.n; i++) {
      f.address.push((address += r.number()));
      f.text.push(r.number());
      f.file.push(r.number() - 1);
      const line = r.number();
      f.line.push(Math.floor(line / 2));
      f.isApart.push(line % 2);
      f.inlined.push(r.number());
      for (let k = r.number(); k > 0; k--) {
        f.metric.push(r.number());
        f.samples.push(r.number());
        f.value.push(r.number() / model.meta.metrics[f.metric.at(-1)].scale);
      }
      f.first.push(f.metric.length);
    }
    functions.push(f);
  }
  const missing = [];
  for (let n = r.number(); n > 0; n--) missing.push(r.number());
  return { functions, missing };
}

// The part that the first view needs. loadRest() completes the model.
async function loadModel() {
  const [strings, meta] = await Promise.all([readSection("strings"), readSection("meta")]);
  const model = { str: readStrings(strings), meta: JSON.parse(new TextDecoder().decode(meta)) };
  model.profiles = model.meta.profiles;
  model.profiles.forEach((profile, i) => {
    profile.id = i;
  });
  readFunctions(await readSection("functions"), model);
  readContexts(await readSection("contexts"), model);
  model.totals = readRows(new Reader(await readSection("totals")), model, true);
  if (model.meta.comparison) model.runs = readRuns(await readSection("runs"), model);
  model.sources = new Map();
  model.code = { functions: [], missing: [] };
  return model;
}

async function loadRest(model) {
  const values = new Reader(await readSection("values"));
  for (const profile of model.profiles) profile.rows = readRows(values, model, false);
  readSamples(await readSection("samples"), model);
  readOps(await readSection("ops"), model);
  readWaits(await readSection("waits"), model);
  readRanges(await readSection("nvtx"), model);
  model.meters = readPower(await readSection("power"));
  model.live = readMemory(await readSection("memory"));
  model.sources = readSources(await readSection("sources"));
  model.code = readCode(await readSection("code"), model);
}
