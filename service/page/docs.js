// The API as a page to read, made from the service's own openapi.json: nothing here is written twice.

import { showWords } from "./words.js";

const byId = (id) => document.getElementById(id);

showWords();
try {
  const response = await fetch("../openapi.json");
  showDescription(await response.json());
} catch (failure) {
  byId("error").textContent = `The description of the API could not be read: ${failure.message}`;
  byId("error").hidden = false;
}

function showDescription(api) {
  byId("about").textContent = plain(api.info.description ?? "");
  for (const [path, methods] of Object.entries(api.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const id = `${method}${path}`.replaceAll(/[^a-z0-9]+/g, "-");
      byId("contents").append(contentsLine(id, method, path, operation));
      byId("operations").append(operationBlock(id, method, path, operation, api));
    }
  }
}

function contentsLine(id, method, path, operation) {
  const link = element("a", {}, element("code", {}, `${method.toUpperCase()} ${path}`));
  link.href = `#${id}`;
  link.append(element("span", {}, operation.summary ?? ""));
  return link;
}

function operationBlock(id, method, path, operation, api) {
  const heading = element("h2", {}, element("code", { className: "method" }, method.toUpperCase()), " ");
  heading.append(element("code", {}, path));
  const block = element("article", { id, className: "operation" }, heading);
  block.append(element("p", {}, operation.summary ?? ""));
  if (operation.description) block.append(element("p", { className: "quiet" }, plain(operation.description)));
  const body = operation.requestBody?.content["application/json"];
  if (body) {
    block.append(element("h3", {}, "Request"), fieldList(fieldsOf(body.schema, api)));
    for (const example of Object.values(body.examples ?? {})) block.append(requestExample(path, example));
  }
  block.append(element("h3", {}, "Answers"), fieldList(answersOf(operation)));
  for (const { summary, value } of Object.values(jsonOf(operation.responses["200"])?.examples ?? {})) {
    block.append(details(summary, JSON.stringify(value, null, 2)));
  }
  return block;
}

function requestExample(path, { summary, value }) {
  const address = new URL(`..${path}`, location.href);
  const json = JSON.stringify(value).replaceAll("'", "\\u0027"); // so that it can stand between quotes of a shell
  return details(summary, `curl ${address} -H 'content-type: application/json' -d '${json}'`);
}

/** Fields of an object as {name, kind, meaning}; those of an object within it follow under "outer.inner". */
function fieldsOf(schema, api, prefix = "") {
  const resolved = resolve(schema, api);
  return Object.entries(resolved.properties ?? {}).flatMap(([name, property]) => {
    const inner = resolve(property, api);
    const required = resolved.required?.includes(name) ? ", required" : "";
    const meaning = property.description ?? inner.description ?? "";
    const field = { name: prefix + name, kind: kindOf(inner, api) + required, meaning };
    return [field, ...fieldsOf(inner, api, `${prefix}${name}.`)];
  });
}

function answersOf(operation) {
  return Object.entries(operation.responses).map(([status, response]) => {
    const code = jsonOf(response)?.example?.error?.code;
    return { name: status, kind: code ?? "", meaning: response.description };
  });
}

function kindOf(schema, api) {
  if (schema.enum) return schema.enum.join(" | ");
  if (schema.anyOf) {
    const kinds = schema.anyOf.filter(({ type }) => type !== "null").map((kind) => kindOf(resolve(kind, api), api));
    return kinds.join(" or ");
  }
  if (schema.type === "array") return `list of ${kindOf(resolve(schema.items, api), api)}s`;
  return (schema.type ?? "anything") + rangeOf(schema);
}

function rangeOf(schema) {
  const least = schema.minimum ?? schema.exclusiveMinimum ?? "";
  const most = schema.maximum ?? schema.exclusiveMaximum ?? "";
  if (most > Number.MAX_SAFE_INTEGER) return `, from ${least}`; // JSON.parse has rounded it
  return least === "" && most === "" ? "" : `, ${least} … ${most}`;
}

function resolve(schema, api) {
  return schema.$ref ? api.components.schemas[schema.$ref.split("/").pop()] : schema;
}

function jsonOf(response) {
  return response?.content?.["application/json"];
}

function plain(markdown) {
  return markdown.replaceAll("`", "").trim();
}

function fieldList(fields) {
  const list = element("dl", { className: "fields" });
  for (const { name, kind, meaning } of fields) {
    list.append(element("dt", {}, element("code", {}, name)));
    list.append(element("dd", {}, meaning, element("span", { className: "quiet" }, kind)));
  }
  return list;
}

function details(summary, text) {
  return element("details", {}, element("summary", {}, summary), element("pre", {}, text));
}

function element(tag, properties, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children); // strings become text, never markup
  return made;
}
