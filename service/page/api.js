// The service's JSON API, as far as the pages need it. Paths are relative: the pages also work under a prefix.

import { key } from "./key.js";
import { say } from "./words.js";

/** What the service refused or could not do: its code, its message and, where it named one, the field. */
export class ServiceError extends Error {
  constructor({ code, message, field = null, retryAfter = null }) {
    super(message);
    this.name = "ServiceError";
    this.code = code;
    this.field = field;
    this.retryAfter = retryAfter; // seconds; null unless the service said when to come back
  }
}

/** What the service can do: {models: [{name, directions: [{source, target}]}], limits: {max_text_characters}, key_required}. */
export const fetchModels = () => request("v1/models", {});

/** One sentence laid open; see POST v1/inspect in the API. */
export const fetchInspection = (question, signal) => request("v1/inspect", posted(question, signal));

/** The numbers of one head. */
export const fetchHead = (question, signal) => request("v1/inspect/head", posted(question, signal));

/**
 * One text → {text, score, truncated, alternatives?, detected?}. `onText` is told the beginning of the translation as it
 * grows, sentence by sentence. Rejects with ServiceError, or AbortError after `signal`.
 */
export async function translate(wanted, signal, onText) {
  const options = posted(wanted, signal);
  options.headers.Accept = "text/event-stream, application/json";
  const response = await reach("v1/translate", options);
  if (!response.headers.get("Content-Type")?.startsWith("text/event-stream")) {
    return (await understood(response)).translation;
  }
  let text = "";
  for await (const { event, data } of events(response)) {
    if (event === "done") return data.translation;
    if (event === "error") throw failure(response, data);
    text += data.text;
    onText(text);
  }
  throw new ServiceError({ code: "cut_off", message: say("error.unreachable") });
}

/** A file → where its translation can be fetched. `onProgress` is told the share that has been sent, 0 … 1. */
export function translateFile(file, source, target, onProgress) {
  const form = new FormData();
  for (const [name, value] of Object.entries({ file, source, target })) form.append(name, value);
  if (key()) form.append("api_key", key()); // as the dialect of this path has it
  return new Promise((resolve, reject) => {
    const sending = new XMLHttpRequest(); // fetch does not tell how much has been sent
    sending.responseType = "json";
    sending.upload.addEventListener("progress", ({ loaded, total }) => onProgress(total ? loaded / total : 0));
    sending.addEventListener("error", () => reject(new ServiceError({ code: "unreachable", message: say("error.unreachable") })));
    sending.addEventListener("load", () => {
      const url = sending.response?.translatedFileUrl;
      if (sending.status === 200 && url) resolve(new URL(url).pathname.split("/").slice(-2).join("/"));
      else reject(new ServiceError({ code: sending.status === 403 ? "wrong_key" : `http_${sending.status}`, message: messageOf(sending.response) ?? say("error.silent", sending.status) }));
    });
    sending.open("POST", "translate_file");
    sending.send(form);
  });
}

const posted = (body, signal) => ({
  method: "POST",
  headers: { "Content-Type": "application/json", ...(key() ? { Authorization: `Bearer ${key()}` } : {}) },
  body: JSON.stringify(body),
  signal,
});

const request = async (path, options) => understood(await reach(path, options));

async function reach(path, options) {
  try {
    return await fetch(path, options);
  } catch (cause) {
    if (cause.name === "AbortError") throw cause;
    throw new ServiceError({ code: "unreachable", message: say("error.unreachable") });
  }
}

async function understood(response) {
  const body = await readJson(response);
  if (response.ok && body !== null) return body;
  throw failure(response, body);
}

function failure(response, body) {
  return new ServiceError({
    code: body?.error?.code ?? `http_${response.status}`,
    message: messageOf(body) ?? say("error.silent", response.status),
    field: body?.error?.field ?? null,
    retryAfter: seconds(response.headers.get("Retry-After")),
  });
}

/** Ours is an object with a message, LibreTranslate's a string. */
const messageOf = (body) => body?.error?.message ?? (typeof body?.error === "string" ? body.error : undefined);

/** Server-sent events as they come in: blocks of lines that an empty line ends. */
async function* events(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let unread = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (unread + value).split("\n\n");
    unread = blocks.pop();
    for (const block of blocks) {
      const fields = Object.fromEntries(block.split("\n").map((line) => line.split(/: (.*)/s, 2)));
      yield { event: fields.event, data: JSON.parse(fields.data) };
    }
  }
}

async function readJson(response) {
  try {
    return await response.json();
  } catch (cause) {
    if (cause.name === "AbortError") throw cause;
    return null; // a proxy's HTML page, or an answer that was cut off
  }
}

function seconds(header) {
  const value = Number.parseInt(header, 10);
  return Number.isNaN(value) ? null : value;
}
