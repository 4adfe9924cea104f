// What the glass box knows, in one place: views watch it, controls change it.

export const DEFAULTS = { beam_size: 5, length_penalty: 1, margin: 3, temperature: 1, prefix: [], silent_heads: [], follow: "beam" };

export const state = {
  question: { text: "", source: "", target: "", ...DEFAULTS },
  answer: null, // as POST v1/inspect gave it
  step: 0, // the target position that is looked at: it has read target[0 … step] and says choices[step]
  zoom: { level: "sentence", part: "decoder", layer: 0, head: 0 },
  hover: null, // {side: "source" | "target", place}
  busy: false,
};

const watchers = [];
let pending = null;

/** Call `react` after any of the named parts of the state has changed; several changes at once are one. */
export function watch(names, react) {
  watchers.push({ names, react });
}

export function change(parts) {
  Object.assign(state, parts);
  if (pending === null) {
    pending = new Set();
    queueMicrotask(() => {
      const changed = pending;
      pending = null;
      for (const { names, react } of watchers) {
        if (names.some((name) => changed.has(name))) react(state);
      }
    });
  }
  for (const name of Object.keys(parts)) pending.add(name);
}

/** How many positions the decoder has in this answer. */
export const positions = (answer) => answer.choices.length;

export const isSilent = (part, layer, head) =>
  state.question.silent_heads.some((one) => one.part === part && one.layer === layer && one.head === head);

export function toggleHead(part, layer, head) {
  const others = state.question.silent_heads.filter(
    (one) => !(one.part === part && one.layer === layer && one.head === head),
  );
  const isOff = others.length < state.question.silent_heads.length;
  ask({ silent_heads: isOff ? others : [...others, { part, layer, head }] });
}

/** Change the question; whoever watches it asks the service. */
export const ask = (changes) => change({ question: { ...state.question, ...changes } });

/** The attention weights [head][row][column] of one sublayer. */
export function weightsOf(answer, part, layer) {
  if (part === "cross") return answer.decoder.layers[layer].cross;
  return answer[part].layers[layer].attention;
}

/** What asks and what is asked in a part: pieces of rows and of columns. */
export function sidesOf(answer, part) {
  const [source, target] = [answer.source.pieces, answer.target.pieces];
  return { encoder: [source, source], decoder: [target, target], cross: [target, source] }[part];
}
