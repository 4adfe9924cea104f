// The translator: what a person writes and chooses, and the request that follows from it.

import { fetchModels, translate } from "./api.js";
import { copyAnswer, showAnswer, showBeginning, showBusy, showError, showText, shownText, tell, writeClipboard } from "./answer.js";
import { startFiles } from "./files.js";
import { fragmentOf, readFragment } from "./fragment.js";
import { showGlossary, startGlossary, terms } from "./glossary.js";
import { remember, startHistory } from "./history.js";
import { askForKey, isAboutKey, isLocked, needsKey, showAccess, startKey } from "./key.js";
import { canTranslate, directionsOf, fillSelect, languageName, sourcesOf, targetsOf } from "./languages.js";
import { kinds, snippet } from "./snippets.js";
import { percent, say, showWords } from "./words.js";

const AUTO = "auto";
const WAIT = 450; // ms without a keystroke before a text is translated by itself
const UNFINISHED = "dragoman.unfinished"; // what was written, while the page is loaded anew in another language

const byId = (id) => document.getElementById(id);
const form = byId("translator");
const [source, target, swap, text, button] = ["source", "target", "swap", "text", "translate"].map(byId);

let directions = []; // [source, target] pairs that can be translated
let direct = []; // those that one model translates by itself, and that can be looked into
let mostCharacters = Infinity; // in one text
let running = null; // AbortController of the request that the page waits for
let timer = null; // of the request to come
let detected = ""; // the language that the service found the text to be in

showWords();
form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (isLocked()) return askForKey();
  if (text.value === "") text.focus();
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
text.addEventListener("input", () => {
  showCount();
  translateSoon();
});
form.addEventListener("change", showSettings);
byId("copy").addEventListener("click", copyAnswer);
byId("link").addEventListener("click", copyLink);
byId("kind").replaceChildren(...kinds.map((kind) => new Option(kind)));
byId("kind").addEventListener("change", showSnippet);
byId("programs").addEventListener("toggle", showSnippet);
byId("copy-snippet").addEventListener("click", () => writeClipboard(byId("snippet").textContent, byId("snippet")));
addEventListener("pagehide", () => sessionStorage.setItem(UNFINISHED, JSON.stringify(wanted())));
startKey(() => {
  text.focus();
  translateText();
});
startFiles(() => ({ source: source.value, target: target.value }));
startGlossary(translateSoon);
startHistory(open);

if (/Mac|iPhone|iPad/.test(navigator.platform)) byId("modifier").textContent = "⌘";
showCount(); // a reloaded page may bring back what was typed and chosen
showSettings();
await loadModels();
const left = readFragment().text ? readFragment() : JSON.parse(sessionStorage.getItem(UNFINISHED) ?? "null");
if (left?.text) open(left);

/** Ask until there is an answer: the page may be opened while the model still loads. */
async function loadModels() {
  for (;;) {
    try {
      const { models, detours, limits, key_required } = await fetchModels();
      showAccess(key_required);
      byId("model").textContent = say("models", models.map((model) => model.name));
      direct = directionsOf(models);
      directions = [...direct, ...(detours ?? []).map((detour) => [detour.source, detour.target])];
      mostCharacters = limits.max_text_characters;
      break;
    } catch (failure) {
      byId("model").textContent = failure.code === "unreachable" ? failure.message : say("loading");
      await new Promise((resolve) => setTimeout(resolve, 1000 * (failure.retryAfter ?? 2)));
    }
  }
  fillSelect(source, sourcesOf(directions));
  source.prepend(new Option(say("auto"), AUTO));
  source.value = AUTO;
  showLanguages();
  showCount();
  button.disabled = directions.length === 0;
  if (text.value) translateSoon();
}

/** A text and its languages from a link, the history, or before the page was loaded anew. */
function open(entry) {
  if ([...source.options].some(({ value }) => value === entry.source)) source.value = entry.source;
  showLanguages();
  if ([...target.options].some(({ value }) => value === entry.target)) target.value = entry.target;
  showLanguages();
  text.value = entry.text;
  showCount();
  translateText();
}

function translateSoon() {
  stopRunning();
  timer = setTimeout(translateText, text.value === "" ? 0 : WAIT);
}

/** A new request ends the one before it, whose answer nobody waits for any more. */
async function translateText() {
  stopRunning();
  if (button.disabled || isLocked()) return;
  if (text.value === "") {
    showText("", target.value);
    showDetected(null);
    showWays();
    return;
  }
  const mine = new AbortController();
  running = mine;
  const asked = wanted();
  showBusy();
  const begun = performance.now();
  try {
    const answer = await translate(asked, mine.signal, (beginning) => showBeginning(beginning, asked.target));
    showAnswer(answer, { target: asked.target, seconds: (performance.now() - begun) / 1000 });
    showDetected(answer.detected);
    if (detected === target.value && turnAround()) return;
    showWays();
    remember({ text: asked.text, source: asked.source, target: asked.target, translation: answer.text });
  } catch (failure) {
    if (mine.signal.aborted) return;
    if (isAboutKey(failure)) showText("", target.value);
    else showError(failure);
  } finally {
    if (running === mine) running = null;
  }
}

/** The body of the request. The limits are the service's to know: what it refuses, it explains beside the field. */
function wanted() {
  const settled = terms(source.value === AUTO ? detected : source.value, target.value);
  return {
    text: text.value,
    source: source.value,
    target: target.value,
    ...(Object.keys(settled).length ? { terms: settled } : {}),
    decoding: decoding(),
  };
}

function decoding() {
  if (form.elements.strategy.value === "greedy") return { strategy: "greedy" };
  return { strategy: "beam", beam_size: byId("beam-size").valueAsNumber, n_best: byId("n-best").valueAsNumber };
}

function stopRunning() {
  clearTimeout(timer);
  running?.abort();
  running = null;
}

/** An answer in the language chosen before would stand under the wrong name. */
function changeLanguages() {
  stopRunning();
  showLanguages();
  showText("", target.value);
  if (text.value) translateText();
}

/** Languages and texts change places, so that swapping twice brings everything back. */
function swapLanguages() {
  const translation = running === null ? shownText() : "";
  const written = text.value;
  const writtenIn = source.value === AUTO ? detected : source.value;
  stopRunning();
  source.value = target.value;
  showLanguages();
  target.value = writtenIn;
  showLanguages();
  if (translation !== "") text.value = translation;
  showText(translation === "" ? "" : written, writtenIn);
  showDetected(null);
  showCount();
  if (translation === "" && text.value) translateText();
}

/** Whoever writes in the language that was wanted, wants another one. */
function turnAround() {
  const [other] = targetsOf(directions, detected);
  if (other === undefined) return false;
  target.value = other;
  showLanguages();
  translateText();
  return true;
}

function showLanguages() {
  const isAuto = source.value === AUTO;
  const targets = isAuto ? [...new Set(directions.map(([, to]) => to))] : targetsOf(directions, source.value);
  fillSelect(target, targets);
  const from = isAuto ? detected : source.value;
  swap.disabled = !canTranslate(directions, target.value, from);
  text.lang = from;
  showGlossary(from || AUTO, target.value);
  showSnippet();
}

function showDetected(found) {
  detected = found?.confidence > 0 ? found.language : "";
  byId("detected").textContent = detected ? say("detected", languageName(detected), percent(found.confidence)) : "";
  showLanguages();
}

/** Where one can go from here with this text: to a friend by a link, or into the model. */
function showWays() {
  const from = source.value === AUTO ? detected : source.value;
  const isShown = shownText() !== "" && canTranslate(direct, from, target.value);
  byId("link").disabled = text.value === "";
  byId("look").hidden = !isShown;
  const [sentence] = text.value.match(/^\s*[^\n]*?[.!?。！？](?=\s|$)|^\s*[^\n]+/u) ?? [""];
  byId("look").href = `inspect${fragmentOf({ text: sentence.trim(), source: from, target: target.value })}`;
}

async function copyLink() {
  const address = new URL(fragmentOf(wanted()), location.href).href;
  history.replaceState(null, "", fragmentOf(wanted()));
  if (navigator.clipboard) await navigator.clipboard.writeText(address).catch(() => {});
  tell(say("link.copied"));
}

function showSettings() {
  const greedy = form.elements.strategy.value === "greedy";
  byId("beam-size").disabled = greedy;
  byId("n-best").disabled = greedy;
  byId("strategy-note").textContent = greedy ? say("greedy.note") : say("beam.note");
  showSnippet();
}

function showSnippet() {
  if (byId("programs").open) byId("snippet").textContent = snippet(byId("kind").value, wanted(), needsKey());
}

function showCount() {
  const characters = [...text.value].length; // code points, as the service counts
  const tooMany = characters > mostCharacters;
  const count = byId("count");
  count.textContent = tooMany ? say("characters.many", characters, mostCharacters) : say("characters", characters);
  count.classList.toggle("alarm", tooMany);
  showSnippet();
}
