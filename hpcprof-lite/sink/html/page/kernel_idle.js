// SPDX-License-Identifier: BSD-3-Clause
// Why each GPU was idle: a row for each. Of the whole run.

// Parts 2 to 7 are idle. One is a state of a thread, the others are grey, with different hatches.
function idleState(part, i) {
  if (!part.idle) return stateClass(i === 0 ? "kernel" : "copy");
  return i === 5 ? stateClass("gpu") : `hatch hatch-${i}`;
}

function idleCard(app) {
  const p = app.profile,
    devices = p.meta.devices.filter(d => d.watched > 0);
  if (!devices.length) return null;
  const longest = Math.max(...devices.map(d => d.watched));
  const columns = devices[0].parts
    .map((part, i) => ({ i, words: p.str(part.words), state: idleState(part, i) }))
    .filter(({ i }) => devices.some(d => d.parts[i].ns));
  const heads = columns.map(({ words, state }) =>
    el("th", { class: "part" }, el("i", { class: `swatch ${state}` }), words),
  );
  return el(
    "section",
    { class: "kernel idle whole-run" },
    el("h4", {}, "Why idle"),
    el(
      "table",
      {},
      el(
        "thead",
        {},
        el("tr", {}, ...["device", "idle", "of", ""].map(t => el("th", {}, t)), ...heads),
      ),
      el("tbody", {}, ...devices.map(d => idleRow(p, d, columns, longest))),
    ),
    el(
      "details",
      { class: "quiet" },
      el(
        "summary",
        {},
        "Latency of launches, operations in flight" + (devices.some(d => d.energy) ? ", energy" : ""),
      ),
      ...devices.map(d => el("p", {}, deviceNode(p, d), `: ${idleFacts(d).join("; ")}.`)),
    ),
  );
}

function deviceNode(p, device) {
  return el("bdi", {}, `${p.str(device.type)} ${device.ordinal} ${p.str(device.name)}`);
}

function idleRow(p, device, columns, longest) {
  const idle = device.parts.reduce((sum, part) => sum + (part.idle ? part.ns : 0), 0),
    seconds = ns => formatSeconds(ns / 1e9),
    number = (text, title) => el("td", { class: "number", title }, text);
  return el(
    "tr",
    {},
    el("td", {}, deviceNode(p, device)),
    number(percent(idle, device.watched), seconds(idle)),
    number(seconds(device.watched)),
    el(
      "td",
      { class: "idle-bar" },
      el(
        "div",
        {
          class: "stalls",
          "aria-hidden": "true",
          style: `width:${(100 * device.watched) / longest}%`,
        },
        ...columns.map(({ i, words, state }) => {
          const { ns } = device.parts[i];
          const title = `${words}: ${seconds(ns)}, ${percent(ns, device.watched)}`;
          return ns ? el("i", { class: state, style: `flex-grow:${ns}`, title }) : null;
        }).filter(Boolean),
      ),
    ),
    ...columns.map(({ i }) =>
      number(percent(device.parts[i].ns, device.watched), seconds(device.parts[i].ns)),
    ),
  );
}

function idleFacts(device) {
  const seconds = ns => formatSeconds(ns / 1e9);
  return [
    device.launches &&
      `latency from launch to start of ${plural(device.launches, "operation")} on an idle GPU: ` +
        `median ${seconds(device.latency)}, 95th percentile ${seconds(device.latency95)}`,
    `at most ${count(device.inFlight)} operations in flight`,
    device.waiting && `idle while all threads waited for it: ${seconds(device.waiting)}`,
    device.unsampled && `idle while no thread had a sample: ${seconds(device.unsampled)}`,
    device.energy &&
      `energy ${formatJoules(device.energy / 1e6)} ± ${formatJoules(device.energyError / 1e6)}, ` +
        `${percent(device.energyUsed, device.energy)} of it while operations ran, on average ` +
        `${((1e3 * device.energy) / device.energyTime).toFixed(0)} W`,
  ].filter(Boolean);
}
