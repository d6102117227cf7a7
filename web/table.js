/* The table of nodes. Of all rows, at most 200 are in the document: those in view and around it. */

import { el, setAttribute, setText, span, glyph, byId } from "./dom.js";
import { SHAPES } from "./look.js";

const HEIGHT = 34, WINDOW = 200, MARGIN = 80;

/* Title, member to sort by, text. */
const COLUMNS = [
  ["Node", "name", (node) => node.name],
  ["State", "state", (node) => node.state ?? "–"],
  ["Reason", "reason", (node) => node.reason ?? ""],
  ["Pool", "pool", (node) => node.pool ?? ""],
  ["Zone", "zone", (node) => node.zone ?? ""],
  ["Rack", "rack", (node) => node.rack ?? ""],
  ["Driver", "driver", (node) => !node.target || node.target === node.driver ? node.driver ?? "" :
    `${node.driver ?? "none"} → ${node.target}`],
  ["In use", "used", (node) => `${node.used} of ${node.gpus}`],
  ["Faulty", "bad", (node) => (node.bad ? String(node.bad) : "")],
  ["Product", "product", (node) => node.product ?? ""],
  ["For", "since", (node, now) => (node.since ? span(now - node.since) : "")],
];

/* Which rows are in the document when the table is scrolled so far: [first, past the last]. */
export function windowOf(rows, scrolled) {
  const at = Math.floor(scrolled / HEIGHT) - MARGIN;
  const first = Math.max(0, Math.min(at, rows - WINDOW));
  return [first, Math.min(rows, first + WINDOW)];
}

/* Makes the table. Its show(nodes in order, sort, lookOf, selected, now) shows the rows. */
export function makeTable({ onSort, onOpen }) {
  const scroller = byId("rows"), body = byId("rows-body"), head = byId("rows-head");
  let shown = { nodes: [], now: 0 }, first = -1;

  for (const [title, member] of COLUMNS)
    head.append(el("th", { scope: "col", "data-member": member, class: `col-${member}` },
      el("button", { type: "button", onclick: () => onSort(member) }, title)));
  const above = body.appendChild(el("tr.space", { "aria-hidden": "true" }, el("td")));
  const below = body.appendChild(el("tr.space", { "aria-hidden": "true" }, el("td")));
  const pool = [];

  function makeRow() {
    const link = el("button.name", { type: "button" });
    const row = el("tr", {}, el("th", { scope: "row" }, link));
    for (const [, member] of COLUMNS.slice(1)) row.append(el("td", { class: `col-${member}` }));
    link.onclick = () => onOpen(row.dataset.name);
    row.ondblclick = link.onclick;
    row.children[1].append(el("span.mark"), el("span"));
    return row;
  }

  function fillRow(row, node, i) {
    row.dataset.name = node.name;
    setAttribute(row, "aria-rowindex", i + 2);
    setAttribute(row, "aria-current", node.name === shown.selected ? "true" : null);
    COLUMNS.forEach(([, , text], k) => {
      const cell = row.children[k];
      setText(k === 0 ? cell.firstChild : k === 1 ? cell.lastChild : cell, text(node, shown.now));
    });
    const look = shown.lookOf(node), key = look.join(), mark = row.children[1].firstChild;
    if (mark.dataset.look === key) return;
    mark.dataset.look = key;
    mark.replaceChildren(glyph(SHAPES, look));
  }

  function paint() {
    const { nodes } = shown;
    const [from, to] = windowOf(nodes.length, scroller.scrollTop);
    first = from;
    while (pool.length < to - from) pool.push(makeRow());
    for (let k = 0; k < pool.length; k++) {
      const row = pool[k];
      if (k >= to - from) row.remove();
      else {
        fillRow(row, nodes[from + k], from + k);
        if (!row.isConnected) body.insertBefore(row, below);
      }
    }
    above.firstChild.style.height = `${from * HEIGHT}px`;
    below.firstChild.style.height = `${(nodes.length - to) * HEIGHT}px`;
  }

  scroller.onscroll = () => {
    const [from] = windowOf(shown.nodes.length, scroller.scrollTop);
    if (Math.abs(from - first) > MARGIN / 2 || from === 0 && first > 0) requestAnimationFrame(paint);
  };

  return (next) => {
    if (next.sort !== shown.sort) scroller.scrollTop = 0;
    shown = next;
    setAttribute(scroller.firstElementChild, "aria-rowcount", next.nodes.length + 1);
    for (const cell of head.children) {
      const up = next.sort === cell.dataset.member, down = next.sort === `-${cell.dataset.member}`;
      setAttribute(cell, "aria-sort", up ? "ascending" : down ? "descending" : null);
    }
    paint();
  };
}
