// The key to a service that is not for everybody: kept in this browser, and sent to this service alone.

import { keep, recall } from "./kept.js";

const USABLE = /^[\x21-\x7e]+$/; // what a header can hold
const REFUSALS = ["missing_key", "wrong_key"]; // as the service calls them

const byId = (id) => document.getElementById(id);
let kept = recall("key", ""); // also here, for a browser that keeps nothing
let isRequired = false;

/** The key that a person gave; "" for none. */
export const key = () => kept;

/** Does the service want one? */
export const needsKey = () => isRequired;

/** The service wants a key and there is none: it need not be asked. */
export const isLocked = () => isRequired && kept === "";

/** `changed()` is called when another key may open what was closed. */
export function startKey(changed) {
  byId("access").addEventListener("submit", (event) => {
    event.preventDefault();
    event.stopPropagation();
    const given = byId("key").value.trim();
    if (given === "") return byId("key").focus();
    if (!USABLE.test(given)) return showRefusal();
    take(given);
    changed();
  });
  byId("forget-key").addEventListener("click", () => {
    take("");
    byId("key").focus();
  });
  byId("change-key").addEventListener("click", askForKey);
}

/** Whether the service wants a key, as it says itself. */
export function showAccess(required) {
  isRequired = required;
  byId("change-key").hidden = !required;
  byId("forget-key").hidden = kept === "";
  if (isLocked()) byId("access").hidden = false;
}

export function askForKey() {
  byId("access").hidden = false;
  byId("key").focus();
}

/** Is that what a failure is about? Then the field is there, and says so; nobody's typing is interrupted. */
export function isAboutKey(failure) {
  if (!REFUSALS.includes(failure.code)) return false;
  showAccess(true);
  byId("access").hidden = false;
  if (kept !== "") showRefusal();
  return true;
}

function take(given) {
  kept = given;
  keep("key", given);
  byId("key").value = "";
  byId("key").removeAttribute("aria-invalid");
  byId("refused").hidden = true;
  byId("access").hidden = !isLocked();
  showAccess(isRequired);
}

function showRefusal() {
  byId("refused").hidden = false;
  byId("key").setAttribute("aria-invalid", "true");
}
