// The service's JSON API, as far as the page needs it. Paths are relative: the page also works under a prefix.

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

/** What the service can do: {models: [{name, directions: [{source, target}]}], limits: {max_text_characters}}. */
export const fetchModels = () => request("v1/models", {});

/** One text → {text, score, truncated, alternatives?}. Rejects with ServiceError, or AbortError after `signal`. */
export async function translate({ text, source, target, decoding }, signal) {
  const { translation } = await request("v1/translate", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ text, source, target, decoding }),
    signal,
  });
  return translation;
}

async function request(path, options) {
  let response;
  try {
    response = await fetch(path, options);
  } catch (cause) {
    if (cause.name === "AbortError") throw cause;
    throw new ServiceError({ code: "unreachable", message: "The service cannot be reached. Is it running?" });
  }
  const body = await readJson(response);
  if (response.ok && body !== null) return body;
  throw new ServiceError({
    code: body?.error?.code ?? `http_${response.status}`,
    message: body?.error?.message ?? `The server answered ${response.status} without an explanation.`,
    field: body?.error?.field ?? null,
    retryAfter: seconds(response.headers.get("Retry-After")),
  });
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
