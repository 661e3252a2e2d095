// SPDX-License-Identifier: BSD-3-Clause
// What would make GPU work faster: estimates of the whole run, each by itself.

const MOST_ADVICE = 6;

// What savings are shares of.
function devicesTime(p) {
  return p.meta.devices.length > 1 ? "the time of all GPUs" : "the GPU's time";
}

function adviceCard(app) {
  const p = app.profile,
    rows = p.meta.advice ?? [],
    more = p.meta.adviceRows - MOST_ADVICE;
  if (!rows.length) return null;
  return el(
    "section",
    { class: "card wide advice whole-run" },
    el("h2", {}, "What would make it faster"),
    ...rows.slice(0, MOST_ADVICE).map(row => adviceRow(app, row)),
    el(
      "p",
      { class: "keys" },
      "Estimates from the whole run, each by itself: they do not add up. Shares are of the time " +
        "of all devices, from first to last use." +
        (more > 0 ? ` ${more} more are in the JSON.` : ""),
    ),
  );
}

function adviceRow(app, row) {
  const p = app.profile,
    device = row.device >= 0 ? p.meta.devices[row.device] : null,
    subject = device ? `${p.str(device.type)} ${device.ordinal}` : p.functionName(row.function),
    facts = row.facts.map(f => `${p.str(f.what)}: ${adviceValue(p.str(f.unit), f.value)}`),
    line = (term, ...words) => el("div", {}, el("dt", {}, term), el("dd", {}, ...words));
  return el(
    "details",
    {},
    el(
      "summary",
      {},
      el("strong", {}, p.str(row.title)),
      " in ",
      el("bdi", { title: subject }, shorten(subject)),
      `: ${row.likely.toFixed(2)} times as fast (${row.low.toFixed(2)} to ${row.high.toFixed(2)}), `,
      `saves ${percent(row.saves, 1)} of ${devicesTime(p)}`,
    ),
    el(
      "dl",
      { class: "facts tall" },
      line("do", p.str(row.cure)),
      line("if", p.str(row.assumption)),
      line("why", facts.join("; ")),
      ...row.places.map(place =>
        line("where", `${percent(place.share, 1)} `, ...app.blames.place(place.context)),
      ),
    ),
  );
}

function adviceValue(unit, value) {
  switch (unit) {
    case "share":
      return percent(value, 1);
    case "sec":
      return formatSeconds(value);
    case "B":
      return formatBytes(value);
    case "B/s":
      return `${formatBytes(value)}/s`;
    case "cycles":
      return `${count(value)} cycles`;
    case "B/cycle":
      return `${value.toFixed(1)} B/cycle`;
    default:
      return value < 100 ? String(+value.toPrecision(4)) : count(value);
  }
}
