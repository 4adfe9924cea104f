// The right-hand pane: a translation, its alternatives, or an error. Text enters the page by textContent only.

import { languageName } from "./languages.js";
import { number, say } from "./words.js";

const byId = (id) => document.getElementById(id);
const translation = byId("translation");
const facts = byId("facts");
const error = byId("error");
const alternatives = byId("alternatives");

/** The old answer stays, dimmed, until the new one begins. */
export function showBusy() {
  clearError();
  translation.setAttribute("aria-busy", "true");
  facts.textContent = say("translating");
}

/** The beginning of a translation whose end is not there yet. */
export function showBeginning(text, language) {
  translation.classList.add("growing");
  translation.textContent = text;
  translation.lang = language;
}

/** @param answer {text, score, truncated, alternatives?, through?} as the service gave it */
export function showAnswer(answer, { target, seconds }) {
  showText(answer.text, target);
  byId("truncated").hidden = !answer.truncated;
  const way = answer.through ? [say("through", languageName(answer.through))] : [];
  facts.textContent = [say("seconds", number(seconds, seconds < 10 ? 2 : 1)), scoreOf(answer), ...way].join(" · ");
  alternatives.lang = target;
  const others = answer.alternatives ?? [];
  alternatives.querySelector("ol").replaceChildren(...others.map((other) => alternativeItem(other, target)));
  alternatives.hidden = others.length === 0;
}

/** A text without a score: what a swap brings over from the other box, or nothing at all. */
export function showText(text, language) {
  clearError();
  translation.removeAttribute("aria-busy");
  translation.classList.remove("growing");
  translation.textContent = text;
  translation.lang = language;
  byId("copy").disabled = text === "";
  facts.textContent = "";
  byId("truncated").hidden = true;
  alternatives.hidden = true;
}

/** An answer that no longer belongs to the text must not stand beside an error. */
export function showError(failure) {
  showText("", translation.lang);
  const retry = failure.retryAfter ? ` ${say("retry", number(failure.retryAfter))}` : "";
  const code = document.createElement("code");
  code.textContent = failure.code ?? failure.name;
  error.replaceChildren(failure.message + retry, code);
  error.hidden = false;
  const control = controlOf(failure.field);
  control?.setAttribute("aria-invalid", "true");
  control?.setAttribute("aria-errormessage", error.id);
}

export const shownText = () => translation.textContent;

export async function copyAnswer() {
  facts.textContent = (await writeClipboard(shownText(), translation)) ? say("copied") : say("copy.failed");
}

export const tell = (text) => {
  facts.textContent = text;
};

/** `shown` is an element that holds the text, for browsers without a clipboard. */
export async function writeClipboard(text, shown) {
  if (navigator.clipboard) {
    return navigator.clipboard.writeText(text).then(() => true, () => false);
  }
  // Plain http from another machine has no clipboard object; the old command still works there.
  getSelection().selectAllChildren(shown);
  return document.execCommand("copy");
}

function clearError() {
  error.hidden = true;
  error.textContent = "";
  for (const control of document.querySelectorAll("#translator [aria-invalid]")) {
    control.removeAttribute("aria-invalid");
    control.removeAttribute("aria-errormessage");
  }
}

const scoreOf = ({ score }) => say("score", number(score, 2));

/** The service names fields by their path in the request, such as "decoding.beam_size". */
function controlOf(field) {
  return field ? document.querySelector(`[data-field="${CSS.escape(field)}"]`) : null;
}

function alternativeItem(other, language) {
  const item = document.createElement("li");
  const wording = document.createElement("span");
  wording.lang = language;
  wording.dir = "auto";
  wording.textContent = other.text;
  const rank = document.createElement("span");
  rank.className = "quiet";
  rank.textContent = scoreOf(other);
  item.append(wording, rank);
  return item;
}
