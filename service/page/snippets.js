// The request that the page would send, as a program would: for this service's own dialect and the two it also speaks.

const KINDS = {
  "curl · v1": ({ base, json }) => `curl ${base}v1/translate -H 'content-type: application/json' \\\n  -d '${shell(json)}'`,
  "Python · v1": ({ base, json }) => `import json, urllib.request

request = urllib.request.Request(
    "${base}v1/translate",
    json.dumps(${python(json)}).encode(),
    {"Content-Type": "application/json"},
)
with urllib.request.urlopen(request) as response:
    print(json.load(response)["translation"]["text"])`,
  "curl · LibreTranslate": ({ base, text, source, target }) =>
    `curl ${base}translate -H 'content-type: application/json' \\\n  -d '${shell({ q: text, source, target })}'`,
  "Python · LibreTranslate": ({ base, text, source, target }) => `from libretranslatepy import LibreTranslateAPI

service = LibreTranslateAPI("${base}")
print(service.translate(${quoted(text)}, "${source}", "${target}"))`,
  "curl · DeepL": ({ base, text, source, target }) =>
    `curl ${base}v2/translate -H 'Authorization: DeepL-Auth-Key any' \\\n  -H 'content-type: application/json' \\\n  -d '${shell({ text: [text], ...(source === "auto" ? {} : { source_lang: source.toUpperCase() }), target_lang: deeplTarget(target) })}'`,
  "Python · DeepL": ({ base, text, source, target }) => `import deepl

client = deepl.DeepLClient("any", server_url="${base.replace(/\/$/, "")}")
result = client.translate_text(${quoted(text)}${source === "auto" ? "" : `, source_lang="${source.toUpperCase()}"`}, target_lang="${deeplTarget(target)}")
print(result.text)`,
};

export const kinds = Object.keys(KINDS);

/** @param wanted the body of a request to v1/translate */
export function snippet(kind, wanted) {
  const base = new URL(".", location.href).href;
  const { text, source, target } = wanted;
  return KINDS[kind]({ base, json: wanted, text, source, target });
}

const quoted = (text) => JSON.stringify(text);

/** JSON that can stand between the quotes of a shell. */
const shell = (value) => JSON.stringify(value).replaceAll("'", "\\u0027");

const python = (value) => JSON.stringify(value).replaceAll("true", "True").replaceAll("false", "False");

const deeplTarget = (code) => (code === "en" ? "EN-US" : code.toUpperCase());
