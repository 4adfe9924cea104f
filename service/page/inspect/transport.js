// Decoding step by step: play, one step on, one back, or straight to a position.

import { change, positions, state, watch } from "./store.js";
import { label } from "./draw.js";
import { percent, say } from "../words.js";

const SECONDS_A_STEP = 0.9;
const byId = (id) => document.getElementById(id);
const slider = byId("step");
let timer = null;

byId("play").addEventListener("click", () => (timer === null ? play() : pause()));
byId("back").addEventListener("click", () => go(state.step - 1));
byId("forward").addEventListener("click", () => go(state.step + 1));
slider.addEventListener("input", () => go(slider.valueAsNumber - 1));
watch(["answer", "step"], draw);

/** From the beginning, unless it stopped on the way. */
export function play() {
  if (!state.answer) return;
  if (state.step >= positions(state.answer) - 1) change({ step: 0 });
  timer = setInterval(() => {
    if (state.step >= positions(state.answer) - 1) pause();
    else change({ step: state.step + 1 });
  }, 1000 * SECONDS_A_STEP);
  draw();
}

export function pause() {
  clearInterval(timer);
  timer = null;
  draw();
}

function go(step) {
  pause();
  if (state.answer) change({ step: Math.min(Math.max(step, 0), positions(state.answer) - 1), hover: null });
}

function draw() {
  const { answer, step } = state;
  const last = answer ? positions(answer) : 1;
  slider.max = last;
  slider.value = step + 1;
  slider.disabled = !answer;
  byId("play").disabled = !answer;
  byId("back").disabled = !answer || step === 0;
  byId("forward").disabled = !answer || step >= last - 1;
  byId("play").dataset.playing = timer !== null;
  byId("play").setAttribute("aria-label", timer === null ? say("transport.play") : say("transport.pause"));
  if (!answer) return;
  const { chosen } = answer.choices[Math.min(step, last - 1)];
  const text = say("transport.position", step + 1, last, label(chosen.piece, step), percent(chosen.probability));
  byId("position").textContent = text;
  slider.setAttribute("aria-valuetext", text);
}
