// Every call of deepl-node that this service answers.
import { readFileSync, writeFileSync } from "node:fs";
import * as deepl from "deepl-node";
import { Report, key, locked, service } from "./reporting.mjs";

const report = new Report("deepl-node");
const once = { maxRetries: 1, minTimeout: 60_000 };
const client = new deepl.DeepLClient("any", { serverUrl: service, ...once });
const call = (name, work) => report.call(name, work);
const entries = (terms) => new deepl.GlossaryEntries({ entries: terms });
const dictionary = (source, target, terms) => ({
  sourceLangCode: source,
  targetLangCode: target,
  entries: entries(terms),
});
const counts = (dictionaries) =>
  dictionaries.map((one) => [one.sourceLangCode, one.targetLangCode, one.entryCount]);

await call("translateText of one", async () => (await client.translateText("I have a dog.", null, "de")).text);
await call("translateText of several", async () =>
  (await client.translateText(["I have a dog.", "Wo ist der Hund?", "c & d"], null, "de")).map((one) => [
    one.text,
    one.detectedSourceLang,
    one.billedCharacters,
  ]),
);
await call("translateText with options", async () =>
  (
    await client.translateText("Ich habe einen Hund.", "de", "en-US", {
      splitSentences: "nonewlines",
      preserveFormatting: true,
      formality: "prefer_less",
      context: "dogs",
    })
  ).text,
);
await call("translateText with html", async () =>
  (await client.translateText("<p>I have a <b>dog</b> &amp; a cat.</p>", "en", "de", { tagHandling: "html" })).text,
);
await call("translateText with xml", async () =>
  (
    await client.translateText('<s>I have <x id="7"></x> dogs.</s><code>do not touch</code>', "en", "de", {
      tagHandling: "xml",
      outlineDetection: false,
      splittingTags: ["s"],
      ignoreTags: ["x", "code"],
    })
  ).text,
);
await call("getSourceLanguages", async () => (await client.getSourceLanguages()).map((one) => one.code));
await call("getTargetLanguages", async () => (await client.getTargetLanguages()).map((one) => one.code));
await call("getGlossaryLanguagePairs", () => client.getGlossaryLanguagePairs());
await call("getUsage", async () => (await client.getUsage()).character.count);

const glossary = await client.createGlossary("Dogs", "en", "de", entries({ dog: "Wauwau" }));
await call("createGlossary", () => [glossary.name, glossary.ready, glossary.entryCount]);
await call("createGlossaryWithCsv", async () => {
  writeFileSync("terms.csv", "cat,Mieze\ntree,Baum");
  return (await client.createGlossaryWithCsv("Cats", "en", "de", "terms.csv")).entryCount;
});
await call("getGlossary", async () => (await client.getGlossary(glossary.glossaryId)).name);
await call("listGlossaries", async () => (await client.listGlossaries()).length > 0);
await call("getGlossaryEntries", async () => (await client.getGlossaryEntries(glossary)).entries());
await call("translateText with a glossary", async () =>
  (await client.translateText("I have a dog.", "en", "de", { glossary })).text,
);
await call("deleteGlossary", () => client.deleteGlossary(glossary));
await call("getGlossary of none", () => client.getGlossary(glossary.glossaryId));

const several = await client.createMultilingualGlossary("Both", [
  dictionary("en", "de", { dog: "Wauwau" }),
  dictionary("de", "en", { Hund: "doggy" }),
]);
await call("createMultilingualGlossary", () => counts(several.dictionaries));
await call("createMultilingualGlossaryWithCsv", async () =>
  counts((await client.createMultilingualGlossaryWithCsv("csv", "en", "de", "a,b\nc,d")).dictionaries),
);
await call("getMultilingualGlossary", async () =>
  counts((await client.getMultilingualGlossary(several.glossaryId)).dictionaries),
);
await call("listMultilingualGlossaries", async () => (await client.listMultilingualGlossaries()).length > 0);
await call("updateMultilingualGlossaryName", async () =>
  (await client.updateMultilingualGlossaryName(several, "Dogs both ways")).name,
);
await call("updateMultilingualGlossaryDictionary", async () =>
  counts(
    (await client.updateMultilingualGlossaryDictionary(several, dictionary("en", "de", { cat: "Mieze" })))
      .dictionaries,
  ),
);
await call("replaceMultilingualGlossaryDictionary", async () =>
  (await client.replaceMultilingualGlossaryDictionary(several, dictionary("de", "en", { Hund: "pooch" }))).entryCount,
);
await call("getMultilingualGlossaryDictionaryEntries", async () =>
  (await client.getMultilingualGlossaryDictionaryEntries(several, "en", "de")).entries.entries(),
);
await call("deleteMultilingualGlossaryDictionary", () =>
  client.deleteMultilingualGlossaryDictionary(several, "de", "en"),
);
await call("deleteMultilingualGlossary", () => client.deleteMultilingualGlossary(several));

writeFileSync("letter.txt", "I have a dog.\n\nIt is small.\n");
await call("translateDocument", async () => {
  const status = await client.translateDocument("letter.txt", "brief.txt", null, "de");
  return [status.done(), status.billedCharacters, readFileSync("brief.txt", "utf8")];
});
await call("translateDocument of an unknown kind", () =>
  client.uploadDocument(Buffer.from([0, 1, 2]), null, "de", { filename: "a.exe" }),
);

await call("an unknown target", () => client.translateText("a", null, "zz"));
await call("formality", () => client.translateText("a", "en", "de", { formality: "more" }));
const wrong = new deepl.DeepLClient("a wrong one", { serverUrl: locked, ...once });
await call("a wrong key", () => wrong.translateText("a", null, "de"));
const right = new deepl.DeepLClient(key, { serverUrl: locked, ...once });
await call("a right key", async () => (await right.translateText("I have a dog.", null, "de")).text);
report.print();
