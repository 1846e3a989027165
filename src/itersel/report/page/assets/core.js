"use strict";
// Shared by all parts of the page. Texts of a run are inserted into the document as text, never as HTML.
const page = {
  data: JSON.parse(document.getElementById("data").textContent),
  charts: JSON.parse(document.getElementById("charts").textContent),
  // Okabe and Ito's palette, without the yellow, which is invisible on white paper
  palettes: {
    light: ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#B07A00", "#3A9BD9", "#111111", "#7A5195"],
    dark: ["#56B4E9", "#E69F00", "#2BC48A", "#E79AC8", "#F0E442", "#9BB8FF", "#FFFFFF", "#FF7F50"],
  },
  dashes: [[], [6, 3], [2, 3], [9, 3, 2, 3], [], [6, 3], [2, 3], [9, 3, 2, 3]],
  // functions that redraw when the colours change
  painters: [],
};

page.make = function (tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name in node && typeof value !== "string") node[name] = value;
    else node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
};

page.isDark = () => document.documentElement.dataset.theme === "dark";

page.number = (value, digits = 2) =>
  value === null || value === undefined
    ? "–"
    : Number.isInteger(value)
      ? value.toLocaleString("en")
      : Math.abs(value) >= 0.01 || value === 0
        ? value.toLocaleString("en", { maximumFractionDigits: digits, minimumFractionDigits: digits })
        : value.toPrecision(3);

// Decodes a value that the page stores as JSON, compressed with gzip and encoded in base64.
page.unpack = async function (text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
};

// Explains a feature, given by its name.
page.explain = (name) => page.data.explanations.find(([one]) => name === one || (/[:_]/.test(one) && name.startsWith(one)))?.[1];

// Lets the name of a feature be broken between its parts instead of within words.
page.breakable = (name) => page.make("bdi", {}, ...name.split(/(?<=[:_])/).flatMap((part, i) => (i ? [page.make("wbr"), part] : [part])));

// Returns the labels of names, a Map: no two are equal, and none is much longer than `most`. Names of a grid's
// experiments lose the parts that all of them share.
page.labels = function (names, most = 22) {
  const all = [...new Set(names)];
  if (all.every((name) => name.length <= most)) return new Map(all.map((name) => [name, name]));
  const parts = all.map((name) => name.split(/(?<=[-/])/));
  const same = (place) => parts.every((one) => one[place] === parts[0][place]);
  const isGrid = parts.every((one) => one.length === parts[0].length);
  let prefix = 0;
  while (same(prefix) && parts.every((one) => prefix < one.length - 1)) prefix++;
  const isShared = (place) => all.length > 1 && (place < prefix || (isGrid && same(place)));
  const labels = parts.map((one) =>
    one.map((part, place) => (isShared(place) ? "…" : part)).join("").replace(/-?…+/g, "…").replace(/-$/, ""));
  const cut = (text) => (text.length <= most ? text : `${text.slice(0, most / 2 - 1)}…${text.slice(-most / 2)}`);
  const short = labels.map(cut);
  const count = (label) => short.filter((one) => one === label).length;
  return new Map(all.map((name, place) => [name, count(short[place]) > 1 ? `${place + 1}: ${short[place]}` : short[place]]));
};

// Writes a rule: words, and gaps as negative numbers.
page.rule = function (source, target) {
  const side = (symbols) => page.make("bdi", {}, ...symbols.flatMap((symbol, i) =>
    [i ? " " : "", typeof symbol === "number" ? page.make("span", { class: "gap" }, `X${-symbol}`) : symbol]));
  return [side(source), " → ", side(target)];
};

// Returns the two sides of a rule that is a feature (template R); null if the name cannot be taken apart: if there are
// more colons, an empty word, or other gaps on one side than on the other. An underscore within a word cannot be told
// from one between words, and becomes a space.
page.sides = function (name) {
  const [, source, target, ...more] = name.match(/^R:[^:_]+:([^:]+):([^:]+)$/) ?? [];
  if (!source || more.length || [source, target].some((side) => side.split("_").includes(""))) return null;
  let gaps = 0;
  const sides = [
    source.split("_").map((symbol) => (symbol === "NX" ? -++gaps : symbol)),
    target.split("_").map((symbol) => (/^N[12]$/.test(symbol) ? -Number(symbol[1]) : symbol)),
  ];
  const [left, right] = sides.map((side) => side.filter((symbol) => typeof symbol === "number").sort().join());
  return left === right ? sides : null;
};

page.fill = function (select, names, chosen) {
  const labels = page.labels(names, 30);
  select.replaceChildren(...names.map((name) => page.make("option", { value: name, title: name }, labels.get(name))));
  if (chosen !== undefined) select.value = chosen;
};

// Makes the key of a line, as a legend has it.
page.key = function (color, dash) {
  const [key, line] = ["svg", "line"].map((tag) => document.createElementNS("http://www.w3.org/2000/svg", tag));
  key.setAttribute("class", "key");
  key.setAttribute("aria-hidden", "true");
  key.append(line);
  if (color) page.draw(key, color, dash);
  return key;
};

page.draw = function (key, color, dash) {
  const line = { x1: 0, x2: 26, y1: 6, y2: 6, stroke: color, "stroke-width": 3, "stroke-dasharray": dash.join(" ") };
  for (const [name, value] of Object.entries(line)) key.firstChild.setAttribute(name, value);
};

(function chooseTheme() {
  const select = document.getElementById("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  // browsers may deny storage to local files
  try {
    select.value = localStorage.getItem("itersel-theme") || "";
  } catch {
    select.value = "";
  }
  let isPrinting = false;
  const apply = () => {
    const theme = isPrinting ? "light" : select.value || (system.matches ? "dark" : "light");
    if (document.documentElement.dataset.theme === theme) return;
    document.documentElement.dataset.theme = theme;
    page.painters.forEach((paint) => paint());
  };
  const print = (now) => {
    isPrinting = now;
    apply();
  };
  addEventListener("beforeprint", () => print(true));
  addEventListener("afterprint", () => print(false));
  select.addEventListener("change", () => {
    try {
      localStorage.setItem("itersel-theme", select.value);
    } catch {
      // the choice is not kept for the next visit
    }
    apply();
  });
  system.addEventListener("change", apply);
  apply();
})();

// Opens all details for printing, except derivations: only those that the reader has opened are printed.
addEventListener("beforeprint", () => {
  for (const one of document.querySelectorAll("details:not([open], .derivations, .derivations *)")) {
    one.dataset.closed = "";
    one.open = true;
  }
});
addEventListener("afterprint", () => {
  for (const one of document.querySelectorAll("details[data-closed]")) {
    delete one.dataset.closed;
    one.open = false;
  }
});
