// Files: chosen or dropped anywhere, sent, translated, and fetched under a name that says so.

import { translateFile } from "./api.js";
import { askForKey, isAboutKey, isLocked } from "./key.js";
import { say } from "./words.js";

const byId = (id) => document.getElementById(id);

/** `languages()` gives {source, target} at the moment a file comes. */
export function startFiles(languages) {
  byId("file").addEventListener("change", ({ target }) => {
    for (const file of target.files) send(file, languages());
    target.value = "";
  });
  for (const name of ["dragover", "dragleave", "drop"]) {
    document.addEventListener(name, (event) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      document.body.classList.toggle("dropping", name === "dragover");
      if (name !== "drop") return;
      byId("files").open = true;
      for (const file of event.dataTransfer.files) send(file, languages());
    });
  }
}

async function send(file, { source, target }) {
  if (isLocked()) return askForKey();
  const progress = Object.assign(document.createElement("progress"), { max: 1, value: 0, ariaLabel: say("files.label") });
  const status = Object.assign(document.createElement("span"), { textContent: say("files.sending", file.name) });
  status.setAttribute("role", "status");
  const item = document.createElement("li");
  item.append(status, progress);
  byId("uploads").prepend(item);
  try {
    const path = await translateFile(file, source, target, (share) => {
      progress.value = share;
      if (share < 1) return;
      progress.removeAttribute("value"); // how long translating takes, nobody knows
      status.textContent = say("files.waiting", file.name);
    });
    const link = Object.assign(document.createElement("a"), { href: path, download: file.name, textContent: say("files.ready") });
    status.textContent = file.name;
    progress.replaceWith(link);
  } catch (failure) {
    isAboutKey(failure);
    progress.remove();
    status.textContent = `${file.name}: ${failure.message}`;
    status.setAttribute("role", "alert");
  }
}
