// The way from a picture to its explanation and to the code that computed it.

import { html } from "./draw.js";
import { readingLanguage, say } from "../words.js";

/** The paragraph of the document for each kind of sublayer. */
export const ANCHORS = { encoder: "attention", decoder: "masked", cross: "cross-attention", feed: "feed-forward" };

export const docLink = (anchor) => html("a", { href: `how-it-works/${readingLanguage}#${anchor}` }, say("link.how"));

export const codeLink = (path, name) =>
  html("a", { href: `static/source.html#${path}:${name}`, className: "code" }, `${path}`);
