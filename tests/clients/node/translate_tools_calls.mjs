// @translate-tools/core, which posts a form for each text, many at a time.
import tools from "@translate-tools/core/translators/unstable/LibreTranslateTranslator/index.js";
import { Report, key, locked, service } from "./reporting.mjs";

const report = new Report("@translate-tools/core");
const client = (url, more = {}) =>
  new tools.LibreTranslateTranslator({ apiHost: `${url}/translate`, ...more });
await report.call("translate", () => client(service).translate("I have a dog.", "en", "de"));
await report.call("translateBatch", () =>
  client(service).translateBatch(["I have a dog.", "Hello!", "c & d"], "auto", "de"),
);
await report.call("a wrong key", () => client(locked, { apiKey: "x" }).translate("I have a dog.", "en", "de"));
await report.call("a right key", () => client(locked, { apiKey: key }).translate("I have a dog.", "en", "de"));
report.print();
