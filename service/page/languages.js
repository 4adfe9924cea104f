// Which languages can be chosen, and what the two selects may hold together.

/** The directions of all models without repetition, as [source, target] pairs of language codes. */
export function directionsOf(models) {
  const pairs = models.flatMap((model) => model.directions.map(({ source, target }) => [source, target]));
  return [...new Map(pairs.map((pair) => [pair.join(">"), pair])).values()];
}

export const sourcesOf = (directions) => unique(directions.map(([source]) => source));

export const targetsOf = (directions, source) =>
  unique(directions.filter(([from]) => from === source).map(([, to]) => to));

export const canTranslate = (directions, source, target) =>
  directions.some(([from, to]) => from === source && to === target);

/** Put languages into a select; keeps the choice where it is still offered, else takes the first. */
export function fillSelect(select, codes) {
  const chosen = select.value;
  select.replaceChildren(...codes.map((code) => new Option(languageName(code), code)));
  if (codes.includes(chosen)) select.value = chosen;
  select.disabled = codes.length === 0;
}

/** "de" → "German", in the language of the page; the code itself where the browser knows no name. */
export function languageName(code) {
  const names = new Intl.DisplayNames([document.documentElement.lang], { type: "language" });
  try {
    return names.of(code);
  } catch {
    return code; // not a well-formed language code
  }
}

const unique = (values) => [...new Set(values)];
