// The glass box: asks the service about one sentence and lets the views show it.

import { fetchInspection, fetchModels } from "../api.js";
import { readFragment, writeFragment } from "../fragment.js";
import { isAboutKey, isLocked, showAccess, startKey } from "../key.js";
import { directionsOf, fillSelect, sourcesOf, targetsOf } from "../languages.js";
import { say, showWords } from "../words.js";
import "./flow.js";
import "./block.js";
import "./head.js";
import "./heads.js";
import "./next.js";
import "./tree.js";
import "./what-if.js";
import { show } from "./map.js";
import { DEFAULTS, change, positions, state, watch } from "./store.js";
import { pause, play } from "./transport.js";

const EXAMPLES = { en: "I would like a cup of coffee, please.", de: "Der letzte Zug nach Hause ist schon weg.", fr: "Je voudrais une tasse de café, s'il vous plaît.", zh: "我想要一杯咖啡。" };
const WAIT = 250; // ms after the last change before the service is asked

const byId = (id) => document.getElementById(id);
const [text, source, target] = ["text", "source", "target"].map(byId);
let directions = [];
let asked = ""; // the question as JSON, so that the same is not asked twice
let running = null;
let timer = null;

showWords();
document.addEventListener("submit", (event) => {
  event.preventDefault();
  askAnew();
});
text.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey) return;
  event.preventDefault();
  askAnew();
});
source.addEventListener("change", () => {
  fillSelect(target, targetsOf(directions, source.value));
  askAnew();
});
target.addEventListener("change", askAnew);
watch(["question"], askSoon);
startKey(() => {
  text.focus();
  askNow();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => change({ theme: {} }));
new ResizeObserver(() => change({ width: byId("sentence").clientWidth })).observe(byId("stage"));
show();
await begin();

async function begin() {
  for (;;) {
    try {
      const { models, key_required } = await fetchModels();
      showAccess(key_required);
      directions = directionsOf(models);
      break;
    } catch (failure) {
      byId("notice").textContent = failure.code === "unreachable" ? failure.message : say("loading");
      await new Promise((resolve) => setTimeout(resolve, 1000 * (failure.retryAfter ?? 2)));
    }
  }
  byId("notice").textContent = "";
  fillSelect(source, sourcesOf(directions));
  const wanted = readFragment();
  if (wanted.source) source.value = wanted.source;
  if (!source.value) source.selectedIndex = 0;
  fillSelect(target, targetsOf(directions, source.value));
  if (wanted.target && targetsOf(directions, source.value).includes(wanted.target)) target.value = wanted.target;
  text.value = wanted.text || EXAMPLES[source.value] || "";
  byId("look").disabled = false;
  askAnew();
}

/** Another sentence: what was forced belonged to the last one. */
function askAnew() {
  if (!text.value.trim()) return text.focus();
  const question = { ...state.question, text: text.value.trim(), source: source.value, target: target.value };
  const isOther = ["text", "source", "target"].some((name) => question[name] !== state.question[name]);
  writeFragment({ text: question.text, source: question.source, target: question.target });
  change({ question: isOther ? { ...question, prefix: DEFAULTS.prefix } : question, fresh: isOther });
}

function askSoon() {
  clearTimeout(timer);
  timer = setTimeout(askNow, state.answer ? WAIT : 0);
}

async function askNow() {
  const question = JSON.stringify(state.question);
  if (question === asked || isLocked()) return;
  running?.abort();
  running = new AbortController();
  const { signal } = running;
  asked = question;
  byId("stage").setAttribute("aria-busy", "true");
  try {
    show_(await fetchInspection(state.question, signal));
  } catch (failure) {
    if (signal.aborted) return;
    asked = "";
    byId("notice").textContent = failure.message;
    byId("notice").hidden = isAboutKey(failure);
  }
  if (!signal.aborted) byId("stage").removeAttribute("aria-busy");
}

function show_(answer) {
  byId("notice").hidden = true;
  const last = positions(answer) - 1;
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const isFresh = state.fresh;
  pause();
  change({ answer, fresh: false, hover: null, step: isFresh ? (calm ? last : 0) : Math.min(state.step, last) });
  document.body.dataset.ready = "true";
  if (isFresh && !calm) play();
}
