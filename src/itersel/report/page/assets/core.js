"use strict";
// What all parts of the page share. Texts of a run are put into the document as text, never as HTML.
const page = {
  data: JSON.parse(document.getElementById("data").textContent),
  charts: JSON.parse(document.getElementById("charts").textContent),
  // Okabe and Ito's palette, without the yellow, which no white paper shows
  palettes: {
    light: ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#B07A00", "#3A9BD9", "#111111", "#7A5195"],
    dark: ["#56B4E9", "#E69F00", "#2BC48A", "#E79AC8", "#F0E442", "#9BB8FF", "#FFFFFF", "#FF7F50"],
  },
  dashes: [[], [6, 3], [2, 3], [9, 3, 2, 3], [], [6, 3], [2, 3], [9, 3, 2, 3]],
  // what has to be drawn again when the colours change
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

// A value that the page holds as JSON, packed by gzip, in base64.
page.unpack = async function (text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
};

page.fill = function (select, names, chosen) {
  select.replaceChildren(...names.map((name) => page.make("option", { value: name }, name)));
  if (chosen !== undefined) select.value = chosen;
};

(function chooseTheme() {
  const select = document.getElementById("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  // storage may be closed to files from disk
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
      // the choice holds for this view
    }
    apply();
  });
  system.addEventListener("change", apply);
  apply();
})();

// Details are closed on screen, and open on paper; of derivations only those that the reader has opened.
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
