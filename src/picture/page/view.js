// What is seen of the drawing: which groups are open, where it stands, how large it is.

// Few things at first: groups open while what is seen stays small.
function openFirst() {
  const kSeen = 25;
  let seen = model.levels[model.top].items.length;
  const todo = [model.top];
  while (todo.length) {
    for (const item of model.levels[todo.shift()].items) {
      if (!opens(item) || seen + model.levels[item.level].items.length > kSeen) continue;
      seen += model.levels[item.level].items.length;
      open.add(item.level);
      todo.push(item.level);
    }
  }
}

function openAll() {
  for (const level of model.levels) open.add(level.id);
  placed.clear();
  fit(kReadable);
}

function closeAll() {
  open.clear();
  placed.clear();
  fit(kReadable);
}

const kLeastScale = 0.01, kMostScale = 3, kReadable = 0.9;

// All of it, but no smaller than `least`: what has no place is begun with, at its top.
function fit(least) {
  const drawn = place(model.top), { w, h } = drawn, pad = 30, wide = canvas.clientWidth, high = canvas.clientHeight;
  view.scale = Math.min(1.2, Math.max(least, Math.min((wide - pad) / w, (high - pad) / h)));
  const first = drawn.level.layers.flat().find((point) => drawn.boxes[point].item), box = drawn.boxes[first];
  const middle = w * view.scale + pad > wide && box ? box.x + box.w / 2 : w / 2;
  view.x = wide / 2 - middle * view.scale;
  view.y = Math.max(pad / 2, (high - h * view.scale) / 2);
  redraw();
}

// Where a box of a level is drawn, once all that holds it is open.
function whereIs(id, wanted) {
  const level = model.levels[id], box = place(id).boxes.find((one) => one.item && wanted(one.item));
  let x = box.x + box.w / 2, y = box.y + box.h / 2;
  for (let at = level; at.id !== model.top; at = model.levels[at.parent]) {
    const holder = place(at.parent).boxes.find((one) => one.item && one.item.level === at.id);
    x += holder.x + (holder.w - place(at.id).w) / 2;
    y += holder.y + kTitle + kPad;
  }
  return [x, y];
}

// Opens what holds a box, and moves it to the middle unless it is in view already.
function reveal(id, wanted) {
  for (let at = model.levels[id]; at.id !== model.top; at = model.levels[at.parent]) open.add(at.id);
  placed.clear();
  const [x, y] = whereIs(id, wanted), margin = 40 / view.scale;
  const seen = inView(x - margin, y - margin, 0, 0) && inView(x + margin, y + margin, 0, 0);
  if (seen && view.scale >= 0.55) return redraw();
  view.scale = Math.max(view.scale, 0.8);
  view.x = canvas.clientWidth / 2 - x * view.scale;
  view.y = canvas.clientHeight / 2 - y * view.scale;
  redraw();
}

function hitAt(event) {
  const x = (event.offsetX - view.x) / view.scale, y = (event.offsetY - view.y) / view.scale;
  const holds = (hit) => x >= hit.x && x <= hit.x + hit.w && y >= hit.y && y <= hit.y + hit.h;
  return hits.filter(holds).pop() || null;
}

// By a factor; what is at (x, y) stays there.
function zoom(factor, x, y) {
  const scale = Math.min(kMostScale, Math.max(kLeastScale, view.scale * factor));
  view.x = x - (x - view.x) * scale / view.scale;
  view.y = y - (y - view.y) * scale / view.scale;
  view.scale = scale;
  redraw();
}

function move(x, y) {
  view.x += x;
  view.y += y;
  redraw();
}

// What a key does while the drawing has the focus.
const kKeys = {
  ArrowLeft: () => move(80, 0), ArrowRight: () => move(-80, 0),
  ArrowUp: () => move(0, 80), ArrowDown: () => move(0, -80),
  PageUp: () => move(0, canvas.clientHeight * 0.9), PageDown: () => move(0, -canvas.clientHeight * 0.9),
  "+": () => zoom(1.25, canvas.clientWidth / 2, canvas.clientHeight / 2),
  "=": () => zoom(1.25, canvas.clientWidth / 2, canvas.clientHeight / 2),
  "-": () => zoom(0.8, canvas.clientWidth / 2, canvas.clientHeight / 2),
  0: () => fit(kLeastScale), Home: () => fit(kReadable),
};

// `act` is called with what is clicked, null for nothing.
function listen(act) {
  let from = null, moved = false;
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(kKeys, event.key)) return;
    event.preventDefault();
    kKeys[event.key]();
  });
  canvas.addEventListener("pointerdown", (event) => {
    from = { x: event.clientX - view.x, y: event.clientY - view.y, at: [event.clientX, event.clientY] };
    moved = false;
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!from) return;
    moved ||= Math.hypot(event.clientX - from.at[0], event.clientY - from.at[1]) > 3;
    if (!moved) return;
    view.x = event.clientX - from.x;
    view.y = event.clientY - from.y;
    redraw();
  });
  canvas.addEventListener("pointerup", (event) => {
    if (from && !moved) act(hitAt(event));
    from = null;
  });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(Math.exp(-event.deltaY * 0.0015), event.offsetX, event.offsetY);
  }, { passive: false });
}
