// The beam search: a column a step, in it the continuations by their score. Only the best few go on.

import { html, label, svg, textWidth } from "./draw.js";
import { ask, change, state, watch } from "./store.js";
import { number, percent, say } from "../words.js";

const COLUMN = 118;
const ROW = 27;
const TOP = 34;

const picture = document.getElementById("tree");
const told = document.getElementById("tree-told");
const compare = document.getElementById("compare");
let spots = new Map(); // node → {x, y}

watch(["answer", "theme"], draw);
watch(["answer", "step"], showUpTo);
watch(["answer"], drawComparison);

function draw() {
  if (!state.answer) return;
  const { nodes, best } = state.answer.tree;
  const depths = Math.max(...nodes.map(({ depth }) => depth));
  const byDepth = Array.from({ length: depths }, (_, i) => places(nodes, (node) => node.depth === i + 1));
  const rows = Math.max(...byDepth.map((column) => column.length));
  spots = new Map([[-1, { x: 18, y: TOP + ROW / 2 }]]);
  byDepth.forEach((column, i) => {
    column.sort((one, other) => nodes[other].total - nodes[one].total);
    column.forEach((place, row) => spots.set(place, { x: 64 + i * COLUMN, y: TOP + row * ROW + ROW / 2 }));
  });
  const [width, height] = [64 + depths * COLUMN + 20, TOP + rows * ROW + 12];
  picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
  picture.setAttribute("width", width);
  picture.setAttribute("height", height);
  const isBest = new Set(best);
  const edges = svg("g", { class: "edges" });
  const marks = svg("g", {});
  byDepth.forEach((_, i) => marks.append(svg("text", { class: "depth", x: 64 + i * COLUMN, y: 16, "data-depth": i + 1 }, String(i + 1))));
  marks.append(svg("circle", { class: "root", ...middle(spots.get(-1)), r: 5 }));
  nodes.forEach((node, place) => {
    edges.append(edge(node, place, isBest.has(place)));
    marks.append(mark(node, place, isBest.has(place)));
  });
  picture.replaceChildren(edges, marks);
}

const middle = ({ x, y }) => ({ cx: x, cy: y });
const places = (nodes, wanted) => nodes.flatMap((node, place) => (wanted(node) ? [place] : []));

function edge(node, place, isBest) {
  const [from, to] = [spots.get(node.parent), spots.get(place)];
  const start = node.parent < 0 ? from.x + 6 : from.x + 12 + textWidth(label(state.answer.tree.nodes[node.parent].piece, 1), 14, 500);
  const bend = (start + to.x) / 2;
  return svg("path", {
    class: `edge ${node.fate} ${isBest ? "best" : ""}`,
    "data-depth": node.depth,
    "data-place": place,
    d: `M${start.toFixed(1)} ${from.y}C${bend.toFixed(1)} ${from.y} ${bend.toFixed(1)} ${to.y} ${to.x - 5} ${to.y}`,
    "stroke-width": (0.75 + 2.5 * Math.exp(node.log_prob)).toFixed(2),
  });
}

function mark(node, place, isBest) {
  const { x, y } = spots.get(place);
  const text = label(node.piece, 1);
  const group = svg("g", { class: `mark ${node.fate} ${isBest ? "best" : ""}`, tabindex: 0, role: "button", "data-depth": node.depth, "aria-label": `${text}: ${story(node)}` },
    svg("rect", { x: x - 3, y: y - 12, width: textWidth(text, 14, 500) + 14, height: 24, rx: 7 }),
    svg("text", { x: x + 4, y: y + 5 }, text));
  for (const name of ["pointerenter", "focus"]) group.addEventListener(name, () => point(node, place));
  for (const name of ["pointerleave", "blur"]) group.addEventListener(name, () => point(null, null));
  group.addEventListener("click", () => force(place));
  group.addEventListener("keydown", (event) => {
    if (event.key === "Enter") force(place);
  });
  return group;
}

const story = (node) =>
  say("tree.story", percent(Math.exp(node.log_prob), 1), number(node.total, 2), number(node.score, 2), say(`tree.${node.fate}`));

/** The way to a node stands out, and its numbers are told. */
function point(node, place) {
  const way = new Set(place === null ? [] : wayTo(place));
  for (const one of picture.querySelectorAll(".edge")) one.classList.toggle("pointed", way.has(Number(one.dataset.place)));
  told.textContent = node ? `${textOf(place)} — ${story(node)}` : say("tree.hint");
}

function wayTo(place) {
  const { nodes } = state.answer.tree;
  const way = [];
  for (let here = place; here >= 0; here = nodes[here].parent) way.unshift(here);
  return way;
}

const textOf = (place) =>
  wayTo(place).map((one) => state.answer.tree.nodes[one].piece).join("").replaceAll("\u2581", " ").trim();

function force(place) {
  const way = wayTo(place);
  change({ step: way.length - 1 });
  ask({ prefix: way.map((one) => state.answer.tree.nodes[one].id) });
}

/** The tree grows with the decoding. */
function showUpTo() {
  if (!state.answer) return;
  const isLast = state.step >= state.answer.choices.length - 1;
  for (const one of picture.querySelectorAll("[data-depth]")) {
    one.classList.toggle("later", !isLast && Number(one.dataset.depth) > state.step + 1);
  }
  told.textContent = say("tree.hint");
}

function drawComparison() {
  const { answer, question } = state;
  if (!answer) return;
  const rows = [["beam", answer.beam[0]], ["greedy", answer.greedy]];
  compare.replaceChildren(...rows.map(([name, one]) => {
    const other = name === "beam" ? answer.greedy : answer.beam[0];
    const pieces = one.pieces.map((piece, i) => html("span", { className: piece === other.pieces[i] ? "" : "differs" }, piece.replaceAll("\u2581", i === 0 ? "" : " ")));
    const input = html("input", { type: "radio", name: "follow", value: name, checked: question.follow === name });
    input.addEventListener("change", () => ask({ follow: name }));
    return html("label", { className: "candidate" }, input,
      html("span", { className: "who" }, say(`compare.${name}`)), html("span", { className: "text", lang: question.target }, ...pieces), html("span", { className: "value" }, number(one.score, 3)));
  }));
  const others = answer.beam.slice(1).map((one) => html("li", {}, html("span", { lang: question.target }, one.text), html("span", { className: "value" }, number(one.score, 3))));
  if (others.length) compare.append(html("details", {}, html("summary", {}, say("compare.others", others.length)), html("ol", {}, ...others)));
}
