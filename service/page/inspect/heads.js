// Every head of every layer at once, and the positions' codes.

import { cells, html, label } from "./draw.js";
import { smallMultiple } from "./heatmap.js";
import { ANCHORS, codeLink, docLink } from "./links.js";
import { state, watch } from "./store.js";
import { say } from "../words.js";

const place = document.getElementById("heads");
const codes = document.getElementById("positions");

watch(["answer", "step", "theme"], () => {
  if (!state.answer) return;
  const { answer } = state;
  const focused = document.activeElement?.dataset.head;
  place.replaceChildren(
    group("encoder", answer.encoder.layers.length),
    group("decoder", answer.decoder.layers.length),
    group("cross", answer.decoder.layers.length),
  );
  if (focused) place.querySelector(`[data-head="${focused}"]`)?.focus({ preventScroll: true });
});
watch(["answer", "theme"], () => state.answer && drawCodes());

function group(part, layers) {
  const rows = Array.from({ length: layers }, (_, layer) =>
    html("div", { className: "layer-row" },
      html("span", { className: "quiet" }, say(`${part === "encoder" ? "encoder" : "decoder"}.layer`, layer + 1)),
      ...Array.from({ length: state.answer.shape.heads }, (_, head) => smallMultiple(part, layer, head))));
  return html("section", { className: "head-group" },
    html("h3", {}, say(`${part}.title`)), html("p", { className: "quiet" }, say(`${part}.rows`)),
    html("div", { className: "scroller" }, html("div", { className: "rows" }, ...rows)),
    html("p", { className: "links" }, docLink(ANCHORS[part]), codeLink("model/attention.py", "attention_weights")));
}

/** Sines and cosines alternate; apart from each other the waves can be seen. */
function orderOf(width, kind) {
  const features = Array.from({ length: width }, (_, feature) => feature);
  if (kind !== "sinusoidal") return features;
  return [...features.filter((feature) => feature % 2 === 0), ...features.filter((feature) => feature % 2 === 1)];
}

/** A row a position, a column a feature: slow and fast waves that no two positions share. */
function drawCodes() {
  const { positions } = state.answer.encoder;
  const most = Math.max(...positions.flat().map(Math.abs)) || 1;
  const canvas = html("canvas", { className: "codes", aria: { role: "img", label: say("positions.title") } });
  const order = orderOf(positions[0].length, state.answer.shape.positions);
  cells(canvas, positions.length, order.length, (row, column) => positions[row][order[column]] / most);
  const names = html("div", { className: "code-names" }, ...state.answer.source.pieces.map((piece, row) => html("span", {}, `${row} ${label(piece, row)}`)));
  codes.replaceChildren(names, canvas);
}
