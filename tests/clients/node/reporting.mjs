// What all scripts for clients in Node share: where the services are, and how to say what came of a call.
import { readFileSync } from "node:fs";

export const [service, locked, key] = process.argv.slice(2);

/** The version in the package.json of an installed client. */
export function versionOf(name) {
  return JSON.parse(readFileSync(new URL(`node_modules/${name}/package.json`, import.meta.url))).version;
}

/** Collects what each call gave, and prints it at the end. */
export class Report {
  constructor(name) {
    this.report = { client: `${name} ${versionOf(name)} (Node)` };
  }

  /** The value of `work`, or what it threw as text: "TypeOfError: message". */
  async call(name, work) {
    let value;
    try {
      value = (await work()) ?? null;
    } catch (error) {
      value = `${error.constructor.name}: ${error.message}`;
    }
    this.report[name] = value;
    return value;
  }

  print() {
    console.log(JSON.stringify(this.report));
  }
}
