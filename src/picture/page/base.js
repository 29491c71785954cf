// The data of the page, and how its text is shown. Everything a file controls passes shown().

const data = JSON.parse(document.getElementById("data").textContent);

// What would end a line, turn the direction of writing or not be seen, as an escape.
function shown(text) {
  return String(text).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (c) => "\\u{" + c.codePointAt(0).toString(16) + "}");
}

// An element with attributes and children: elements, or texts, which are shown().
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key === "onclick") element.addEventListener("click", value);
    else element.setAttribute(key, value);
  }
  for (const child of children.flat(Infinity))
    if (child instanceof Node) element.append(child);
    else if (child !== null && child !== undefined) element.append(shown(child));
  return element;
}

const counted = (count, what) => count + " " + what + (count === 1 ? "" : "s");
const named = (text) => make("span", { class: "text" }, text);
const link = (text, act) => make("button", { class: "link text", type: "button", onclick: act }, text);

// A colour of CSS that goes with the theme.
const colour = (symbol) => "hsl(" + (210 + symbol * 137.508) % 360 + " 75% var(--light))";

const isDark = () => document.documentElement.dataset.theme === "dark";
const wear = (theme) => {
  document.documentElement.dataset.theme = theme;
  document.dispatchEvent(new Event("worn"));
};
const wearPreferred = () => wear(window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
