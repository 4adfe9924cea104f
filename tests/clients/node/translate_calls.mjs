// npm's translate with its engine "libre", which posts JSON to the very address that it is given.
import { Translate } from "translate";
import { Report, key, locked, service } from "./reporting.mjs";

const report = new Report("translate");
const client = (url, more = {}) => Translate({ engine: "libre", url: `${url}/translate`, ...more });
await report.call("translate", () => client(service)("I have a dog.", "de"));
await report.call("translate from", () => client(service)("Ich habe einen Hund.", { from: "de", to: "en" }));
await report.call("a wrong key", () => client(locked, { key: "x" })("I have a dog.", "de"));
await report.call("a right key", () => client(locked, { key })("I have a dog.", "de"));
report.print();
