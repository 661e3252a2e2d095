// SPDX-License-Identifier: BSD-3-Clause
// Ranges of NVTX (-e NVTX): the table, and rows of the time lines.

const MOST_NVTX_ROWS = 20,
  NVTX_MARK = 3;

function nvtxCard(app) {
  const p = app.profile,
    x = p.meta.nvtx;
  if (!x?.sums) return null;
  const has = key => x.ranges.some(r => key in r),
    time = ns => (ns === undefined ? "" : formatSeconds(ns / 1e9)),
    cell = text => el("td", { class: "number" }, text);
  const columns = [
    ["count", r => count(r.n + r.open) + (r.open ? ` (${count(r.open)} not ended)` : "")],
    ["time", r => (r.kind !== NVTX_MARK && r.n ? time(r.ns) : "")],
    ["mean", r => (r.kind !== NVTX_MARK && r.n ? time(r.ns / r.n) : "")],
    ["min", r => (r.kind !== NVTX_MARK && r.n ? time(r.least) : "")],
    ["max", r => (r.kind !== NVTX_MARK && r.n ? time(r.most) : "")],
    has("cpu") ? ["CPU", r => time(r.cpu)] : null,
    has("gpu") ? ["GPU", r => time(r.gpu)] : null,
    has("others") ? ["GPU of other threads", r => time(r.others)] : null,
    has("values") ? ["payload", r => r.values ?? ""] : null,
  ].filter(Boolean);
  const notes = [];
  if (x.ranges.length > MOST_NVTX_ROWS)
    notes.push(`${count(x.ranges.length - MOST_NVTX_ROWS)} more names.`);
  if (x.lost) notes.push(`${count(x.lost)} ranges or marks could not be recorded.`);
  if (x.shorter) notes.push(`The ${count(x.shorter)} shortest ones are not in the time lines.`);
  return el(
    "section",
    { class: "card wide whole-run" },
    el("h2", {}, "Ranges of NVTX by time"),
    el(
      "table",
      { class: "plain uses shares" },
      el(
        "thead",
        {},
        el("tr", {}, ...columns.map(c => el("th", { class: "number" }, c[0])), el("th", {}, "range")),
      ),
      el(
        "tbody",
        {},
        ...x.ranges
          .slice(0, MOST_NVTX_ROWS)
          .map(r =>
            el(
              "tr",
              {},
              ...columns.map(c => cell(c[1](r))),
              el("td", {}, el("bdi", {}, p.str(r.label))),
            ),
          ),
      ),
    ),
    el("p", { class: "keys" }, notes.join(" ")),
  );
}

// Draws the ranges of a track, outer ones first and inner ones a little lower. Of those that are
// narrower than a pixel, one in each pixel.
function paintRanges(painter, g, track, y) {
  const p = painter.profile,
    last = [];
  for (let i = 0, end = lowerBound(track.start, painter.to); i < end; i++) {
    if (track.end[i] < painter.from) continue;
    const a = Math.max(LINE_LABEL, painter.x(track.start[i])),
      b = painter.x(track.end[i]),
      depth = Math.min(track.depth[i], 3);
    if (b - a < 1 && last[depth] === Math.floor(a)) continue;
    last[depth] = Math.floor(a);
    const name = p.str(p.meta.nvtx.ranges[track.range[i]].label),
      top = y + 3 + depth * 3;
    g.fillStyle = `hsl(${hash(name) % 360} 45% 68%)`;
    g.fillRect(a, top, Math.max(0.7, b - a), y + LINE_ROW - 3 - top);
    if (b - a > 40) {
      g.fillStyle = cssColour("frame-ink");
      drawText(g, name, a + 3, y + LINE_ROW / 2, b - a - 6);
    }
  }
}

// The innermost range at a time, or near a mark; -1: none.
function findRange(track, time, near) {
  for (let i = lowerBound(track.start, time + near) - 1; i >= 0; i--) {
    if (track.end[i] >= time - near) return i;
    if (track.depth[i] === 0) return -1;
  }
  return -1;
}
