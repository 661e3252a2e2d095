// SPDX-License-Identifier: BSD-3-Clause
// What hardware counters say of each kernel, and its place under the roofs of the GPU. Of the
// whole run.

const ROOF_WIDTH = 640,
  ROOF_HEIGHT = 300,
  ROOF_LEFT = 58,
  ROOF_BOTTOM = 34;

// 4.12 T: units of 1000.
function formatRate(v, unit) {
  const units = ["", " k", " M", " G", " T", " P"];
  let i = 0;
  for (; v >= 999.5 && i < 5; i++) v /= 1000;
  return `${v.toPrecision(3)}${units[i]}${unit}`;
}

// 10 ** i, for an axis.
function formatDecade(i) {
  return i < 3 ? String(10 ** i) : `${10 ** (i % 3)} ${"kMGTP"[Math.floor(i / 3) - 1]}`;
}

function formatRatio(v) {
  return v >= 100 ? count(Math.round(v)) : v.toPrecision(2);
}

function counterCards(app) {
  const c = app.profile.meta.counters;
  if (!c) return [];
  const cards = [counterTable(app, c)];
  const points = c.rows.filter(r => r.bytes > 0 && r.operations > 0 && r.seconds > 0);
  if (points.length && (c.memory > 0 || c.roofs.length)) cards.push(roofline(app, c, points));
  return cards;
}

function counterTable(app, c) {
  const p = app.profile,
    columns = [
      ["time", r => formatSeconds(r.seconds)],
      c.hasBytes && ["device memory", r => formatBytes(r.bytes)],
      c.hasBytes && ["rate", r => formatRate(r.bytes / r.seconds, "B/s")],
      c.hasHits && ["L2 hits", r => percent(r.hits, r.hits + r.misses)],
      c.hasWork && [
        "operations",
        r => (r.operations ? formatRate(r.operations / r.seconds, "/s") : ""),
      ],
      c.hasWork &&
        c.hasBytes && [
          "per byte",
          r => (r.bytes && r.operations ? formatRatio(r.operations / r.bytes) : ""),
        ],
      ["of its roof", r => (r.least ? `${percent(r.least, r.seconds)} ${p.str(r.by)}` : "")],
    ].filter(Boolean),
    body = el("tbody", {});
  for (const r of c.rows) {
    const name = p.functionName(r.function);
    body.append(
      el(
        "tr",
        {},
        ...columns.map(([, cell]) => el("td", { class: "number" }, r.seconds ? cell(r) : "")),
        el("td", {}, el("bdi", { title: name }, shorten(name))),
      ),
    );
  }
  return el(
    "section",
    { class: "kernel counters" },
    el("h4", {}, `Hardware counters: ${count(c.counted)} of ${count(c.launches)} kernels`),
    el(
      "div",
      { class: "scroll" },
      el(
        "table",
        {},
        el(
          "thead",
          {},
          el("tr", {}, ...columns.map(([name]) => el("th", {}, name)), el("th", {}, "kernel")),
        ),
        body,
      ),
    ),
    el(
      "p",
      { class: "quiet" },
      "Counted kernels ran one at a time. Of the whole run." +
        (c.more > 0 ? ` ${count(c.more)} more kernels: hpcprof-lite --to json.` : ""),
    ),
  );
}

// The page names no address, so the name of the namespace comes from the browser.
const SVG = new DOMParser().parseFromString("<svg></svg>", "text/html").querySelector("svg")
  .namespaceURI;

function svg(tag, attributes, ...children) {
  const e = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
  e.append(...children);
  return e;
}

// Operations in a second over operations per byte, both logarithmic.
function roofline(app, c, points) {
  const p = app.profile,
    xs = points.map(r => r.operations / r.bytes),
    ys = points.map(r => r.operations / r.seconds),
    ridges = c.memory ? c.roofs.map(roof => roof.rate / c.memory) : [],
    decade = (v, up) => (up ? Math.ceil : Math.floor)(Math.log10(v) + (up ? 0.1 : -0.1)),
    x0 = decade(Math.min(...xs, ...ridges)),
    x1 = Math.max(decade(Math.max(...xs, ...ridges), true), x0 + 1),
    y0 = decade(Math.min(...ys)),
    y1 = Math.max(decade(Math.max(...ys, ...c.roofs.map(roof => roof.rate)), true), y0 + 1),
    x = v => ROOF_LEFT + ((Math.log10(v) - x0) / (x1 - x0)) * (ROOF_WIDTH - ROOF_LEFT - 12),
    y = v => 10 + (1 - (Math.log10(v) - y0) / (y1 - y0)) * (ROOF_HEIGHT - ROOF_BOTTOM - 10),
    whole = c.rows.reduce((sum, r) => sum + r.seconds, 0);
  const plot = svg("svg", {
    viewBox: `0 0 ${ROOF_WIDTH} ${ROOF_HEIGHT}`,
    role: "img",
    "aria-label": "operations in a second over operations per byte of device memory",
  });
  const line = (type, xa, ya, xb, yb) =>
    plot.append(svg("line", { class: type, x1: x(xa), y1: y(ya), x2: x(xb), y2: y(yb) }));
  const text = (words, at, anchor) =>
    plot.append(svg("text", { x: at[0], y: at[1], "text-anchor": anchor }, words));
  for (let i = x0; i <= x1; i++) {
    line("grid", 10 ** i, 10 ** y0, 10 ** i, 10 ** y1);
    text(formatDecade(i), [x(10 ** i), y(10 ** y0) + 14], "middle");
  }
  for (let i = y0; i <= y1; i++) {
    line("grid", 10 ** x0, 10 ** i, 10 ** x1, 10 ** i);
    text(formatDecade(i), [ROOF_LEFT - 6, y(10 ** i) + 4], "end");
  }
  for (const roof of c.roofs) {
    const from = c.memory ? roof.rate / c.memory : 10 ** x0;
    line("roof", from, roof.rate, 10 ** x1, roof.rate);
    text(
      `${p.str(roof.name)} ${formatRate(roof.rate, "/s")}`,
      [ROOF_WIDTH - 14, y(roof.rate) - 4],
      "end",
    );
  }
  if (c.memory) {
    const top = Math.max(...c.roofs.map(roof => roof.rate), 10 ** x0 * c.memory),
      low = Math.max(10 ** x0, 10 ** y0 / c.memory),
      middle = Math.sqrt((low * top) / c.memory);
    line("roof", low, low * c.memory, top / c.memory, top);
    text(
      `memory ${formatRate(c.memory, "B/s")}`,
      [x(middle) - 6, y(middle * c.memory) - 6],
      "end",
    );
  }
  points.forEach((r, i) => {
    const name = p.functionName(r.function),
      dot = svg("circle", {
        cx: x(xs[i]),
        cy: y(ys[i]),
        r: 4 + 8 * Math.sqrt(r.seconds / (whole || 1)),
      });
    dot.append(
      svg(
        "title",
        {},
        `${name}\n${formatSeconds(r.seconds)}, ${formatRate(ys[i], " operations/s")}, ` +
          `${xs[i].toPrecision(3)} per byte` +
          (r.least ? `\n${percent(r.least, r.seconds)} of its roof, ${p.str(r.by)}` : ""),
      ),
    );
    plot.append(dot);
    if (r.seconds > 0.05 * whole) {
      const short = name.replace("(anonymous namespace)::", "").split("(")[0],
        isRight = x(xs[i]) > ROOF_WIDTH / 2,
        words = short.length > 28 ? `${short.slice(0, 27)}…` : short;
      text(words, [x(xs[i]) + (isRight ? -10 : 10), y(ys[i]) + 4], isRight ? "end" : "start");
    }
  });
  text("operations per byte of device memory", [ROOF_WIDTH / 2, ROOF_HEIGHT - 4], "middle");
  return el(
    "section",
    { class: "kernel roofline" },
    el("h4", {}, "Roofline: operations in a second"),
    plot,
    el(
      "p",
      { class: "quiet" },
      "Roofs follow from the GPU's clocks and widths; they are not measured. A dot's area grows " +
        "with the kernel's time.",
    ),
  );
}
