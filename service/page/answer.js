// The right-hand pane: a translation, its alternatives, or an error. Text enters the page by textContent only.

import { words } from "./words.js";

const byId = (id) => document.getElementById(id);
const translation = byId("translation");
const facts = byId("facts");
const error = byId("error");
const alternatives = byId("alternatives");
const copy = byId("copy");

/** The old answer stays, dimmed, until the new one is there. */
export function showBusy() {
  clearError();
  translation.setAttribute("aria-busy", "true");
  facts.textContent = words.translating;
}

/** @param answer {text, score, truncated, alternatives?} as the service gave it */
export function showAnswer(answer, { target, seconds }) {
  showText(answer.text, target);
  byId("truncated").hidden = !answer.truncated;
  facts.textContent = [words.seconds(seconds), words.score(answer.score)].join(" · ");
  alternatives.lang = target;
  const others = answer.alternatives ?? [];
  alternatives.querySelector("ol").replaceChildren(...others.map((other) => alternativeItem(other, target)));
  alternatives.hidden = others.length === 0;
}

/** A text without a score: what a swap brings over from the other box, or nothing at all. */
export function showText(text, language) {
  clearError();
  translation.removeAttribute("aria-busy");
  translation.textContent = text;
  translation.lang = language;
  copy.disabled = text === "";
  facts.textContent = "";
  byId("truncated").hidden = true;
  alternatives.hidden = true;
}

/** An answer that no longer belongs to the text must not stand beside an error. */
export function showError(failure) {
  showText("", translation.lang);
  const retry = failure.retryAfter ? ` ${words.retry(failure.retryAfter)}` : "";
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
  facts.textContent = (await writeClipboard(shownText())) ? words.copied : words.copyFailed;
}

function clearError() {
  error.hidden = true;
  error.textContent = "";
  for (const control of document.querySelectorAll("[aria-invalid]")) {
    control.removeAttribute("aria-invalid");
    control.removeAttribute("aria-errormessage");
  }
}

/** The service names fields by their path in the request, such as "decoding.beam_size". */
function controlOf(field) {
  return field ? document.querySelector(`[data-field="${CSS.escape(field)}"]`) : null;
}

function alternativeItem({ text, score }, language) {
  const item = document.createElement("li");
  const wording = document.createElement("span");
  wording.lang = language;
  wording.dir = "auto";
  wording.textContent = text;
  const rank = document.createElement("span");
  rank.className = "quiet";
  rank.textContent = words.score(score);
  item.append(wording, rank);
  return item;
}

async function writeClipboard(text) {
  if (navigator.clipboard) {
    return navigator.clipboard.writeText(text).then(() => true, () => false);
  }
  // Plain http from another machine has no clipboard object; the old command still works there.
  getSelection().selectAllChildren(translation);
  return document.execCommand("copy");
}
