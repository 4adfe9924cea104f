// What was translated, kept in this browser only, and only where its person wants that.

import { keep, recall } from "./kept.js";
import { say } from "./words.js";

const MOST = 50;
const PATIENCE = 2500; // ms that a translation must stand: what is still being typed is no history

const byId = (id) => document.getElementById(id);
let timer = null;

/** `open({text, source, target})` is called for what is chosen from the list. */
export function startHistory(open) {
  byId("keep").checked = recall("keeps", true);
  byId("keep").addEventListener("change", ({ target }) => {
    keep("keeps", target.checked);
    if (!target.checked) forget();
  });
  byId("forget").addEventListener("click", forget);
  byId("past").addEventListener("click", ({ target }) => {
    const chosen = target.closest("button");
    if (chosen) open(recall("history", [])[Number(chosen.dataset.place)]);
  });
  show();
}

/** Remember a translation, unless another one follows at once. */
export function remember(entry) {
  clearTimeout(timer);
  if (!byId("keep").checked || !entry.text.trim()) return;
  timer = setTimeout(() => {
    const others = recall("history", []).filter(({ text, target }) => text !== entry.text || target !== entry.target);
    keep("history", [entry, ...others].slice(0, MOST));
    show();
  }, PATIENCE);
}

function forget() {
  clearTimeout(timer);
  keep("history", []);
  show();
}

function show() {
  const entries = recall("history", []);
  byId("forget").disabled = entries.length === 0;
  byId("past").replaceChildren(...(entries.length ? entries.map(line) : [Object.assign(document.createElement("li"), { className: "quiet", textContent: say("history.empty") })]));
}

function line({ text, translation, source, target }, place) {
  const button = Object.assign(document.createElement("button"), { type: "button" });
  button.dataset.place = place;
  button.append(Object.assign(document.createElement("span"), { textContent: text, lang: source === "auto" ? "" : source }), Object.assign(document.createElement("span"), { textContent: translation, lang: target }));
  const item = document.createElement("li");
  item.append(button);
  return item;
}
