// What might have come next: the likeliest pieces at the position that is looked at. Any of them can be forced.

import { html, label } from "./draw.js";
import { ask, change, state, watch } from "./store.js";
import { number, percent, say } from "../words.js";

const place = document.getElementById("next");
const note = document.getElementById("next-note");

watch(["answer", "step"], draw);

function draw() {
  const { answer } = state;
  if (!answer) return;
  const step = Math.min(state.step, answer.choices.length - 1);
  const choice = answer.choices[step];
  const said = answer.choices.slice(0, step).map(({ chosen }) => chosen.piece).join("").replaceAll("\u2581", " ").trim();
  note.textContent = say("next.after", said || say("next.start"), number(choice.entropy, 1));
  const most = Math.max(...choice.alternatives.map(({ probability }) => probability), 0.0001);
  const listed = choice.alternatives.some(({ id }) => id === choice.chosen.id) ? choice.alternatives : [...choice.alternatives, choice.chosen];
  place.replaceChildren(...listed.map((one) => row(one, choice, step, most)));
}

function row(one, choice, step, most) {
  const isChosen = one.id === choice.chosen.id;
  const bar = html("span", { className: "bar added" });
  bar.style.inlineSize = `${(100 * one.probability) / most}%`;
  const button = html("button", { type: "button", className: isChosen ? "chosen" : "", aria: { pressed: String(isChosen), label: say("next.force", label(one.piece, step), percent(one.probability, 1)) } },
    html("span", { className: "name" }, label(one.piece, step)),
    html("span", { className: "track" }, bar),
    html("span", { className: "value" }, percent(one.probability, 1)));
  button.addEventListener("click", () => force(step, one.id));
  return html("li", {}, button);
}

/** The beginning stays, this piece follows, and the rest is decoded anew. */
function force(step, id) {
  const before = state.answer.choices.slice(0, step).map(({ chosen }) => chosen.id);
  change({ step });
  ask({ prefix: [...before, id] });
}
