// Azure's client for texts.
import azure, { isUnexpected } from "@azure-rest/ai-translation-text";
import { Report, key, locked, service } from "./reporting.mjs";

const report = new Report("@azure-rest/ai-translation-text");
const create = azure.default ?? azure;
async function translate(url, credential, language = "de") {
  const client = create(url, { key: credential }, { allowInsecureConnection: true, retryOptions: { maxRetries: 0 } });
  const body = { inputs: [{ text: "I have a dog.", targets: [{ language }] }] };
  const response = await client.path("/translate").post({ body });
  if (isUnexpected(response)) throw new Error(response.body.error.message);
  return response.body.value.map((one) => [one.translations[0].text, one.detectedLanguage?.language]);
}
await report.call("translate", () => translate(service, "any"));
await report.call("an unknown language", () => translate(service, "any", "zz"));
await report.call("a wrong key", () => translate(locked, "x"));
await report.call("a right key", () => translate(locked, key));
report.print();
