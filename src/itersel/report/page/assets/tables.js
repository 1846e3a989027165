"use strict";
// Tables that are sorted by clicking a heading; rows with equal cells keep their order.
page.sortable = function (table) {
  const headings = [...table.tHead.rows[0].cells];
  headings.forEach((heading, column) => {
    const button = page.make("button", { type: "button" }, ...heading.childNodes);
    heading.replaceChildren(button);
    button.addEventListener("click", () => {
      const isNumber = heading.classList.contains("number");
      const before = heading.getAttribute("aria-sort");
      // the best scores first
      const up = before ? before === "descending" : !isNumber || column === 0;
      headings.forEach((one) => one.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", up ? "ascending" : "descending");
      const body = table.tBodies[0];
      body.append(...page.sorted([...body.rows], column, isNumber, up));
    });
  });
};

page.sorted = function (rows, column, isNumber, up) {
  const value = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent;
  const compare = (one, other) => {
    const [a, b] = [value(one), value(other)];
    // unknown values come last in both directions
    if (a === "" || b === "") return (a === "") - (b === "");
    const order = isNumber ? Number(a) - Number(b) : a.localeCompare(b, "en", { numeric: true });
    return up ? order : -order;
  };
  return rows.sort(compare);
};

// What a box shows is hidden by a class of the tables until it is ticked.
for (const box of document.querySelectorAll("[data-hides]")) {
  const apply = () => document.querySelectorAll(".systems").forEach((table) => table.classList.toggle(box.dataset.hides, !box.checked));
  box.closest("p").hidden = false;
  box.addEventListener("change", apply);
  apply();
}

document.querySelectorAll("table.sortable").forEach(page.sortable);
