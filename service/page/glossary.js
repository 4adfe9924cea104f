// Terms and how they are to be translated, for each pair of languages; kept in this browser, sent with each text.

import { keep, recall } from "./kept.js";
import { languageName } from "./languages.js";
import { say } from "./words.js";

const byId = (id) => document.getElementById(id);
let pair = ""; // such as "en>de"; empty while the source is not known

/** `changed()` is called after every change: what is shown may have to be translated anew. */
export function startGlossary(changed) {
  byId("new-term").addEventListener("submit", (event) => {
    event.preventDefault();
    event.stopPropagation();
    const [term, wording] = [byId("term").value.trim(), byId("wording").value.trim()];
    if (!pair || !term || !wording) return (term ? byId("wording") : byId("term")).focus();
    save({ ...termsOf(pair), [term]: wording }, changed);
    byId("new-term").reset();
    byId("term").focus();
  });
  byId("terms").addEventListener("click", ({ target }) => {
    const { term } = target.closest("button")?.dataset ?? {};
    if (term === undefined) return;
    const others = Object.entries(termsOf(pair)).filter(([other]) => other !== term);
    save(Object.fromEntries(others), changed);
  });
}

/** The terms for two languages, as the service wants them. */
export const terms = (source, target) => termsOf(`${source}>${target}`);

export function showGlossary(source, target) {
  const isKnown = source !== "auto" && source !== "";
  pair = isKnown ? `${source}>${target}` : "";
  byId("pair").textContent = isKnown ? say("glossary.pair", languageName(source), languageName(target)) : say("glossary.auto");
  byId("new-term").hidden = !isKnown;
  byId("terms").replaceChildren(...Object.entries(isKnown ? termsOf(pair) : {}).map(line));
}

const termsOf = (languages) => recall("glossary", {})[languages] ?? {};

function save(entries, changed) {
  keep("glossary", { ...recall("glossary", {}), [pair]: entries });
  showGlossary(...pair.split(">"));
  changed();
}

function line([term, wording]) {
  const item = document.createElement("li");
  const remove = Object.assign(document.createElement("button"), { type: "button", className: "icon", textContent: "×", ariaLabel: say("glossary.remove", term) });
  remove.dataset.term = term;
  item.append(Object.assign(document.createElement("span"), { textContent: term }), Object.assign(document.createElement("span"), { textContent: wording }), remove);
  return item;
}
