// The request that the page would send, as a program would: for this service's own dialect and the two it also speaks.

const KEY = "YOUR_KEY"; // never the one that is kept in this browser
const KINDS = {
  "curl · v1": ({ base, json, locked }) =>
    `curl ${base}v1/translate${locked ? ` -H 'Authorization: Bearer ${KEY}' \\\n ` : ""} -H 'content-type: application/json' \\\n  -d '${shell(json)}'`,
  "Python · v1": ({ base, json, locked }) => `import json, urllib.request

request = urllib.request.Request(
    "${base}v1/translate",
    json.dumps(${python(json)}).encode(),
    {"Content-Type": "application/json"${locked ? `, "Authorization": "Bearer ${KEY}"` : ""}},
)
with urllib.request.urlopen(request) as response:
    print(json.load(response)["translation"]["text"])`,
  "curl · LibreTranslate": ({ base, text, source, target, locked }) =>
    `curl ${base}translate -H 'content-type: application/json' \\\n  -d '${shell({ q: text, source, target, ...(locked ? { api_key: KEY } : {}) })}'`,
  "Python · LibreTranslate": ({ base, text, source, target, locked }) => `from libretranslatepy import LibreTranslateAPI

service = LibreTranslateAPI("${base}"${locked ? `, "${KEY}"` : ""})
print(service.translate(${quoted(text)}, "${source}", "${target}"))`,
  "curl · DeepL": ({ base, text, source, target, locked }) =>
    `curl ${base}v2/translate -H 'Authorization: DeepL-Auth-Key ${locked ? KEY : "any"}' \\\n  -H 'content-type: application/json' \\\n  -d '${shell({ text: [text], ...(source === "auto" ? {} : { source_lang: source.toUpperCase() }), target_lang: deeplTarget(target) })}'`,
  "Python · DeepL": ({ base, text, source, target, locked }) => `import deepl

client = deepl.DeepLClient("${locked ? KEY : "any"}", server_url="${base.replace(/\/$/, "")}")
result = client.translate_text(${quoted(text)}${source === "auto" ? "" : `, source_lang="${source.toUpperCase()}"`}, target_lang="${deeplTarget(target)}")
print(result.text)`,
};

export const kinds = Object.keys(KINDS);

/** @param wanted the body of a request to v1/translate; `locked` says that the service wants a key */
export function snippet(kind, wanted, locked) {
  const base = new URL(".", location.href).href;
  const { text, source, target } = wanted;
  return KINDS[kind]({ base, json: wanted, text, source, target, locked });
}

const quoted = (text) => JSON.stringify(text);

/** JSON that can stand between the quotes of a shell. */
const shell = (value) => JSON.stringify(value).replaceAll("'", "\\u0027");

const python = (value) => JSON.stringify(value).replaceAll("true", "True").replaceAll("false", "False");

const deeplTarget = (code) => (code === "en" ? "EN-US" : code.toUpperCase());
