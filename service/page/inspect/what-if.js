// What if: temperature, length penalty, beam size and margin, a beginning that is forced, heads that are switched off.

import { html } from "./draw.js";
import { ask, DEFAULTS, state, toggleHead, watch } from "./store.js";
import { number, say } from "../words.js";

const byId = (id) => document.getElementById(id);
const SLIDERS = { temperature: 2, length_penalty: 1, beam_size: 0, margin: 1 }; // digits that are shown

for (const [name, digits] of Object.entries(SLIDERS)) {
  const slider = byId(name);
  slider.addEventListener("input", () => {
    byId(`${name}-value`).textContent = number(slider.valueAsNumber, digits);
    ask({ [name]: slider.valueAsNumber });
  });
}
byId("prefix").addEventListener("change", (event) => ask({ prefix: event.target.value }));
byId("reset").addEventListener("click", () => ask({ ...DEFAULTS }));
watch(["question", "answer"], draw);

function draw() {
  const { question, answer } = state;
  for (const [name, digits] of Object.entries(SLIDERS)) {
    byId(name).value = question[name];
    byId(`${name}-value`).textContent = number(question[name], digits);
  }
  if (document.activeElement !== byId("prefix")) byId("prefix").value = forcedText(question.prefix, answer);
  const off = question.silent_heads.map(({ part, layer, head }) => {
    const name = `${say(`${part}.title`)} ${layer + 1}, ${say("head.name", head + 1)}`;
    const button = html("button", { type: "button", className: "chip-button", aria: { label: say("whatif.on", name) } }, `${name} ×`);
    button.addEventListener("click", () => toggleHead(part, layer, head));
    return button;
  });
  byId("silent").replaceChildren(...(off.length ? off : [html("span", { className: "quiet" }, say("whatif.all"))]));
  const changed = Object.keys(DEFAULTS).some((name) => JSON.stringify(question[name]) !== JSON.stringify(DEFAULTS[name]) && String(question[name]) !== "");
  byId("reset").disabled = !changed;
}

/** Ids that were clicked are told by the pieces of the answer that begins with them. */
function forcedText(prefix, answer) {
  if (typeof prefix === "string") return prefix;
  if (!answer || prefix.length === 0) return "";
  const pieces = answer.choices.slice(0, prefix.length).map(({ chosen }) => chosen.piece);
  return pieces.filter((piece) => piece !== "</s>").join("").replaceAll("\u2581", " ").trim();
}
