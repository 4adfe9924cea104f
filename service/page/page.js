// The translator form: what the controls do. api.js talks to the service, answer.js shows what came back.

import { fetchModels, translate } from "./api.js";
import { copyAnswer, showAnswer, showBusy, showError, showText, shownText } from "./answer.js";
import { canTranslate, directionsOf, fillSelect, sourcesOf, targetsOf } from "./languages.js";
import { words } from "./words.js";

const byId = (id) => document.getElementById(id);
const form = byId("translator");
const source = byId("source");
const target = byId("target");
const swap = byId("swap");
const text = byId("text");
const beamSize = byId("beam-size");
const nBest = byId("n-best");
const button = byId("translate");

let directions = []; // [source, target] pairs that the loaded models offer
let mostCharacters = Infinity; // in one text
let running = null; // AbortController of the request that the page waits for

form.addEventListener("submit", (event) => {
  event.preventDefault();
  translateText();
});
form.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  if (!button.disabled) form.requestSubmit();
});
source.addEventListener("change", changeLanguages);
target.addEventListener("change", changeLanguages);
swap.addEventListener("click", swapLanguages);
text.addEventListener("input", showCount);
form.addEventListener("change", showSettings);
byId("copy").addEventListener("click", copyAnswer);

if (/Mac|iPhone|iPad/.test(navigator.platform)) byId("modifier").textContent = "⌘";
showCount(); // a reloaded page may bring back what was typed and chosen
showSettings();
await loadModels();

/** Ask until there is an answer: the page may be opened while the model still loads. */
async function loadModels() {
  for (;;) {
    try {
      const { models, limits } = await fetchModels();
      byId("model").textContent = words.models(models.map((model) => model.name));
      directions = directionsOf(models);
      mostCharacters = limits.max_text_characters;
      break;
    } catch (failure) {
      byId("model").textContent = failure.code === "unreachable" ? failure.message : words.loading;
      await new Promise((resolve) => setTimeout(resolve, 1000 * (failure.retryAfter ?? 2)));
    }
  }
  fillSelect(source, sourcesOf(directions));
  showLanguages();
  showCount();
  button.disabled = directions.length === 0;
}

/** A new request ends the one before it, whose answer nobody waits for any more. */
async function translateText() {
  stopRunning();
  if (text.value === "") {
    showText("", target.value);
    text.focus();
    return;
  }
  const mine = new AbortController();
  running = mine;
  const asked = { text: text.value, source: source.value, target: target.value, decoding: decoding() };
  showBusy();
  const begun = performance.now();
  try {
    const answer = await translate(asked, mine.signal);
    showAnswer(answer, { target: asked.target, seconds: (performance.now() - begun) / 1000 });
  } catch (failure) {
    if (!mine.signal.aborted) showError(failure);
  } finally {
    if (running === mine) running = null;
  }
}

/** The limits are the service's to know: what it refuses, it explains beside the field. */
function decoding() {
  if (form.elements.strategy.value === "greedy") return { strategy: "greedy" };
  return { strategy: "beam", beam_size: beamSize.valueAsNumber, n_best: nBest.valueAsNumber };
}

function stopRunning() {
  running?.abort();
  running = null;
}

/** An answer in the language chosen before would stand under the wrong name. */
function changeLanguages() {
  stopRunning();
  showLanguages();
  showText("", target.value);
}

/** Languages and texts change places, so that swapping twice brings everything back. */
function swapLanguages() {
  const translation = running === null ? shownText() : "";
  const written = text.value;
  const writtenIn = source.value;
  stopRunning();
  source.value = target.value;
  showLanguages();
  target.value = writtenIn;
  showLanguages();
  if (translation !== "") text.value = translation;
  showText(translation === "" ? "" : written, writtenIn);
  showCount();
}

function showLanguages() {
  fillSelect(target, targetsOf(directions, source.value));
  swap.disabled = !canTranslate(directions, target.value, source.value);
  text.lang = source.value;
}

function showSettings() {
  const greedy = form.elements.strategy.value === "greedy";
  beamSize.disabled = greedy;
  nBest.disabled = greedy;
  byId("strategy-note").textContent = greedy ? words.greedy : words.beam;
}

function showCount() {
  const characters = [...text.value].length; // code points, as the service counts
  const tooMany = characters > mostCharacters;
  const count = byId("count");
  count.textContent = tooMany ? words.tooMany(characters, mostCharacters) : words.characters(characters);
  count.classList.toggle("alarm", tooMany);
}
