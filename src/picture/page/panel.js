// What is said beside the drawing: the report, what is chosen, the search.

let panel = null, choice = null;

function dims(value) {
  const known = dimsOf(value);
  if (known === null) return make("span", { class: "dims" }, value.type);
  const parts = known.flatMap(([text, symbol], i) =>
    [i > 0 ? ", " : "", symbol < 0 ? text : make("span", { style: "color:" + colour(symbol) }, text)]);
  return make("span", { class: "dims" }, value.type + "[", parts, "]");
}

// A type of the report, in the colours of the picture where it has that value.
function typed(entry) {
  const value = model ? model.values.find((one) => one.name === entry.name) : null;
  return make("li", {}, value ? link(entry.name, () => choose("value", value.id)) : named(entry.name), " ",
    value ? dims(value) : make("span", { class: "dims" }, entry.type));
}

function nodeNamed(name) {
  const node = model ? model.byName.get(name) : null;
  return node ? link(name, () => choose("node", node.id)) : named(name);
}

const reasonLine = (reason) =>
  make("li", {}, nodeNamed(reason.node), " (", named(reason.op), "): ", named(reason.sentence));
const list = (title, entries) => entries.length === 0 ? [] : [make("h2", {}, title), make("ul", {}, entries)];
const conditionLine = (condition) =>
  make("li", {}, make("span", { class: "code" }, condition.text), make("ul", {}, condition.because.map(reasonLine)));

// "make it dynamic: anyshape fix ...", the command as one to copy.
function fixLines(fix) {
  const at = fix.indexOf(": anyshape ");
  if (at < 0) return make("p", { class: "faint" }, "Fix: " + fix);
  return [make("p", { class: "faint" }, "Fix: " + fix.slice(0, at + 1)),
    make("span", { class: "code command" },
      fix.slice(at + 2).split(" ").flatMap((word) => [make("span", {}, word), " "]))];
}

function findingLine(finding) {
  const grade = finding.severity === "error" ? "bad" : finding.severity === "warning" ? "warn" : "faint";
  return make("li", {}, make("span", { class: grade }, finding.severity + " " + finding.rule), " ",
    finding.node ? [nodeNamed(finding.node), ": "] : null, named(finding.message),
    finding.fix ? fixLines(finding.fix) : null);
}

function answerLine(shapes, answer) {
  const text = Object.entries(shapes).map(([name, sizes]) => name + "=" + (sizes.join("x") || "scalar")).join(" ");
  return make("li", {}, named(text), ": ", answer.answer === "accept" ? make("span", { class: "good" }, "accept") :
    [make("span", { class: "bad" }, answer.answer + " " + answer.code), " ", named(answer.sentence)]);
}

function proofLine(title, proof) {
  if (!proof) return [];
  return [make("h2", {}, title), make("p", {}, proof.answer, proof.why ? ": " + proof.why : ""),
    proof.shapes ? make("ul", {}, answerLine(proof.shapes, proof.verdict)) : null];
}

function verdict() {
  const { accepted, error } = report;
  if (error) return make("p", { class: "bad" }, "error[" + error.code + "] " + error.place + ": " + error.sentence);
  if (accepted.never) return make("p", { class: "bad" }, "No shape is accepted.");
  if (accepted.conditions.length === 0) return make("p", { class: "good" }, "Every shape of the declared sizes.");
  return make("p", {}, "The declared sizes, if and only if:");
}

function exactness() {
  const { accepted, error } = report;
  if (error || accepted.never) return [];
  if (accepted.exact) return make("p", { class: "faint" }, "Exact: these and no others.");
  return [make("p", { class: "warn" }, "Not exact: the true set may be smaller."),
    make("ul", {}, accepted.not_exact_because.map(reasonLine))];
}

function rowsLine(rows) {
  const start = ["Along ", make("span", { class: "code" }, rows.symbol), ": "];
  if (rows.independent) return make("li", {}, start, make("span", { class: "good" }, "independent, proved"));
  const { node, op, sentence } = rows.mixed_by;
  return make("li", {}, start, "not proved to be independent: ",
    node ? [nodeNamed(node), " (", named(op), "): "] : null, named(sentence));
}

function reportParts() {
  const { accepted } = report;
  if (report.error) return [make("h2", {}, "This file cannot be read"), verdict()];
  return [
    make("h2", {}, "Accepted shapes"), verdict(), make("ul", {}, accepted.conditions.map(conditionLine)), exactness(),
    accepted.largest_axis ? make("p", { class: "faint" }, "For axes up to " + accepted.largest_axis + ".") : null,
    list("Inputs", report.inputs.map(typed)), list("Outputs", report.outputs.map(typed)),
    list("Inputs with a default", (report.optional_inputs || []).map(typed)),
    list("Findings", report.findings.map(findingLine)), list("Rows", (report.rows || []).map(rowsLine)),
    list("Conditions on sizes that depend on data", accepted.on_data.map(conditionLine)),
    list("Conditions on the data", report.data_conditions.map(reasonLine)),
    list("Assumed by the exporter", report.assumed.map((one) =>
      make("li", {}, make("span", { class: "code" }, one.text), one.origin ? " (" + one.origin + ")" : ""))),
    list("Shapes asked for", (report.answers || []).map((one) => answerLine(one.shapes, one.verdict))),
    proofLine("Required set", report.require), proofLine("Against the older model", report.against),
  ];
}

const entriesOf = (value) => value.entries ? [" = ", make("span", { class: "code" }, value.entries)] : null;
const valueLine = (id) => id < 0 ? make("li", { class: "faint" }, "(none)") :
  make("li", {}, link(model.values[id].name, () => choose("value", id)), " ", dims(model.values[id]),
    entriesOf(model.values[id]), model.values[id].constant ? " constant" : "");
const nodeLine = (id) =>
  make("li", {}, link(model.nodes[id].name, () => choose("node", id)), " (", named(model.nodes[id].op), ")");

function aboutNode(node) {
  return [
    make("h2", {}, node.op), make("h3", {}, named(node.name)),
    node.folded ? make("p", { class: "faint" }, "Not drawn: it computes from sizes and constants only.") : null,
    list("Demands", node.demands.map((one) =>
      make("li", {}, make("span", { class: "code" }, one.text), ": ", named(one.sentence)))),
    list("Findings", node.findings.map(findingLine)),
    list("Attributes", node.attributes.map((text) => make("li", { class: "code" }, text))),
    list("Reads", node.ins.map(valueLine)), list("Makes", node.outs.map(valueLine)),
  ];
}

function stepLine(step) {
  const maker = step.value.maker >= 0 ? model.nodes[step.value.maker] : null;
  return make("li", {}, link(step.value.name, () => choose("value", step.value.id)),
    (step.entry ? " entry " : " axis ") + step.index + " = ", make("span", { class: "code" }, step.size),
    maker ? [", node ", link(maker.name, () => choose("node", maker.id)), " (", named(maker.op), ")"] : null, ": ",
    named(step.before), step.next ? [(step.next.entry ? "entry " : "axis ") + step.next.index + " of ",
      named('"' + model.values[step.next.value].name + '"')] : null, named(step.after));
}

const kFewSteps = 12;

function aboutValue(value) {
  const axes = [];
  for (let axis = 0; axis < Math.max(0, value.rank); ++axis) {
    const size = model.sizes[model.spots[value.first + axis].size][0], chain = chainOf(value.first + axis);
    axes.push(make("details", chain.length <= kFewSteps ? { open: "" } : {},
      make("summary", {}, "Axis " + axis + " = ", make("span", { class: "code" }, size),
        make("span", { class: "faint" }, ", " + counted(chain.length, "step"))),
      make("ol", {}, chain.map(stepLine))));
  }
  return [
    make("h2", {}, "Value"), make("h3", {}, named(value.name)), make("p", {}, dims(value), entriesOf(value)),
    value.constant ? make("p", { class: "faint" }, "A constant of the file.") : null,
    list("Made by", value.maker >= 0 ? [nodeLine(value.maker)] : []), list("Read by", value.readers.map(nodeLine)),
    axes.length ? make("h2", {}, "Why each axis is what it is") : null, axes,
  ];
}

function aboutGroup(level) {
  return [make("h2", {}, "Group"), make("h3", {}, named(level.title)), make("p", {}, counted(level.count, "node")),
    make("p", {}, link(open.has(level.id) ? "Close it" : "Open it", () => {
      toggle(level.id);
      say("group", level.id);
    }))];
}

function say(kind, ref) {
  const parts = kind === "node" ? aboutNode(model.nodes[ref]) : kind === "value" ? aboutValue(model.values[ref]) :
    kind === "group" ? aboutGroup(model.levels[ref]) :
      [make("h2", {}, "Values"), make("ul", {}, ref.values.map(valueLine))];
  choice.replaceChildren(...parts.flat(3).filter((one) => one !== null));
  panel.scrollTop = 0;
}

// Where a value is drawn: beside its maker, its first reader that is drawn, or as an input.
function showValue(value) {
  const near = [value.maker, ...value.readers].find((id) => id >= 0 && model.nodes[id].level >= 0);
  if (near !== undefined) return reveal(model.nodes[near].level, (item) => item.kind === kNode && item.ref === near);
  const level = model.levels.find((one) => one.items.some((item) => item.kind >= kInput && item.ref === value.id));
  if (level) reveal(level.id, (item) => item.kind >= kInput && item.ref === value.id);
}

function choose(kind, ref, stay) {
  chosen = { kind, ref };
  say(kind, ref);
  if (stay) return redraw();
  const node = kind === "node" ? model.nodes[ref] : null;
  if (node && node.level >= 0) reveal(node.level, (item) => item.kind === kNode && item.ref === node.id);
  else if (kind === "value") showValue(model.values[ref]);
  redraw();
}

function clicked(hit) {
  if (!hit) {
    chosen = null;
    choice.replaceChildren();
    return redraw();
  }
  if (hit.kind === "wire" && hit.wire.values.length > 1) return say("wire", hit.wire);
  if (hit.kind === "wire") return choose("value", hit.wire.values[0], true);
  if (hit.kind === "group") toggle(hit.ref);
  else if (hit.item.level >= 0) toggle(hit.item.level);
  choose(hit.kind, hit.ref, true);
}

function found(text) {
  const kMost = 60, wanted = text.toLowerCase(), lines = [];
  let count = 0;
  const add = (line) => { if (++count <= kMost) lines.push(line()); };
  for (const node of model.nodes)
    if ((node.name + " " + node.op).toLowerCase().includes(wanted)) add(() => nodeLine(node.id));
  for (const value of model.values) if (value.name.toLowerCase().includes(wanted)) add(() => valueLine(value.id));
  return [make("h2", {}, count + " found" + (count > kMost ? ", the first " + kMost : "")), make("ul", {}, lines)];
}

function search(field) {
  const text = field.value.trim();
  choice.replaceChildren(...(text ? found(text) : []));
  panel.scrollTop = 0;
}

function header() {
  const field = make("input", { type: "search", placeholder: "Search nodes and values", "aria-label": "Search" });
  field.addEventListener("input", () => search(field));
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") choice.querySelector(".link")?.click();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") clicked(null);
    if (event.key !== "/" || event.target === field) return;
    event.preventDefault();
    field.focus();
  });
  const button = (text, act) => make("button", { type: "button", onclick: act }, text);
  const opset = report.opset ? ", opset " + report.opset : "";
  const about = report.error ? "" : opset + ", " + counted(report.nodes, "node");
  return make("header", {}, make("h1", {}, named(report.model), make("span", { class: "faint" }, about)),
    model ? [field, button("Fit", () => fit(kLeastScale)), button("Open all", openAll),
      button("Close all", closeAll)] : null,
    button("Dark or light", () => wear(isDark() ? "light" : "dark")));
}

// Paper is white, and takes what is in view and all of the text.
function listenToPrint() {
  let worn = null, closed = [];
  window.addEventListener("beforeprint", () => {
    worn = document.documentElement.dataset.theme;
    closed = [...document.querySelectorAll("details:not([open])")];
    for (const one of closed) one.open = true;
    wear("light");
    if (canvas) draw();
  });
  window.addEventListener("afterprint", () => {
    for (const one of closed) one.open = false;
    wear(worn);
  });
}

function start() {
  choice = make("section", { id: "choice" });
  panel = make("aside", {}, choice, make("section", { id: "report" }, reportParts().flat(3)));
  const main = make("main", {});
  document.body.append(header(), main, panel);
  wearPreferred();
  listenToPrint();
  if (!model) return void main.append(make("p", { class: "empty" }, "There is no graph to show."));
  canvas = make("canvas", { tabindex: "0", role: "img", "aria-label":
    "The graph. Arrows move it, plus and minus zoom, 0 shows all of it; the search finds all that is drawn" });
  main.append(canvas);
  pen = canvas.getContext("2d");
  readStyle();
  openFirst();
  listen(clicked);
  document.addEventListener("worn", () => {
    readStyle();
    redraw();
  });
  window.addEventListener("resize", redraw);
  fit(kReadable);
}

start();
