// The way between the levels: a small map of the model in which every block and every head can be gone to.

import { html } from "./draw.js";
import { change, isSilent, state, watch } from "./store.js";
import { say } from "../words.js";

const place = document.getElementById("map");
const crumbs = document.getElementById("crumbs");
const panels = { sentence: document.getElementById("sentence"), block: document.getElementById("block"), head: document.getElementById("head") };

watch(["answer", "zoom"], drawMap);
watch(["answer", "zoom"], drawCrumbs);

/** Go to a level; where the browser can and motion is welcome, one level grows out of the other. */
export function show() {
  const { level } = state.zoom;
  for (const [name, panel] of Object.entries(panels)) panel.hidden = name !== level;
}

watch(["zoom"], () => {
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  if (document.startViewTransition && !calm) document.startViewTransition(show);
  else show();
});

function drawMap() {
  const { answer } = state;
  if (!answer) return;
  const blocks = [
    ...answer.encoder.layers.map((_, layer) => block("encoder", layer, ["encoder"])),
    html("li", { className: "joint" }, say("map.memory")),
    ...answer.decoder.layers.map((_, layer) => block("decoder", layer, ["decoder", "cross"])),
  ];
  const whole = html("button", { type: "button", aria: { current: String(state.zoom.level === "sentence") } }, say("map.whole"));
  whole.addEventListener("click", () => change({ zoom: { ...state.zoom, level: "sentence" } }));
  place.replaceChildren(html("li", { className: "whole" }, whole), ...blocks);
}

function block(part, layer, parts) {
  const { zoom, answer } = state;
  const isHere = zoom.level !== "sentence" && zoom.layer === layer && parts.includes(zoom.part);
  const open = html("button", { type: "button", className: "block-name", aria: { current: String(isHere && zoom.level === "block") } }, say(`${part}.layer`, layer + 1));
  open.addEventListener("click", () => change({ zoom: { level: "block", part, layer, head: 0 } }));
  const dots = parts.map((kind) =>
    html("span", { className: `dots ${kind}` }, ...Array.from({ length: answer.shape.heads }, (_, head) => dot(kind, layer, head))));
  return html("li", { className: `block ${isHere ? "here" : ""}` }, open, ...dots);
}

function dot(part, layer, head) {
  const { zoom } = state;
  const isHere = zoom.level === "head" && zoom.part === part && zoom.layer === layer && zoom.head === head;
  const name = `${say(`${part}.title`)} ${layer + 1}, ${say("head.name", head + 1)}`;
  const button = html("button", { type: "button", title: name, className: `dot ${isSilent(part, layer, head) ? "off" : ""}`, aria: { label: name, current: String(isHere) } });
  button.addEventListener("click", () => change({ zoom: { level: "head", part, layer, head } }));
  return button;
}

function drawCrumbs() {
  const { zoom } = state;
  const stack = zoom.part === "encoder" ? "encoder" : "decoder";
  crumbs.hidden = zoom.level === "sentence";
  const steps = [[say("map.whole"), { ...zoom, level: "sentence" }]];
  if (zoom.level !== "sentence") steps.push([say(`${stack}.layer`, zoom.layer + 1), { level: "block", part: stack, layer: zoom.layer, head: 0 }]);
  if (zoom.level === "head") steps.push([`${say(`${zoom.part}.title`)}, ${say("head.name", zoom.head + 1)}`, zoom]);
  crumbs.replaceChildren(...steps.map(([name, goal], i) => {
    if (i === steps.length - 1) return html("li", {}, html("span", { aria: { current: "page" } }, name));
    const button = html("button", { type: "button", className: "plain" }, name);
    button.addEventListener("click", () => change({ zoom: goal }));
    return html("li", {}, button);
  }));
}
