// What a browser keeps for its person, and no server sees. A browser may forbid it: then nothing is kept.

export function recall(name, otherwise) {
  try {
    return JSON.parse(localStorage.getItem(`dragoman.${name}`)) ?? otherwise;
  } catch {
    return otherwise;
  }
}

export function keep(name, value) {
  try {
    localStorage.setItem(`dragoman.${name}`, JSON.stringify(value));
  } catch {
    // full, or forbidden
  }
}
