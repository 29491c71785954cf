// The drawing: groups that are open hold the drawing of their level. Only what is in view is drawn.

const kGap = 26, kLayerGap = 54, kPad = 22, kTitle = 24, kBend = 14, kFont = "12px system-ui, sans-serif";
const open = new Set(), placed = new Map();
const view = { x: 0, y: 0, scale: 1 };
let canvas = null, pen = null, chosen = null, hits = [], style = {};

function short(name, most) {
  const clean = shown(name);
  return clean.length <= most ? clean : "…" + clean.slice(clean.length - most + 1);
}

function cut(text, most) {
  const clean = shown(text);
  return clean.length <= most ? clean : clean.slice(0, most - 1) + "…";
}

function lastPart(name) { return name.slice(name.lastIndexOf("/") + 1); }

// Two lines at most; a name that says no more than the operator is left out.
function words(item) {
  if (item.kind === kGroup) {
    const { title, count } = model.levels[item.level];
    return [short(title, 34), counted(count, "node")];
  }
  if (item.kind !== kNode) return [short(model.values[item.ref].name, 34), ""];
  const { op, name } = model.nodes[item.ref], last = short(lastPart(name), 28);
  return [cut(op, 34), last === op ? "" : last];
}

function opens(item) { return item.level >= 0 && (item.kind === kNode || item.kind === kGroup); }

// Of each character, which is measured once: there are many texts and few characters.
const widths = new Map();
function widthOf(text) {
  let sum = 0;
  for (const c of text) {
    if (!widths.has(c)) {
      pen.font = kFont;
      widths.set(c, pen.measureText(c).width);
    }
    sum += widths.get(c);
  }
  return sum;
}

function sizeOf(item) {
  const lines = words(item);
  const width = Math.max(widthOf((opens(item) ? "+ " : "") + lines[0]), widthOf(lines[1])) + 24;
  const closed = { w: Math.max(70, width), h: item.kind >= kInput ? 24 : lines[1] ? 42 : 30 };
  if (!opens(item) || !open.has(item.level)) return closed;
  const inner = place(item.level);
  return { w: Math.max(closed.w, inner.w + 2 * kPad), h: inner.h + kTitle + 2 * kPad, inner };
}

// Centres in one layer as near as may be to those wanted, in the order given.
function spread(layer, boxes, wanted) {
  const apart = (a, b) => (boxes[a].w + boxes[b].w) / 2 + kGap;
  const right = [], left = [];
  for (let i = 0; i < layer.length; ++i)
    right.push(i === 0 ? wanted[0] : Math.max(wanted[i], right[i - 1] + apart(layer[i - 1], layer[i])));
  for (let i = layer.length - 1; i >= 0; --i)
    left[i] = i === layer.length - 1 ? wanted[i] : Math.min(wanted[i], left[i + 1] - apart(layer[i], layer[i + 1]));
  layer.forEach((point, i) => { boxes[point].cx = (right[i] + left[i]) / 2; });
}

function linesOf(level, count) {
  const above = Array.from({ length: count }, () => []), below = Array.from({ length: count }, () => []);
  for (const wire of level.wires) {
    if (wire.far) continue;
    const way = [wire.from, ...wire.bends, wire.to];
    for (let i = 0; i + 1 < way.length; ++i) {
      below[way[i]].push(way[i + 1]);
      above[way[i + 1]].push(way[i]);
    }
  }
  return { above, below };
}

// The boxes and bends of a level, from (0, 0) on.
function place(id) {
  if (placed.has(id)) return placed.get(id);
  const level = model.levels[id], boxes = level.items.map((item) => ({ item, ...sizeOf(item) }));
  for (const layer of level.layers) for (const point of layer) if (!boxes[point]) boxes[point] = { w: kBend, h: 0 };
  let y = 0;
  for (const layer of level.layers) {
    const h = Math.max(0, ...layer.map((point) => boxes[point].h));
    let x = 0;
    for (const point of layer) {
      const box = boxes[point];
      box.cx = x + box.w / 2;
      box.y = box.item ? y + (h - box.h) / 2 : y;
      box.row = h;
      x += box.w + kGap;
    }
    for (const point of layer) boxes[point].cx -= x / 2;
    y += h + kLayerGap;
  }
  const { above, below } = linesOf(level, boxes.length);
  for (let sweep = 0; sweep < 6; ++sweep) {
    const near = sweep % 2 === 0 ? above : below;
    const layers = sweep % 2 === 0 ? level.layers : [...level.layers].reverse();
    for (const layer of layers)
      spread(layer, boxes, layer.map((point) => near[point].length === 0 ? boxes[point].cx :
        near[point].reduce((sum, other) => sum + boxes[other].cx, 0) / near[point].length));
  }
  const left = boxes.reduce((least, box) => Math.min(least, box.cx - box.w / 2), Infinity);
  let w = 0;
  for (const box of boxes) {
    box.x = box.cx - box.w / 2 - left;
    w = Math.max(w, box.x + box.w);
  }
  const out = { level, boxes, w: boxes.length ? w : 0, h: Math.max(0, y - kLayerGap) };
  placed.set(id, out);
  return out;
}

// Where lines leave and reach each box, side by side in the order of what they lead to.
function fan(drawn) {
  if (drawn.ends) return drawn.ends;
  const { level, boxes } = drawn, from = [], to = [];
  const centre = (point) => boxes[point].x + boxes[point].w / 2;
  level.wires.forEach((wire, i) => {
    const way = [wire.from, ...wire.bends, wire.to];
    (from[wire.from] ||= []).push([centre(way[1]), i]);
    (to[wire.to] ||= []).push([centre(way[way.length - 2]), i]);
  });
  const at = (lists) => {
    const out = [];
    lists.forEach((list, point) => list.sort((a, b) => a[0] - b[0] || a[1] - b[1]).forEach(([, wire], k) => {
      out[wire] = boxes[point].x + boxes[point].w * (k + 1) / (list.length + 1);
    }));
    return out;
  };
  const count = (lists) => boxes.map((_, point) => (lists[point] || []).length);
  drawn.ends = { from: at(from), to: at(to), leaving: count(from), reaching: count(to), labels: [] };
  for (const list of from) labelsOf(level, list || [], drawn.ends);
  return drawn.ends;
}

// One label for all lines that carry the same values out of a box, between these lines.
function labelsOf(level, lines, ends) {
  const same = new Map();
  for (const [, i] of lines) {
    const key = level.wires[i].values.join();
    if (!same.has(key)) same.set(key, []);
    same.get(key).push(i);
  }
  for (const wires of same.values()) {
    const x = wires.reduce((sum, i) => sum + ends.from[i], 0) / wires.length;
    ends.labels.push({ x, wire: level.wires[wires[0]] });
  }
}

const inView = (x, y, w, h) => {
  const left = -view.x / view.scale, top = -view.y / view.scale;
  return x <= left + canvas.clientWidth / view.scale && x + w >= left && y <= top + canvas.clientHeight / view.scale &&
    y + h >= top;
};

const isChosen = (kind, ref) => chosen !== null && chosen.kind === kind && chosen.ref === ref;

function curve(points) {
  pen.beginPath();
  pen.moveTo(points[0][0], points[0][1]);
  for (let i = 1; i < points.length; ++i) {
    const [ax, ay] = points[i - 1], [bx, by] = points[i], my = (ay + by) / 2;
    if (ax === bx) pen.lineTo(bx, by);
    else pen.bezierCurveTo(ax, my, bx, my, bx, by);
  }
  pen.stroke();
}

// Where a line that comes from above ends.
function arrow([x, y]) {
  pen.beginPath();
  pen.moveTo(x, y);
  pen.lineTo(x - 3.5, y - 7);
  pen.lineTo(x + 3.5, y - 7);
  pen.fillStyle = pen.strokeStyle;
  pen.fill();
}

// Lines of a box that has many are thinner, or they would be one black area.
const strength = (count) => Math.max(0.25, Math.min(1, 30 / count));

// The dims of what a line carries, each in the colour of its symbol; clicked, they choose the value.
function label(wire, x, y) {
  const value = model.values[wire.values[0]], dims = wire.values.length === 1 ? dimsOf(value) : null;
  const parts = wire.values.length > 1 ? [[wire.values.length + " values", -1]] :
    dims === null ? [[short(value.type, 30), -1]] :
      dims.flatMap(([text, symbol], i) => [[i > 0 ? " × " : "", -1], [cut(text, 24), symbol]]);
  if (dims !== null && dims.length === 0) parts.push(["scalar", -1]);
  pen.font = "11px ui-monospace, monospace";
  const width = parts.reduce((sum, [text]) => sum + pen.measureText(text).width, 0);
  let at = x - width / 2;
  pen.fillStyle = style.back;
  pen.fillRect(at - 3, y - 8, width + 6, 15);
  for (const [text, symbol] of parts) {
    pen.fillStyle = symbol >= 0 ? style.symbols[symbol] : style.faint;
    pen.fillText(text, at, y);
    at += pen.measureText(text).width;
  }
  hits.push({ x: x - width / 2 - 3, y: y - 8, w: width + 6, h: 15, kind: "wire", wire });
}

function drawWire(drawn, i, dx, dy) {
  const wire = drawn.level.wires[i], { boxes } = drawn, ends = fan(drawn), a = boxes[wire.from], b = boxes[wire.to];
  const start = [ends.from[i] + dx, a.y + a.h + dy], end = [ends.to[i] + dx, b.y + dy];
  const points = [start];
  for (const bend of wire.bends) {
    const box = boxes[bend], x = box.x + box.w / 2 + dx;
    points.push([x, box.y + dy], [x, box.y + box.row + dy]);
  }
  points.push(end);
  const left = Math.min(...points.map((p) => p[0])), right = Math.max(...points.map((p) => p[0]));
  if (!inView(left - 80, start[1], right - left + 160, end[1] - start[1])) return;
  const marked = wire.values.some((value) => isChosen("value", value)) ||
    isChosen("node", a.item.ref) && a.item.kind === kNode || isChosen("node", b.item.ref) && b.item.kind === kNode;
  pen.strokeStyle = marked ? style.mark : style.edge;
  pen.lineWidth = marked ? 2 : 1;
  pen.globalAlpha = marked ? 1 : strength(Math.max(ends.leaving[wire.from], ends.reaching[wire.to]));
  pen.setLineDash(wire.far ? [4, 4] : []);
  if (!wire.far || marked) curve(points);
  else {
    curve([start, [start[0], start[1] + 18]]);
    curve([[end[0], end[1] - 18], end]);
  }
  pen.setLineDash([]);
  if (view.scale > 0.3 && inView(end[0] - 4, end[1] - 8, 8, 8)) arrow(end);
  pen.globalAlpha = 1;
}

function drawBox(box, dx, dy) {
  const x = box.x + dx, y = box.y + dy, { item } = box;
  if (!inView(x, y, box.w, box.h)) return;
  const node = item.kind === kNode ? model.nodes[item.ref] : null;
  const kind = item.kind >= kInput ? "value" : node ? "node" : "group";
  const ref = kind === "group" ? item.level : item.ref;
  pen.beginPath();
  pen.roundRect(x, y, box.w, box.h, item.kind >= kInput ? 12 : 5);
  pen.fillStyle = opens(item) ? style.group : style.box;
  pen.fill();
  pen.strokeStyle = isChosen(kind, ref) ? style.mark : node && node.demands.length ? style.bad :
    node && node.findings.length ? style.warn : style.line;
  pen.lineWidth = isChosen(kind, ref) || node && (node.demands.length || node.findings.length) ? 2 : 1;
  pen.stroke();
  hits.push({ x, y, w: box.w, h: box.h, kind, ref, item });
  if (view.scale * box.w < 18) return;
  const [first, second] = words(item);
  pen.fillStyle = style.text;
  pen.font = kFont;
  pen.textAlign = "center";
  const mid = x + box.w / 2;
  if (box.inner) pen.fillText("− " + first + (node && second ? "  " + second : ""), mid, y + kTitle / 2 + 2);
  else pen.fillText((opens(item) ? "+ " : "") + first, mid, y + (second ? 14 : box.h / 2));
  pen.fillStyle = style.faint;
  if (second && !box.inner) pen.fillText(second, mid, y + 30);
  pen.textAlign = "left";
  if (box.inner) drawLevel(box.inner, mid - box.inner.w / 2, y + kTitle + kPad);
}

function drawLevel(drawn, dx, dy) {
  drawn.level.wires.forEach((_, i) => drawWire(drawn, i, dx, dy));
  for (const box of drawn.boxes) if (box.item) drawBox(box, dx, dy);
  if (view.scale < 0.55) return;
  for (const { x, wire } of fan(drawn).labels) {
    const box = drawn.boxes[wire.from], y = box.y + box.h + dy + 17;
    if (inView(x + dx - 150, y, 300, 1)) label(wire, x + dx, y);
  }
}

function readStyle() {
  const css = getComputedStyle(document.documentElement);
  for (const key of ["back", "box", "group", "line", "edge", "mark", "text", "faint", "bad", "warn"])
    style[key] = css.getPropertyValue("--" + key).trim();
  const light = css.getPropertyValue("--light").trim();
  style.symbols = model.symbols.map((_, i) => colour(i).replace("var(--light)", light));
}

function draw() {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = canvas.clientWidth * ratio;
  canvas.height = canvas.clientHeight * ratio;
  pen.setTransform(ratio * view.scale, 0, 0, ratio * view.scale, ratio * view.x, ratio * view.y);
  pen.textBaseline = "middle";
  hits = [];
  drawLevel(place(model.top), 0, 0);
}

let waiting = false;
function redraw() {
  if (waiting || !canvas) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; draw(); });
}

function toggle(level) {
  if (!open.delete(level)) open.add(level);
  placed.clear();
  redraw();
}
