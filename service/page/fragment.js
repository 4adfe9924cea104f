// A link to what is on the page, in the part of the address that no browser sends: texts stay out of every log.

/** {text, source, target}, as far as the address names them. */
export function readFragment() {
  const given = new URLSearchParams(location.hash.slice(1));
  return { text: given.get("text") ?? "", source: given.get("from") ?? "", target: given.get("to") ?? "" };
}

export const fragmentOf = ({ text, source, target }) => `#${new URLSearchParams({ from: source, to: target, text })}`;

export function writeFragment(question) {
  history.replaceState(null, "", fragmentOf(question));
}
