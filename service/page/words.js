// Every sentence of the pages, in the language of the person who reads them. The sentences are in words/.

const LANGUAGES = { en: "English", de: "Deutsch", fr: "Français", zh: "中文" };
const KEPT = "dragoman.language";

export const language = chosenLanguage();
const { words } = await import(`./words/${language}.js`);

/** The documents are there in English and Chinese. */
export const readingLanguage = language === "zh" ? "zh" : "en";

/** The sentence of a key; those that hold numbers or names are given them. */
export function say(key, ...parts) {
  const words_ = words[key];
  if (words_ === undefined) throw new Error(`no words for ${key}`);
  return typeof words_ === "function" ? words_(...parts) : words_;
}

/** Write the words into what is marked: data-say is a text, data-say-title and others are attributes. */
export function showWords() {
  document.documentElement.lang = language;
  for (const element of document.querySelectorAll("[data-say]")) element.textContent = say(element.dataset.say);
  for (const [mark, attribute] of [["sayLabel", "aria-label"], ["sayPlaceholder", "placeholder"], ["sayTitle", "title"], ["sayHint", "data-hint"]]) {
    const name = mark.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    for (const element of document.querySelectorAll(`[data-${name}]`)) element.setAttribute(attribute, say(element.dataset[mark]));
  }
  for (const link of document.querySelectorAll("[data-reading]")) link.setAttribute("href", `${link.dataset.reading}${readingLanguage}${link.dataset.anchor ?? ""}`);
  offerLanguages(document.getElementById("interface"));
}

export function number(value, digits = 0) {
  const format = new Intl.NumberFormat(language, { minimumFractionDigits: digits, maximumFractionDigits: digits, signDisplay: "negative" });
  return format.format(value).replace("-", "\u2212"); // the minus sign, as wide as a digit
}

export const percent = (value, digits = 0) =>
  new Intl.NumberFormat(language, { style: "percent", minimumFractionDigits: digits, maximumFractionDigits: digits }).format(value);

function offerLanguages(select) {
  if (!select) return;
  select.replaceChildren(...Object.entries(LANGUAGES).map(([code, name]) => new Option(name, code, code === language, code === language)));
  select.addEventListener("change", () => {
    remember(select.value);
    location.reload();
  });
}

function chosenLanguage() {
  const wanted = [remembered(), ...navigator.languages.map((code) => code.split("-")[0])];
  return wanted.find((code) => Object.hasOwn(LANGUAGES, code)) ?? "en";
}

// A browser may forbid a page to keep anything.
function remembered() {
  try {
    return localStorage.getItem(KEPT);
  } catch {
    return null;
  }
}

function remember(code) {
  try {
    localStorage.setItem(KEPT, code);
  } catch {
    // then it is chosen anew next time
  }
}
