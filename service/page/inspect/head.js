// The numbers of one head: a query meets every key, scores become weights, weights gather values.

import { fetchHead } from "../api.js";
import { isAboutKey } from "../key.js";
import { number, say } from "../words.js";
import { cells, html, label } from "./draw.js";
import { headSwitch, largeMap } from "./heatmap.js";
import { ANCHORS, codeLink, docLink } from "./links.js";
import { isSilent, sidesOf, state, watch, weightsOf } from "./store.js";

const place = document.getElementById("head");
let numbers = null; // of the head that is open
let row = 0; // the position that asks
let asking = null; // AbortController

watch(["zoom", "answer"], load);
watch(["step", "theme"], () => {
  row = lastRow();
  draw();
});

async function load() {
  if (state.zoom.level !== "head" || !state.answer) return;
  asking?.abort();
  asking = new AbortController();
  const { signal } = asking;
  const { part, layer, head } = state.zoom;
  numbers = null;
  row = lastRow();
  draw();
  try {
    numbers = await fetchHead({ ...state.question, head: { part, layer, head } }, signal);
    draw();
  } catch (failure) {
    if (!signal.aborted && !isAboutKey(failure)) place.append(html("p", { className: "notice", aria: { role: "alert" } }, failure.message));
  }
}

function lastRow() {
  const { answer, zoom, step } = state;
  if (!answer) return 0;
  return Math.min(step, sidesOf(answer, zoom.part)[0].length - 1);
}

function draw() {
  if (state.zoom.level !== "head" || !state.answer) return;
  const { part, layer, head } = state.zoom;
  const weights = weightsOf(state.answer, part, layer)[head];
  const hadFocus = place.querySelector(".large-map") === document.activeElement;
  const map = largeMap(part, weights, row, (chosen) => {
    if (chosen === row) return;
    row = chosen;
    draw();
  });
  place.replaceChildren(
    html("div", { className: "head-picture" },
      html("h2", {}, `${say(`${part}.title`)}, ${say("head.name", head + 1)}`),
      html("p", { className: "lead" }, say(`${part}.lead`)),
      html("div", { className: "scroller" }, map),
      html("p", { className: "links" }, html("span", { className: "switched" }, headSwitch(part, layer, head), isSilent(part, layer, head) ? say("head.off") : say("head.on")), docLink(ANCHORS[part]), codeLink("model/attention.py", "attention_weights")),
    ),
    numbers ? table(part) : html("p", { className: "quiet" }, say("working")),
  );
  if (hadFocus) map.focus();
}

/** One row of the picture in numbers. */
function table(part) {
  const [askers, asked] = sidesOf(state.answer, part);
  const scale = Math.max(...numbers.queries.flat().map(Math.abs), ...numbers.keys.flat().map(Math.abs)) * 0.6;
  const most = Math.max(...numbers.weights[row]);
  const width = numbers.queries[0].length;
  const body = html("tbody");
  asked.forEach((piece, column) => {
    const score = numbers.scores[row][column];
    const bar = html("span", { className: "bar added" });
    bar.style.inlineSize = `${score === null ? 0 : (100 * numbers.weights[row][column]) / most}%`;
    body.append(html("tr", { className: score === null ? "masked" : "" },
      html("th", { scope: "row" }, label(piece, column)),
      html("td", {}, strip(numbers.keys[column], scale)),
      html("td", { className: "figure" }, score === null ? "−∞" : number(score, 2)),
      html("td", { className: "figure" }, number(numbers.weights[row][column], 3)),
      html("td", { className: "weight" }, html("span", { className: "track" }, bar))));
  });
  return html("div", { className: "head-numbers" },
    html("h3", {}, say("head.asks", label(askers[row], row))),
    html("p", { className: "quiet" }, say("head.query", width)), strip(numbers.queries[row], scale),
    html("div", { className: "scroller", tabIndex: 0, aria: { role: "group", label: say("head.weight") } }, html("table", {},
      html("thead", {}, html("tr", {}, ...["piece", "key", "score", "weight", "share"].map((name) => html("th", { scope: "col" }, say(`head.${name}`))))), body)),
    html("p", { className: "quiet" }, say("head.found")), strip(numbers.found[row], Math.max(...numbers.values.flat().map(Math.abs)) * 0.6),
    html("p", { className: "formula" }, say("head.formula", width)));
}

/** A vector as colours: its numbers above zero in the accent, those below in grey. */
function strip(vector, scale) {
  const canvas = html("canvas", { className: "strip", aria: { hidden: "true" } });
  cells(canvas, 1, vector.length, (_, column) => vector[column] / (scale || 1));
  return canvas;
}
