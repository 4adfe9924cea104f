// The whole sentence: pieces enter, flow through encoder and decoder, and the next piece comes out.
// Lines are attention, the mean of a layer's heads: from where it was looked at to where it was used.

import { isControl, label, meanOfHeads, sum, svg, textWidth, wordAt } from "./draw.js";
import { change, positions, state, watch } from "./store.js";
import { say, percent } from "../words.js";

const SIZE = 15;
const ROW = 46;
const CHIP = 34;
const GUTTER = 104;
const FAINTEST = 0.04; // weights below are not drawn

const picture = document.getElementById("flow");
const summary = document.getElementById("flow-summary");
let drawn = null;

watch(["answer", "width", "theme"], drawAll);
watch(["step"], drawDecoder);
watch(["hover", "step", "answer", "width"], drawLooking);

function drawAll() {
  const { answer } = state;
  if (!answer) return;
  const room = Math.max(picture.parentElement.clientWidth - GUTTER - 8, 240);
  const source = columnsOf(answer.source.pieces, room);
  const target = columnsOf(answer.target.pieces, room, answer.choices.map(({ chosen }) => chosen.piece));
  const width = GUTTER + Math.max(source.width, target.width) + 8;
  const encoderLayers = answer.encoder.layers.length;
  const memoryY = 58 + encoderLayers * ROW;
  const targetY = memoryY + 84;
  const decoderY = targetY + 42;
  const saidY = decoderY + (answer.decoder.layers.length - 1) * ROW + 62;
  drawn = { answer, source, target, memoryY, targetY, decoderY, saidY, parts: {} };
  for (const name of ["encoder", "crossing", "decoder", "chips"]) drawn.parts[name] = svg("g", { class: name });
  picture.setAttribute("viewBox", `0 0 ${width} ${saidY + 44}`);
  picture.setAttribute("width", width);
  picture.setAttribute("height", saidY + 44);
  picture.replaceChildren(...Object.values(drawn.parts));
  drawEncoder();
  drawDecoder();
}

/** The middle of each column; columns are as wide as their pieces, and share what room is left. */
function columnsOf(pieces, room, others = []) {
  const widths = pieces.map((piece, place) => {
    const texts = [label(piece, place), label(others[place] ?? "", place + 1)];
    return Math.max(38, ...texts.map((text) => textWidth(text, SIZE, 500) + 22));
  });
  const spare = Math.min(Math.max(room - sum(widths), 0) / pieces.length, 36);
  let edge = GUTTER;
  const middles = widths.map((width) => {
    edge += width + spare;
    return edge - (width + spare) / 2;
  });
  return { middles, widths, width: edge - GUTTER };
}

function drawEncoder() {
  const { answer, source, parts, memoryY } = drawn;
  const [first, last] = [source.middles[0] - 20, source.middles.at(-1) + 20];
  parts.encoder.append(svg("rect", { class: "memory", x: first, y: memoryY - 13, width: last - first, height: 26, rx: 13 }));
  answer.encoder.layers.forEach((layer, l) => {
    const [above, here] = [l === 0 ? 40 : 58 + l * ROW, 58 + (l + 1) * ROW];
    parts.encoder.append(lines(meanOfHeads(layer.attention), source.middles, source.middles, above, here, "looks"));
    parts.encoder.append(...source.middles.map((x) => node(x, here)));
    parts.chips.append(layerButton("encoder", l, here));
  });
  parts.chips.append(caption(say("flow.source"), 24, ""));
  answer.source.pieces.forEach((piece, place) => {
    parts.chips.append(chip("source", place, piece, source, 24, answer.source.ids[place]));
  });
}

function drawDecoder() {
  if (!drawn) return;
  const { answer, target, parts, targetY, decoderY, saidY } = drawn;
  const shown = Math.min(state.step + 1, positions(answer));
  parts.decoder.replaceChildren();
  for (const old of parts.chips.querySelectorAll(".target, .said, .of-decoder")) old.remove();
  answer.decoder.layers.forEach((layer, l) => {
    const above = l === 0 ? targetY + 14 : decoderY + (l - 1) * ROW;
    const here = decoderY + l * ROW;
    const seen = meanOfHeads(layer.attention).slice(0, shown);
    parts.decoder.append(lines(seen, target.middles, target.middles, above, here, "looks"));
    parts.decoder.append(...target.middles.slice(0, shown).map((x) => node(x, here)));
    parts.chips.append(layerButton("decoder", l, here));
  });
  parts.chips.append(caption(say("flow.read"), targetY), caption(say("flow.said"), saidY));
  const bottom = decoderY + (answer.decoder.layers.length - 1) * ROW;
  for (let t = 0; t < shown; t += 1) {
    const isNew = t === shown - 1;
    const x = target.middles[t];
    parts.decoder.append(svg("path", { class: "says", d: `M${x} ${bottom + 6}V${saidY - 18}` }));
    parts.chips.append(chip("target", t, answer.target.pieces[t], target, targetY, answer.target.ids[t], isNew));
    parts.chips.append(saidChip(t, isNew));
  }
}

/** Where the position that is looked at, or the word under the pointer, takes its content from. */
function drawLooking() {
  if (!drawn) return;
  const { answer, source, target, parts, memoryY, decoderY } = drawn;
  const places = lookedAt(answer);
  parts.crossing.replaceChildren();
  answer.decoder.layers.forEach((layer, l) => {
    const weights = meanOfHeads(layer.cross);
    for (const t of places) {
      const rows = [weights[t]];
      parts.crossing.append(
        lines(rows, source.middles, [target.middles[t]], memoryY + 8, decoderY + l * ROW, "crosses"),
      );
    }
  });
  const strengths = sourceStrengths(answer, places);
  for (const [place, chipOfSource] of [...parts.chips.querySelectorAll(".source")].entries()) {
    chipOfSource.querySelector(".lit").setAttribute("opacity", (strengths[place] ** 0.7 * 0.85).toFixed(3));
  }
  const isOver = state.hover?.side === "source" ? wordAt(answer.source.pieces, state.hover.place) : null;
  const cross = meanOfHeads(answer.decoder.layers.at(-1).cross);
  for (const chipOfTarget of parts.chips.querySelectorAll(".said")) {
    const t = Number(chipOfTarget.dataset.place);
    const lit = isOver ? sum(isOver.map((place) => cross[t][place])) : Number(places.includes(t)) * 0.55;
    chipOfTarget.querySelector(".lit").setAttribute("opacity", lit.toFixed(3));
  }
  summary.textContent = summaryOf(answer, places, strengths);
}

function lookedAt(answer) {
  const shown = Math.min(state.step + 1, positions(answer));
  if (state.hover?.side !== "target") return [shown - 1];
  const said = answer.choices.map(({ chosen }) => chosen.piece);
  return wordAt(said, state.hover.place).filter((t) => t < shown);
}

/** What the last layer looks at, control pieces left out, since that is where heads rest that have nothing to say. */
function sourceStrengths(answer, places) {
  const cross = meanOfHeads(answer.decoder.layers.at(-1).cross);
  const strengths = answer.source.pieces.map((piece, s) =>
    isControl(piece) ? 0 : sum(places.map((t) => cross[t][s])) / places.length,
  );
  const total = sum(strengths) || 1;
  return strengths.map((strength) => strength / total);
}

function summaryOf(answer, places, strengths) {
  if (places.length === 0) return "";
  const word = places.map((t) => answer.choices[t].chosen.piece).join("").replaceAll("\u2581", " ").trim();
  const best = strengths
    .map((strength, place) => ({ strength, piece: label(answer.source.pieces[place], place) }))
    .filter(({ strength }) => strength >= 0.08)
    .sort((one, other) => other.strength - one.strength)
    .slice(0, 3);
  return say("flow.from", word, best.map(({ piece, strength }) => `${piece} ${percent(strength)}`).join(", "));
}

/** Curves from columns `from` at height `top` to columns `to` at `bottom`, for weights [row of to][column of from]. */
function lines(weights, from, to, top, bottom, kind) {
  const group = svg("g", { class: kind });
  weights.forEach((row, i) => {
    row.forEach((weight, j) => {
      if (weight < FAINTEST) return;
      const middle = (top + bottom) / 2;
      const d = `M${from[j].toFixed(1)} ${top}C${from[j].toFixed(1)} ${middle} ${to[i].toFixed(1)} ${middle} ${to[i].toFixed(1)} ${bottom}`;
      group.append(svg("path", { d, "stroke-opacity": (weight ** 0.8).toFixed(3), "stroke-width": (0.6 + 2.6 * weight).toFixed(2) }));
    });
  });
  return group;
}

const node = (x, y) => svg("circle", { class: "node", cx: x.toFixed(1), cy: y, r: 4 });

const caption = (text, y, kind = "of-decoder") => svg("text", { class: `caption ${kind}`, x: 2, y: y + 4 }, text);

function layerButton(part, layer, y) {
  const name = say(`${part}.layer`, layer + 1);
  const button = svg("g", { class: `layer ${part === "decoder" ? "of-decoder" : ""}`, tabindex: 0, role: "button", "aria-label": say("zoom.open", name) },
    svg("rect", { x: 1, y: y - 14, width: GUTTER - 18, height: 28, rx: 8 }),
    svg("text", { x: 11, y: y + 5 }, name),
  );
  return press(button, () => change({ zoom: { level: "block", part, layer, head: 0 } }));
}

function chip(side, place, piece, columns, y, id, isNew = false) {
  const [x, width] = [columns.middles[place], columns.widths[place] - 6];
  const made = svg("g", { class: `chip ${side} ${isControl(piece) ? "control" : ""} ${isNew ? "new" : ""}`, tabindex: side === "source" ? 0 : null, role: side === "source" ? "img" : null, "aria-label": `${label(piece, place)}, ${id}` },
    svg("rect", { class: "ground", x: x - width / 2, y: y - CHIP / 2, width, height: CHIP, rx: 9 }),
    svg("rect", { class: "lit", x: x - width / 2, y: y - CHIP / 2, width, height: CHIP, rx: 9, opacity: 0 }),
    svg("text", { x, y: y + 1 }, label(piece, place)),
    svg("text", { class: "id", x, y: y + 13 }, String(id)),
  );
  return side === "source" ? hovered(made, "source", place) : made;
}

function saidChip(t, isNew) {
  const { answer, target, saidY } = drawn;
  const { chosen } = answer.choices[t];
  const [x, width] = [target.middles[t], target.widths[t] - 6];
  const text = label(chosen.piece, t);
  const made = svg("g", { class: `chip said ${isControl(chosen.piece) ? "control" : ""} ${isNew ? "new" : ""}`, tabindex: 0, role: "button", "aria-label": `${text}, ${percent(chosen.probability)}`, "data-place": t },
    svg("rect", { class: "ground", x: x - width / 2, y: saidY - CHIP / 2, width, height: CHIP, rx: 9 }),
    svg("rect", { class: "lit", x: x - width / 2, y: saidY - CHIP / 2, width, height: CHIP, rx: 9, opacity: 0 }),
    svg("text", { x, y: saidY + 1 }, text),
    svg("text", { class: "id", x, y: saidY + 13 }, percent(chosen.probability)),
  );
  return press(hovered(made, "target", t), () => change({ step: t, hover: null }));
}

function hovered(element, side, place) {
  for (const name of ["pointerenter", "focus"]) element.addEventListener(name, () => change({ hover: { side, place } }));
  for (const name of ["pointerleave", "blur"]) element.addEventListener(name, () => change({ hover: null }));
  return element;
}

/** A click, or Enter or Space as on any button. */
function press(element, act) {
  element.addEventListener("click", act);
  element.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    act();
  });
  return element;
}
