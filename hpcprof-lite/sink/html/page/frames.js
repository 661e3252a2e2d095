// SPDX-License-Identifier: BSD-3-Clause
// The tree of frames that flame graphs and time lines show: the contexts without the kinds and
// names that the user hides. Frames that then stand side by side with the same name become one.

class FrameTree {
  // options: {loops: boolean, lines: "none" | "gpu" | "all", hidden: Set of names, groups: of
  // functions to hide: Map of name to bytes by function}
  constructor(profile, options) {
    const p = profile,
      n = p.n;
    this.profile = p;
    this.of = new Uint32Array(n); // frame by context
    const parent = [0],
      context = [0]; // by frame: parent; one of its contexts
    const byKey = new Map(),
      lineIds = new Map();
    const hiddenFunction = this.findHidden(options);
    for (let c = 1; c < n; c++) {
      const up = this.of[p.parent[c]];
      const kind = p.kind[c],
        cls = p.className(c),
        isGpu = cls === "kernel" || cls === "device";
      let ident = -1;
      if (kind === CONTEXT_FUNCTION) {
        if (!hiddenFunction[p.fn[c]])
          ident = (p.fn[c] + 1) * 8 + (p.relation[c] === INLINED ? 1 : 0);
      } else if (kind === CONTEXT_ENTRY) {
        ident = p.entryName.get(c) * 8 + 2;
      } else if (
        kind === CONTEXT_LOOP
          ? options.loops
          : options.lines === "all" || (options.lines === "gpu" && isGpu)
      ) {
        const key = p.file[c] >= 0 ? p.file[c] * 2 ** 24 + p.line[c] : -1 - p.address.get(c);
        if (!lineIds.has(key)) lineIds.set(key, lineIds.size);
        ident = lineIds.get(key) * 8 + kind;
      }
      if (ident < 0) {
        this.of[c] = up;
        continue;
      }
      const key = up * 2 ** 27 + ident;
      let frame = byKey.get(key);
      if (frame === undefined) {
        frame = parent.length;
        byKey.set(key, frame);
        parent.push(up);
        context.push(c);
      }
      this.of[c] = frame;
    }
    this.n = parent.length;
    this.labels = [];
    this.parent = Uint32Array.from(parent);
    this.context = Uint32Array.from(context);
    this.depth = new Uint16Array(this.n);
    this.firstChild = new Uint32Array(this.n + 1);
    for (let f = 1; f < this.n; f++) {
      this.depth[f] = this.depth[this.parent[f]] + 1;
      this.firstChild[this.parent[f] + 1]++;
    }
    for (let f = 0; f < this.n; f++) this.firstChild[f + 1] += this.firstChild[f];
    this.child = new Uint32Array(this.n);
    const next = this.firstChild.slice();
    for (let f = 1; f < this.n; f++) this.child[next[this.parent[f]]++] = f;
    this.maxDepth = this.depth.reduce((a, b) => Math.max(a, b), 0);
  }
  findHidden({ hidden, groups }) {
    const f = this.profile.functions,
      out = new Uint8Array(f.n);
    for (let i = 0; hidden.size && i < f.n; i++)
      out[i] = hidden.has(this.profile.functionName(i).replace(/ \[guessed\]$/, "")) ? 1 : 0;
    for (const group of groups.values()) for (let i = 0; i < f.n; i++) out[i] |= group[i];
    return out;
  }
  name(frame) {
    return this.profile.name(this.context[frame]);
  }
  label(frame) {
    return (this.labels[frame] ??= this.profile.shortName(this.context[frame]));
  }
  // {self, total} by frame for the selection. A comparison has the mean of both sides, so that
  // frames of either are there; `now` and `before` are the inclusive values of each.
  values(metric) {
    if (!this.profile.isComparison) return this.sum(metric);
    const now = this.sum(metric),
      before = this.sum(this.profile.before(metric));
    const mean = (a, b) => a.map((x, i) => (x + b[i]) / 2);
    return {
      self: mean(now.self, before.self),
      total: mean(now.total, before.total),
      now: now.total,
      before: before.total,
      nowSelf: now.self,
      beforeSelf: before.self,
    };
  }
  sum(metric) {
    const self = new Float64Array(this.n),
      from = this.profile.placed(metric);
    for (let c = 0; c < from.length; c++) if (from[c]) self[this.of[c]] += from[c];
    const total = self.slice();
    for (let f = this.n - 1; f > 0; f--) if (total[f]) total[this.parent[f]] += total[f];
    return { self, total };
  }
  children(frame) {
    return this.child.subarray(this.firstChild[frame], this.firstChild[frame + 1]);
  }
  path(frame) {
    const path = [];
    for (; frame; frame = this.parent[frame]) path.push(frame);
    return path.reverse();
  }
  // The depth at which time lines differ most: below the callers that all samples share.
  tellingDepth(metric) {
    const { total } = this.values(metric);
    for (let frame = 0; ;) {
      const [first] = [...this.children(frame)].sort((a, b) => total[b] - total[a]);
      if (first === undefined || (frame && total[first] < 0.8 * total[frame]))
        return Math.max(1, this.depth[frame] + (first === undefined ? 0 : 1));
      frame = first;
    }
  }
}

// Groups of functions that people often hide, those that the run has: Map of name to bytes.
function findGroups(p) {
  const groups = new Map();
  const add = (name, test) => {
    const bytes = new Uint8Array(p.functions.n);
    for (let f = 0; f < bytes.length; f++) bytes[f] = test(f) ? 1 : 0;
    if (bytes.includes(1)) groups.set(name, bytes);
  };
  const module = f => (p.functions.module[f] < 0 ? null : p.meta.modules[p.functions.module[f]]);
  add(INTERPRETER_FRAMES, f => module(f)?.role === MODULE_INTERPRETER && !module(f).python);
  add(RUNTIME_FRAMES, f => module(f)?.role === MODULE_LAUNCH);
  add(
    "start of processes and threads",
    f => module(f)?.role === MODULE_START || p.functionName(f) === "_start",
  );
  add("placeholders of launches", f => p.functions.gpuKind[f] === OP_KERNEL);
  add("PyTorch call wrappers", f => /^(Module\.)?_(wrapped_)?call_impl$/.test(p.functionName(f)));
  return groups;
}
const INTERPRETER_FRAMES = "interpreter frames",
  RUNTIME_FRAMES = "runtime and driver frames";

// ---- colours ----

const Colours = {
  base: new Map(),
  reset() {
    this.base.clear();
    this.known = new Map();
  },
  known: new Map(),
  of(cls, name) {
    const key = `${cls} ${name}`;
    let colour = this.known.get(key);
    if (colour) return colour;
    if (!this.base.has(cls)) {
      const text = getComputedStyle(document.documentElement).getPropertyValue(`--frame-${cls}`);
      this.base.set(
        cls,
        text
          .trim()
          .split(/[ ,%]+/)
          .map(Number),
      );
    }
    const [h, s, l] = this.base.get(cls),
      x = hash(name);
    colour = `hsl(${h + (x % 17) - 8} ${s}% ${l + ((x >> 8) % 11) - 5}%)`;
    this.known.set(key, colour);
    return colour;
  },
};
// Red for more, blue for less, grey for the same; full colour from a change of a third on.
function changeColour(now, before) {
  const change = (now - before) / (Math.max(now, before) || 1);
  const strength = Math.min(1, Math.abs(change) * 3);
  const light = isDark() ? 62 - 8 * strength : 86 - 22 * strength;
  return `hsl(${change > 0 ? 8 : 214} ${Math.round(85 * strength)}% ${light}%)`;
}
function cssColour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

// Sizes a canvas for the screen's pixels. Returns its context, in CSS pixels.
function prepareCanvas(canvas, width, height) {
  if (recordedCanvases) {
    const g = new SvgContext(width, height);
    recordedCanvases.set(canvas, g);
    return g;
  }
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const g = canvas.getContext("2d");
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.font = "12px system-ui, sans-serif";
  g.textBaseline = "middle";
  return g;
}
// Draws text of at most `room` pixels; cuts it with "…".
function drawText(g, text, x, y, room) {
  const most = Math.floor(room / 6.2);
  if (most < 3) return;
  if (text.length > most) {
    if (g.measureText(text).width > room) text = `${text.slice(0, most - 1)}…`;
  }
  g.fillText(text, x, y, room);
}

// ---- the tooltip ----

const Tip = {
  show(event, ...children) {
    const tip = document.getElementById("tip");
    tip.replaceChildren(...children);
    tip.hidden = false;
    const x = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8);
    const below = event.clientY + 18,
      y =
        below + tip.offsetHeight > innerHeight
          ? Math.max(4, event.clientY - tip.offsetHeight - 12)
          : below;
    tip.style.transform = `translate(${Math.max(4, x)}px, ${y}px)`;
  },
  hide() {
    document.getElementById("tip").hidden = true;
  },
};
