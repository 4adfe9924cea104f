// Every sentence that the scripts write into the page; the rest stands in index.html.

const number = (value, digits = 0) =>
  new Intl.NumberFormat(document.documentElement.lang, {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
    signDisplay: "negative",
  })
    .format(value)
    .replace("-", "\u2212"); // the minus sign, as wide as a digit

export const words = {
  characters: (count) => `${number(count)} ${count === 1 ? "character" : "characters"}`,
  tooMany: (count, most) => `${number(count)} characters, ${number(most)} are allowed`,
  score: (score) => `score ${number(score, 2)}`,
  seconds: (value) => `${number(value, value < 10 ? 2 : 1)} s`,
  copied: "Copied",
  copyFailed: "The browser did not allow copying.",
  translating: "Translating…",
  models: (names) => (names.length === 0 ? "No model" : `Model ${names.join(", ")}`),
  loading: "The model is loading…",
  retry: (seconds) => `Try again in ${number(seconds)} s.`,
  beam: "Weighs several drafts at once.",
  greedy: "Takes the likeliest word each time: faster.",
};
