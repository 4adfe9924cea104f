// npm's libretranslate, which asks for the languages first and spells the key apiKey.
import libretranslate from "libretranslate";
import { Report, key, locked, service } from "./reporting.mjs";

const report = new Report("libretranslate");
const translate = (apiurl, apiKey, source = "en") =>
  libretranslate.translate({ query: "I have a dog.", source, target: "de", apiurl, apiKey });
await report.call("translate", () => translate(service, "any"));
await report.call("translate from auto", () => translate(service, "", "auto"));
await report.call("a right key", () => translate(locked, key));
report.print();
