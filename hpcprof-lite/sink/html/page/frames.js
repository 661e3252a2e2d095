// SPDX-License-Identifier: BSD-3-Clause
// The tree of frames that flame graphs and time lines show: the contexts without the kinds and
// names that the user hides. Frames that then stand side by side with the same name become one.

class FrameTree {
  // options: {loops: boolean, lines: "none" | "gpu" | "all", hidden: Set of names, groups: of
  // functions to hide: Map of name to bytes by function, shown: a function that is not hidden}
  constructor(profile, options) {
    this.profile = profile;
    this.of = new Uint32Array(profile.n); // frame by context
    const parent = [0],
      context = [0]; // by frame: parent; one of its contexts
    const byKey = new Map(),
      identOf = this.identities(options);
    for (let c = 1; c < profile.n; c++) {
      const up = this.of[profile.parent[c]],
        ident = identOf(c);
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
    this.link(parent, context);
  }
  // A function that returns what makes a context the same as others below its frame, or -1 if it
  // is no frame. Call it for each context in turn.
  identities(options) {
    const p = this.profile,
      isHidden = this.findHidden(options),
      lineIds = new Map();
    const isLine = (kind, c) => {
      if (kind === CONTEXT_LOOP) return options.loops;
      const cls = options.lines === "gpu" ? p.className(c) : "";
      return options.lines === "all" || cls === "kernel" || cls === "device";
    };
    return c => {
      const kind = p.kind[c];
      if (kind === CONTEXT_FUNCTION)
        return isHidden(c) ? -1 : (p.fn[c] + 1) * 8 + (p.relation[c] === INLINED ? 1 : 0);
      if (kind === CONTEXT_ENTRY) return p.entryName.get(c) * 8 + 2;
      if (!isLine(kind, c)) return -1;
      const key = p.file[c] >= 0 ? p.file[c] * 2 ** 24 + p.line[c] : -1 - p.address.get(c);
      if (!lineIds.has(key)) lineIds.set(key, lineIds.size);
      return lineIds.get(key) * 8 + kind;
    };
  }
  // Frames that start a process or thread are hidden only where paths start, those without a name
  // only below another one of the same library.
  findHidden({ hidden, groups, shown }) {
    const p = this.profile,
      f = p.functions,
      out = new Uint8Array(f.n),
      starts = groups.get(START_FRAMES),
      unknown = groups.get(UNKNOWN_FRAMES);
    for (let i = 0; hidden.size && i < f.n; i++)
      out[i] = hidden.has(p.functionName(i).replace(/ \[guessed\]$/, "")) ? 1 : 0;
    for (const group of groups.values())
      if (group !== starts && group !== unknown) for (let i = 0; i < f.n; i++) out[i] |= group[i];
    const isStart = starts && startsOfPaths(p, starts.map((x, i) => x | out[i]));
    const isRepeated = c => {
      let up = p.parent[c];
      while (p.kind[up] > CONTEXT_FUNCTION) up = p.parent[up];
      return p.kind[up] === CONTEXT_FUNCTION && p.fn[up] === p.fn[c];
    };
    return c =>
      p.fn[c] !== shown &&
      (!!out[p.fn[c]] || !!isStart?.[c] || (!!unknown?.[p.fn[c]] && isRepeated(c)));
  }
  link(parent, context) {
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
  name(frame) {
    return this.profile.name(this.context[frame]);
  }
  label(frame) {
    return (this.labels[frame] ??= shortLabel(this.profile, this.profile.shortName(this.context[frame])));
  }
  // {self, total} by frame for the selection. A comparison has those of one side, "now" or
  // "before", or ("") the mean of both, so that frames of either are there.
  values(metric, side = "") {
    if (!this.profile.isComparison) return this.sum(metric);
    const now = this.sum(metric),
      before = this.sum(this.profile.before(metric)),
      mean = (a, b) => a.map((x, i) => (x + b[i]) / 2);
    const shown = { now, before }[side] ?? {
      self: mean(now.self, before.self),
      total: mean(now.total, before.total),
    };
    return { ...shown, now, before };
  }
  sum(metric) {
    return this.sumOf(this.profile.self(metric));
  }
  // own: by context.
  sumOf(own) {
    const self = new Float64Array(this.n);
    for (let c = 0; c < own.length; c++) if (own[c]) self[this.of[c]] += own[c];
    const total = self.slice();
    for (let f = this.n - 1; f > 0; f--) if (total[f]) total[this.parent[f]] += total[f];
    return { self, total };
  }
  // By frame: the state in which all of its contexts wait, or "".
  get waits() {
    return (this.waitsOf ??= findWaits(this));
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
    START_FRAMES,
    f =>
      STARTS.has(p.functionName(f)) ||
      (module(f)?.role === MODULE_START && p.functionName(f).startsWith("<unknown")),
  );
  add("placeholders of launches", f => p.functions.gpuKind[f] === OP_KERNEL);
  add("PyTorch call wrappers", f => /^(Module\.)?_(wrapped_)?call_impl$/.test(p.functionName(f)));
  add(UNKNOWN_FRAMES, f => p.functionName(f).startsWith("<unknown function>"));
  return groups;
}
const INTERPRETER_FRAMES = "interpreter frames",
  START_FRAMES = "start of processes and threads",
  RUNTIME_FRAMES = "runtime and driver frames",
  UNKNOWN_FRAMES = "repeated unknown functions";
// As in hpcprof-lite/view/view_start.c.
const STARTS = new Set(
  (
    "_start __libc_start_main __libc_start_main_impl __libc_start_call_main generic_start_main " +
    "start_thread clone __clone clone3 __clone3"
  ).split(" "),
);
// By context: 1 for a function that starts a process or thread, and what is in it. Functions that
// are hidden for another reason may stand between them.
function startsOfPaths(p, functions) {
  const out = new Uint8Array(p.n),
    { kind, fn, parent } = p;
  for (let c = 1; c < p.n; c++)
    out[c] =
      kind[c] === CONTEXT_ENTRY ||
      (out[parent[c]] && (kind[c] !== CONTEXT_FUNCTION || functions[fn[c]]))
        ? 1
        : 0;
  return out;
}
// Frames in which threads work in part have none, so that a caller is no wait.
function findWaits(tree) {
  const p = tree.profile,
    states = new Array(tree.n).fill(null); // null: no context yet; "": it works, or in several states
  const add = (f, state) => {
    states[f] = states[f] === null || states[f] === state ? state : "";
  };
  for (let c = 1; c < p.n; c++)
    if (p.kind[c] !== CONTEXT_ENTRY) add(tree.of[c], waitOf(p, c));
  for (let f = tree.n - 1; f > 0; f--) add(tree.parent[f], (states[f] ??= ""));
  return states;
}
// By context: 1 in or below a frame {fn} or {context}. The frame of a context is that of a flame
// graph: calls from several lines are one frame. `folding`: the options {hidden, groups}.
function insideFrame(p, frame, folding) {
  const inside = new Uint8Array(p.n),
    { fn, context } = frame;
  let isFrame = c => p.kind[c] === CONTEXT_FUNCTION && p.fn[c] === fn;
  if (fn === undefined && context < p.n) {
    const isCode = p.kind[context] > CONTEXT_FUNCTION,
      options = { ...folding, loops: isCode, lines: isCode ? "all" : "none" },
      { of } = new FrameTree(p, { ...options, shown: isCode ? undefined : p.fn[context] });
    isFrame = c => of[c] === of[context] && p.kind[c] === p.kind[context];
  }
  for (let c = 1; c < p.n; c++) inside[c] = inside[p.parent[c]] || isFrame(c) ? 1 : 0;
  return inside;
}

// ---- colours ----

const Colours = {
  base: new Map(),
  reset() {
    this.base.clear();
    this.known = new Map();
    this.inks = new Map();
  },
  known: new Map(),
  inks: new Map(),
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
  // Of text, with a contrast of at least 4.5. fill: "#rrggbb" or "hsl(h s% l%)".
  inkOn(fill) {
    if (!this.inks.has(fill)) {
      const inks = [cssColour("frame-ink"), "#ffffff", "#000000"];
      this.inks.set(fill, inks.find(ink => contrastOf(ink, fill) >= 4.5));
    }
    return this.inks.get(fill);
  },
};
// Relative luminance and contrast as in WCAG 2.2.
function rgbOf(colour) {
  if (colour.startsWith("#")) return colour.match(/[0-9a-f]{2}/gi).map(x => parseInt(x, 16) / 255);
  const [h, s, l] = colour.match(/[\d.]+/g).map(Number),
    chroma = (s / 100) * Math.min(l / 100, 1 - l / 100);
  return [0, 8, 4].map(n => {
    const k = (n + h / 30) % 12;
    return l / 100 - chroma * Math.max(-1, Math.min(k - 3, 9 - k, 1));
  });
}
function luminanceOf(colour) {
  const rgb = rgbOf(colour);
  const [red, green, blue] = rgb.map(x => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
function contrastOf(a, b) {
  const [dark, light] = [luminanceOf(a), luminanceOf(b)].sort((x, y) => x - y);
  return (light + 0.05) / (dark + 0.05);
}
// Red for more, blue for less, grey for noise; full colour from a change of a third on.
function changeColour(now, before, isNoise) {
  if (isNoise) return isDark() ? "hsl(215 6% 52%)" : "hsl(215 10% 84%)";
  const change = (now - before) / (Math.max(now, before) || 1);
  const strength = Math.min(1, Math.abs(change) * 3);
  const light = isDark() ? 62 - 8 * strength : 86 - 22 * strength;
  return `hsl(${change > 0 ? 8 : 214} ${Math.round(45 + 40 * strength)}% ${light}%)`;
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
