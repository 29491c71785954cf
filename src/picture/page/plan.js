// Memory over the steps of a plan, and the time of each where it was measured.

const plan = data.plan, times = data.times;
const kSvg = "http://www.w3.org/2000/svg", kWide = 1000, kHigh = 220;

function bytes(count) {
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  let at = 0;
  for (; count >= 1000 && at + 1 < units.length; ++at) count /= 1000;
  return (at === 0 ? count : count.toPrecision(3)) + " " + units[at];
}

function duration(nanoseconds) {
  const units = ["ns", "µs", "ms", "s"];
  let at = 0;
  for (; nanoseconds >= 1000 && at + 1 < units.length; ++at) nanoseconds /= 1000;
  return (at === 0 ? Math.round(nanoseconds) : nanoseconds.toPrecision(3)) + " " + units[at];
}

// Bytes in use at each step, from where values begin and end.
function liveBytes() {
  const change = new Array(plan.steps.length + 1).fill(0);
  for (const value of plan.values) {
    change[value.first] += value.bytes || 0;
    change[value.last + 1] -= value.bytes || 0;
  }
  let sum = 0;
  return change.slice(0, plan.steps.length).map((one) => (sum += one));
}

function shape(tag, attributes) {
  const element = document.createElementNS(kSvg, tag);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

let chosen = -1;

// A bar for each step under the largest number; a dashed line at `limit`.
function chart(title, about, numbers, limit, text) {
  const most = Math.max(1, limit || 0, ...numbers), wide = kWide / Math.max(1, numbers.length);
  const svg = shape("svg", { viewBox: `0 0 ${kWide} ${kHigh}`, preserveAspectRatio: "none", role: "img" });
  svg.setAttribute("aria-label", title);
  numbers.forEach((number, step) => {
    const high = number / most * kHigh;
    const bar = shape("rect",
      { x: step * wide, y: kHigh - high, width: Math.max(wide * 0.92, 0.3), height: high, class: "bar" });
    bar.dataset.step = step;
    const whole = shape("rect", { x: step * wide, y: 0, width: wide, height: kHigh, class: "catch" });
    whole.addEventListener("click", () => say(step));
    const hint = shape("title", {});
    hint.textContent = shown(step + " " + plan.steps[step].op + " " + plan.steps[step].name + ": " + text(number));
    whole.append(hint);
    svg.append(bar, whole);
  });
  if (limit) {
    const y = kHigh - limit / most * kHigh;
    svg.append(shape("line", { x1: 0, x2: kWide, y1: y, y2: y, class: "limit" }));
  }
  const scale = make("div", { class: "scale" }, [most, most / 2, 0].map((one) => make("span", {}, text(Math.round(one)))));
  const steps = make("div", { class: "steps" }, make("span", {}, "step 0"), make("span", {}, "step " + (numbers.length - 1)));
  return [make("h2", {}, title, make("span", { class: "faint" }, about)),
    make("div", { class: "chart" }, scale, svg, numbers.length > 1 ? steps : null)];
}

const live = liveBytes();

const valueLine = (value) =>
  make("li", {}, named(value.name || "(a copy)"), " ", make("span", { class: "dims" }, value.dtype + value.dims), " ",
    value.bytes === undefined ? "size depends on data" : bytes(value.bytes), ", slot " + value.slot +
    ", steps " + value.first + " to " + value.last);

function say(step) {
  const one = plan.steps[step];
  chosen = step;
  for (const bar of document.querySelectorAll(".bar")) bar.classList.toggle("chosen", bar.dataset.step === String(step));
  const held = plan.values.filter((value) => value.first <= step && step <= value.last)
    .sort((a, b) => (b.bytes || 0) - (a.bytes || 0));
  document.getElementById("choice").replaceChildren(
    make("h2", {}, "Step " + step + ": " + one.op), make("h3", {}, named(one.name)),
    make("p", {}, "kernel " + one.kernel + ", " + one.reason), make("p", {}, bytes(live[step]) + " in use"),
    times ? make("p", {}, duration(times[step])) : "", make("h2", {}, "Held at this step"),
    make("ul", {}, held.map(valueLine)));
}

const stepLink = (step, text) =>
  make("li", {}, link(step + " " + plan.steps[step].op + " " + plan.steps[step].name, () => say(step)), " " + text);

// The steps with the largest numbers.
function largest(title, numbers, text) {
  const order = numbers.map((_, i) => i).filter((i) => numbers[i] > 0).sort((a, b) => numbers[b] - numbers[a] || a - b);
  return [make("h2", {}, title), make("ol", {}, order.slice(0, 12).map((i) => stepLink(i, text(numbers[i]))))];
}

function slots() {
  return [make("h2", {}, "Slots"), make("ol", { start: 0 }, plan.slots.map((slot) =>
    make("li", {}, make("span", { class: "code" }, slot.formula), slot.bytes === undefined ? "" : " = " + bytes(slot.bytes),
      slot.stage > 0 ? ", stage " + slot.stage : "")))];
}

function start() {
  const light = make("button", { type: "button", onclick: () => wear(isDark() ? "light" : "dark") }, "Dark or light");
  const sum = (numbers) => numbers.reduce((all, one) => all + one, 0), top = Math.max(0, ...live);
  const main = make("main", { class: "charts", tabindex: "0", "aria-label": "Charts; left and right choose a step" },
    plan.steps.length === 0 ? make("p", { class: "empty" }, "The plan has no steps: nothing is left to compute.") : [
      chart("Memory in use", ", " + bytes(top) + " at most; dashed, the arena of " + bytes(plan.peak), live, plan.peak, bytes),
      times ? chart("Time", ", " + duration(sum(times)) + " in all", times, 0, duration) : []]);
  main.addEventListener("keydown", (event) => {
    const to = chosen + (event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : NaN);
    if (to >= 0 && to < plan.steps.length) say(to);
  });
  const aside = make("aside", {}, make("section", { id: "choice" }), largest("Most memory", live, bytes),
    times ? largest("Most time", times, duration) : [], slots());
  document.body.append(
    make("header", {}, make("h1", {}, named(data.model), make("span", { class: "faint" }, ", " + data.shapes + ", " +
      counted(plan.steps.length, "step"))), light), main, aside);
  wearPreferred();
}

start();
