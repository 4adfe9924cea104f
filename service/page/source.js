// A module of this repository as it runs here. The address says which, and what to point at: #model/attention.py:attend

import { say, showWords } from "./words.js";

const byId = (id) => document.getElementById(id);

showWords();
addEventListener("hashchange", show);
await show();

async function show() {
  const [path, name] = location.hash.slice(1).split(":");
  byId("path").textContent = path;
  document.title = `${path} · Dragoman`;
  const response = await fetch(`../source/${path}`);
  byId("error").hidden = response.ok;
  byId("error").textContent = response.ok ? "" : say("source.missing");
  const lines = response.ok ? (await response.text()).trimEnd().split("\n") : [];
  const meant = part(lines, name);
  byId("lines").replaceChildren(...lines.map((line, place) => {
    const item = document.createElement("li");
    item.className = place >= meant.first && place < meant.end ? "meant" : "";
    item.append(Object.assign(document.createElement("code"), { textContent: line || " " }));
    return item;
  }));
  byId("lines").querySelector(".meant")?.scrollIntoView({ block: "center" });
}

/** The lines of a function or class: from its name to the next line that is indented as it is. */
function part(lines, name) {
  const first = lines.findIndex((line) => new RegExp(`^\\s*(def|class) ${name}\\b`).test(line));
  if (first < 0) return { first: -1, end: -1 };
  const indent = lines[first].search(/\S/);
  const signature = lines.findIndex((line, place) => place >= first && line.trimEnd().endsWith(":"));
  const after = lines.findIndex((line, place) => place > signature && line.trim() !== "" && line.search(/\S/) <= indent);
  let end = after < 0 ? lines.length : after;
  while (lines[end - 1].trim() === "" || lines[end - 1].trim().startsWith("@")) end -= 1;
  return { first, end };
}
