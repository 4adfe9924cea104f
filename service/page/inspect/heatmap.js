// Attention of one head as a picture: rows ask, columns are asked.

import { cells, html, label, shadeOf } from "./draw.js";
import { change, isSilent, sidesOf, state, toggleHead, weightsOf } from "./store.js";
import { say } from "../words.js";

/** A small picture that opens the head, with a switch beneath it. */
export function smallMultiple(part, layer, head) {
  const { answer } = state;
  const canvas = html("canvas", { className: "cells" });
  const name = say("head.name", head + 1);
  const weights = weightsOf(answer, part, layer)[head];
  const rows = part === "encoder" ? weights.length : Math.min(state.step + 1, weights.length);
  cells(canvas, weights.length, weights[0].length, (row, column) => (row < rows ? shadeOf(weights[row][column]) : 0));
  canvas.style.aspectRatio = `${weights[0].length} / ${weights.length}`;
  const off = isSilent(part, layer, head);
  const open = html("button", { type: "button", className: "open", aria: { label: say("zoom.open", `${say(`${part}.title`)} ${layer + 1}, ${name}`) } }, canvas);
  open.addEventListener("click", () => change({ zoom: { level: "head", part, layer, head } }));
  return html("figure", { className: `multiple ${off ? "off" : ""}` }, open, html("figcaption", {}, name, headSwitch(part, layer, head)));
}

export function headSwitch(part, layer, head) {
  const off = isSilent(part, layer, head);
  const name = `${say(`${part}.title`)} ${layer + 1}, ${say("head.name", head + 1)}`;
  const button = html("button", { type: "button", className: "switch", aria: { role: "switch", checked: String(!off), label: say("head.switch", name) } });
  button.addEventListener("click", () => toggleHead(part, layer, head));
  button.dataset.head = `${part}-${layer}-${head}`;
  return button;
}

/** On the side of the target a position is known by what it has read and what it says. */
function rowLabel(part, asking, row) {
  const read = label(asking[row], row);
  const said = part === "encoder" ? null : state.answer.choices[row]?.chosen.piece;
  return said ? `${read} → ${label(said, row)}` : read;
}

/** The large picture with pieces along both sides; `onRow(row)` when a row is pointed at or reached by arrow keys. */
export function largeMap(part, weights, chosenRow, onRow) {
  const [asking, asked] = sidesOf(state.answer, part);
  const shown = part === "encoder" ? weights.length : Math.min(state.step + 1, weights.length);
  const table = html("div", { className: "large-map", tabIndex: 0, aria: { role: "application", label: say("head.map") } });
  table.style.setProperty("--columns", asked.length);
  table.append(html("span", { className: "corner" }));
  asked.forEach((piece, column) => table.append(html("span", { className: "column-label" }, html("span", {}, label(piece, column)))));
  for (let row = 0; row < shown; row += 1) {
    table.append(html("span", { className: `row-label ${row === chosenRow ? "chosen" : ""}` }, rowLabel(part, asking, row)));
    for (let column = 0; column < asked.length; column += 1) {
      const cell = html("span", { className: "cell", title: `${label(asking[row], row)} → ${label(asked[column], column)}: ${weights[row][column].toFixed(3)}` });
      cell.style.setProperty("--shade", shadeOf(weights[row][column]).toFixed(3));
      if (row === chosenRow) cell.classList.add("chosen");
      cell.addEventListener("pointerenter", () => onRow(row));
      table.append(cell);
    }
  }
  table.addEventListener("keydown", (event) => {
    const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!move) return;
    event.preventDefault();
    onRow(Math.min(Math.max(chosenRow + move, 0), shown - 1));
  });
  return table;
}
