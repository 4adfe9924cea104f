// The document's frame speaks the reader's language.

import { showWords } from "./words.js";

const { lang } = document.documentElement; // that of the document
showWords();
document.querySelector("main").lang = lang;
