"use strict";
// Sorting and filtering of the tables that ask for it; without this script they are whole.

for (const table of document.querySelectorAll("table[data-sortable]")) {
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const heads = [...table.tHead.rows[0].cells];

  const valueOf = (row, column) => {
    const cell = row.cells[column];
    const text = cell.dataset.order ?? cell.textContent.trim();
    if (!heads[column].classList.contains("num") && cell.dataset.order === undefined) {
      return text.toLowerCase();
    }
    const digits = text.replace("\u2212", "-").replace(/^[<>]/, "");
    // What is only bounded, as in <0.0001, is nearer to zero than the number that is shown.
    const number = parseFloat(digits) / (/^[<>]/.test(text) ? 2 : 1);
    return Number.isNaN(number) ? null : number;
  };

  const sort = (column, rising) => {
    const keyed = rows.map((row) => [valueOf(row, column), row]);
    keyed.sort(([a], [b]) => {
      if (a === null || b === null) return (a === null) - (b === null); // no number: last
      const order = typeof a === "string" ? a.localeCompare(b, undefined, { numeric: true }) : a - b;
      return rising ? order : -order;
    });
    body.append(...keyed.map(([, row]) => row));
    heads.forEach((head) => head.setAttribute("aria-sort", "none"));
    heads[column].setAttribute("aria-sort", rising ? "ascending" : "descending");
  };

  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.append(...head.childNodes);
    head.append(button);
    if (!head.hasAttribute("aria-sort")) head.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => {
      const now = head.getAttribute("aria-sort");
      const numeric = head.classList.contains("num");
      sort(column, now === "none" ? !numeric : now === "descending");
    });
  });

  const controls = document.getElementById(table.dataset.controls);
  if (!controls) continue;
  const [text, verdict, shown] = ["input", "select", "output"].map((tag) => controls.querySelector(tag));
  const filter = () => {
    const wanted = text.value.trim().toLowerCase();
    let count = 0;
    for (const row of rows) {
      const named = row.cells[0].textContent.toLowerCase().includes(wanted);
      const judged = !verdict.value || row.dataset.verdict === verdict.value;
      row.hidden = !(named && judged);
      count += named && judged;
    }
    shown.textContent = `${count.toLocaleString("en")} of ${rows.length.toLocaleString("en")} shown`;
  };
  text.addEventListener("input", filter);
  verdict.addEventListener("change", filter);
  controls.hidden = false;
  filter();
}

// The list of sections marks the one that is being read.
const links = new Map(
  [...document.querySelectorAll("nav a")].map((link) => [link.getAttribute("href").slice(1), link]),
);
const mark = () => {
  const sections = [...links.keys()].map((id) => document.getElementById(id));
  const read = sections.filter((section) => section.getBoundingClientRect().top < innerHeight / 3);
  const current = (read.at(-1) ?? sections[0]).id;
  links.forEach((link, id) => {
    if (id === current) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  });
};
addEventListener("scroll", mark, { passive: true });
mark();
