// The graph as objects, and what the report says of its nodes.

const kNode = 0, kGroup = 1, kInput = 2, kOutput = 3;

// The model of the page: nodes, values and levels with their names, and the ways between them.
function readPicture(picture) {
  const { sizes, reasons, types, top } = picture;
  const spots = [];
  for (let i = 0; i < picture.spots.length; i += 6) {
    const [value, index, entry, size, reason, next] = picture.spots.slice(i, i + 6);
    spots.push({ value, index, entry: entry === 1, size, reason, next });
  }
  const values = picture.values.map(([name, type, first, rank, maker, constant, sized, entries], id) =>
    ({ id, name, type: types[type], first, rank, maker, constant: constant === 1, sized: sized === 1,
      entries: picture.entries[entries], readers: [] }));
  const nodes = picture.nodes.map(([name, op, ins, outs, folded, attributes], id) =>
    ({ id, name, op: types[op], ins, outs, folded: folded === 1, attributes: picture.attributes[attributes], level: -1,
      demands: [], findings: [] }));
  for (const node of nodes)
    for (const value of new Set(node.ins)) if (value >= 0) values[value].readers.push(node.id);
  const levels = picture.levels.map(([title, parent, count, items, wires, layers], id) => ({
    id, title, parent, count, layers,
    items: items.map(([kind, ref, level]) => ({ kind, ref, level })),
    wires: wires.map(([from, to, carried, far, bends]) => ({ from, to, values: carried, far: far === 1, bends })),
  }));
  for (const level of levels)
    for (const item of level.items) if (item.kind === kNode) nodes[item.ref].level = level.id;
  return { symbols: picture.symbols, sizes, reasons, spots, values, nodes, levels, top };
}

// Conditions and findings name nodes by their labels.
function attachReport(model, report) {
  model.byName = new Map();
  for (const node of model.nodes) if (!model.byName.has(node.name)) model.byName.set(node.name, node);
  for (const condition of report.accepted.conditions)
    for (const reason of condition.because) {
      const node = model.byName.get(reason.node);
      if (node) node.demands.push({ text: condition.text, sentence: reason.sentence });
    }
  for (const finding of report.findings) {
    const node = model.byName.get(finding.node);
    if (node) node.findings.push(finding);
  }
}

const report = data.report;
report.accepted ||= { conditions: [], not_exact_because: [], on_data: [] };  // of a file that cannot be read
const model = data.picture ? readPicture(data.picture) : null;
if (model) attachReport(model, report);

// The dims of a value as texts with the symbol that colours each: [["batch", 0], ["64", -1]]; null without a rank.
function dimsOf(value) {
  if (value.rank < 0) return null;
  const out = [];
  for (let axis = 0; axis < value.rank; ++axis) {
    const [text, symbols] = model.sizes[model.spots[value.first + axis].size];
    out.push([text, symbols.length > 0 ? symbols[0] : -1]);
  }
  return out;
}

// The chain from an axis back to where its size comes from.
function chainOf(spot) {
  const kMostSteps = 200, out = [];
  for (let row = spot; row >= 0 && out.length < kMostSteps; row = model.spots[row].next) {
    const { value, index, entry, size, reason, next } = model.spots[row];
    const words = model.reasons[reason];
    out.push({ value: model.values[value], index, entry, size: model.sizes[size][0], before: words[0],
      after: words.length > 1 ? words[1] : "", next: words.length > 1 ? model.spots[next] : null });
  }
  return out;
}
