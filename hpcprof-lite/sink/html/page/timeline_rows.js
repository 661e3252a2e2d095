// SPDX-License-Identifier: BSD-3-Clause
// The rows of time lines: a tree of hosts, processes, threads, GPUs and their queues, in a natural
// order. The number of a row is its place in that order, so links keep their meaning.

const MANY_ROWS = 40; // with more of them, processes are folded at first

// A row: {id, kind, label, title, parent, children, depth, profiles, profile, track, device, meter}.
// profiles: ids of all that is in it. The last four: of what it shows, if it is one thing.
class TimelineRows {
  constructor(profile) {
    this.p = profile;
    this.all = [];
    this.roots = [];
    this.metered = new Set();
    this.makeSummaries();
    this.makeTree();
    this.isMany = this.all.length > MANY_ROWS;
  }
  add(parent, row) {
    const made = {
      id: this.all.length,
      children: [],
      profiles: [],
      title: row.label,
      ...row,
      parent,
      depth: parent ? parent.depth + 1 : 0,
    };
    this.all.push(made);
    (parent ? parent.children : this.roots).push(made);
    for (let at = made.profile ? made : null; at; at = at.parent)
      if (!at.profiles.includes(made.profile.id)) at.profiles.push(made.profile.id);
    return made;
  }
  // Sums over all rows, above the tree. Numbers of rows do not depend on which of them are there.
  makeSummaries() {
    const p = this.p,
      hasCpu = p.metrics.some(m => m.label.startsWith("CPUTIME")) && p.meta.hasTraces,
      hasOps = p.profiles.some(x => x.ops?.n),
      hasEnter = p.profiles.some(x => x.ops?.enter.some(t => t >= 0));
    const summary = (kind, label, title, isThere) => {
      const row = this.add(null, { kind, label, title });
      this.roots.pop();
      return isThere ? [row] : [];
    };
    this.summaries = [
      ...summary("processors", "processors in use", "Threads that have a processor", hasCpu),
      ...summary("busy", "GPUs busy", "Share of the GPUs that work", hasOps),
      ...summary("length", "GPU queue length", "Operations asked for and not finished", hasEnter),
    ];
  }
  isShown(x) {
    if (x.kind === PROFILE_QUEUE) return x.ops?.n > 0;
    return x.samples?.n > 0 || x.waits?.n > 0 || x.rows?.n > 0 || !!x.tracks;
  }
  makeTree() {
    const p = this.p,
      processes = new Map();
    for (const x of p.profiles)
      if (this.isShown(x)) {
        if (!processes.has(x.process)) processes.set(x.process, []);
        processes.get(x.process).push(x);
      }
    const of = i => p.meta.processes[i],
      isOfHost = host => m => m.device < 0 && of(m.process)?.host === host,
      rank = i => (of(i)?.rank >= 0 ? of(i).rank : Infinity),
      // launchers and shells after the ranks
      list = [...processes.keys()].sort((a, b) =>
        rank(a) < rank(b) ? -1 : rank(a) > rank(b) ? 1 : a - b,
      ),
      hosts = new Set(list.map(i => of(i)?.host)),
      hostRows = new Map();
    if (hosts.size === 1) this.addPower(null, m => m.device < 0);
    for (const i of list) {
      let parent = null;
      if (hosts.size > 1) {
        const host = of(i).host;
        if (!hostRows.has(host)) {
          hostRows.set(host, this.add(null, { kind: "host", label: p.str(host) }));
          this.addPower(hostRows.get(host), isOfHost(host));
        }
        parent = hostRows.get(host);
      }
      if (list.length > 1)
        parent = this.add(parent, { kind: "process", ...this.processName(list, i) });
      this.addProfiles(parent, processes.get(i));
      const meter = p.live.find(m => m.process === i),
        { label, title } = this.processName(list, i);
      if (meter)
        this.add(parent, {
          kind: "power",
          label: parent?.kind === "process" ? "live memory" : `live memory, ${label}`,
          title: `live memory, ${title}`,
          meter,
        });
    }
    this.addPower(null, () => true);
  }
  // Of meters that have no row yet, as their device may have none.
  addPower(parent, isWanted) {
    for (const meter of this.p.meters) {
      if (this.metered.has(meter) || !isWanted(meter)) continue;
      this.metered.add(meter);
      const name = this.p.str(meter.name),
        device = meter.device < 0 ? "" : `, ${this.deviceName(meter.device).title}`,
        label = parent?.kind === "gpu" ? "power" : `power, ${name}`;
      this.add(parent, { kind: "power", label, title: `power, ${name}${device}`, meter });
    }
  }
  processName(list, i) {
    const p = this.p,
      process = p.meta.processes[i],
      program = `${baseName(p.str(process.executable))} ${process.pid}`,
      role = p.str(process.role),
      isAlone = list.every(k => k === i || p.meta.processes[k].rank !== process.rank);
    const name = process.rank < 0 ? program : `rank ${process.rank}`,
      title = [name, role, process.rank < 0 ? "" : program, `on ${p.str(process.host)}`];
    return {
      label: [name, role, isAlone || process.rank < 0 ? "" : program].filter(x => x).join(", "),
      title: title.filter(x => x).join(", "),
    };
  }
  // GPUs stand behind the main thread, near to the calls that fill them.
  addProfiles(parent, profiles) {
    const p = this.p,
      rank = x => (x.kind === PROFILE_QUEUE ? 1 : x.thread ? 2 : 0),
      devices = new Map();
    for (const x of [...profiles].sort((a, b) => rank(a) - rank(b) || a.id - b.id)) {
      let above = parent;
      if (x.kind === PROFILE_QUEUE) {
        const device = p.meta.queues[x.queue].device;
        if (device >= 0 && !devices.has(device)) {
          devices.set(device, this.add(parent, this.deviceName(device)));
          this.addPower(devices.get(device), m => m.device === device);
        }
        above = devices.get(device) ?? parent;
      }
      const row = this.add(above, {
        ...this.profileName(x),
        title: p.profileName(x.id),
        profile: x,
      });
      for (const track of x.tracks ?? []) {
        const label = track.lane ? `NVTX ${track.lane + 1}` : "NVTX";
        this.add(row, { kind: "track", label, title: `${label}: ${row.title}`, track, profile: x });
      }
    }
  }
  deviceName(device) {
    const d = this.p.meta.devices[device],
      label = `GPU ${d.ordinal}`;
    return { kind: "gpu", label, title: `${label}, ${this.p.str(d.name)}`, device };
  }
  // Without what the rows above say.
  profileName(x) {
    const p = this.p;
    if (x.kind === PROFILE_THREAD) {
      const name = p.str(x.name);
      const label = x.thread ? `thread ${x.thread}${name ? ` ${name}` : ""}` : "main thread";
      return { kind: "thread", label };
    }
    const name = p.str(p.meta.queues[x.queue].name).replace(/^GPU \d+ /, "");
    return { kind: "queue", label: name + (x.lane ? `, row ${x.lane + 1}` : "") };
  }

  // ---- what the reader chose ----

  // text: as in the state; "": as at first, "-": none.
  folded(text) {
    if (text) return parseSet(text, this.all.length);
    return new Set(this.isMany ? this.all.filter(r => r.kind === "process").map(r => r.id) : []);
  }
  foldedText(set) {
    const text = formatSet(set) || "-";
    return text === (formatSet(this.folded("")) || "-") ? "" : text;
  }
  // The rows of the tree that are not folded away. value(row): sorted by it, the largest first.
  visible(folded, value) {
    const out = [];
    const add = rows => {
      const list = value ? [...rows].sort((a, b) => value(b) - value(a) || a.id - b.id) : rows;
      for (const row of list) {
        out.push(row);
        if (!folded.has(row.id)) add(row.children);
      }
    };
    add(this.roots);
    return out;
  }
  // The row itself or those below it, of the kind that has time lines.
  leaves(row) {
    if (row.kind === "thread" || row.kind === "queue") return [row];
    return row.children.flatMap(child => this.leaves(child));
  }
  // Of a process or host: the threads that count, if they say what they did; else the GPUs.
  lanes(row) {
    const threads = this.leaves(row).filter(r => r.kind === "thread" && hasIntervals(r.profile)),
      used = threads.filter(r => r.profile.counts);
    if (threads.length) return used.length ? used : threads;
    const gpus = this.all.filter(r => r.kind === "gpu" && isBelow(r, row));
    return gpus.length ? gpus : this.leaves(row).filter(r => r.kind === "queue");
  }
}
function isBelow(row, above) {
  return !!row && (row === above || isBelow(row.parent, above));
}
