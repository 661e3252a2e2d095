// SPDX-License-Identifier: BSD-3-Clause
// What matters most: the findings of the whole run, as in the report.

const MOST_FINDINGS = 5;

// null: there are none, or this is a comparison.
function findingsList(app) {
  const p = app.profile,
    rows = p.meta.findings ?? [],
    more = rows.length - MOST_FINDINGS;
  if (!rows.length) return null;
  return el(
    "div",
    { class: "rows" },
    ...rows.slice(0, MOST_FINDINGS).map(row => findingRow(app, row)),
    el(
      "p",
      { class: "keys" },
      "Elapsed time of the whole run that a cure could give back, each by itself: they do not add " +
        "up." +
        (more > 0 ? ` ${more} more are in the JSON.` : ""),
    ),
  );
}

function findingRow(app, row) {
  const p = app.profile,
    elapsed = p.meta.elapsed / 1e6,
    subject = p.str(row.subject),
    facts = row.facts.map(f => `${p.str(f.what)}: ${adviceValue(p.str(f.unit), f.value)}`),
    line = (term, ...words) => el("div", {}, el("dt", {}, term), el("dd", {}, ...words));
  return el(
    "details",
    { "data-key": row.key },
    el(
      "summary",
      {},
      el("strong", {}, p.str(row.title)),
      subject ? el("bdi", { title: subject }, `, ${shorten(subject)}`) : "",
      row.high > 0
        ? `: ${formatSeconds(row.likely)} (${percent(row.likely, elapsed)}; ` +
            `${formatSeconds(row.low)} to ${formatSeconds(row.high)})`
        : "",
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
