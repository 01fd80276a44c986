// A set on the page: its elements as buttons that mark them as known.

import { make } from "./dom.js";

export const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);
export const isIn = (elements, one) => elements.some((other) => same(one, other));

export function knownButton(element, known, toggle) {
  const pressed = isIn(known, element);
  const button = make("button", { type: "button", className: "element" }, String(element));
  button.ariaPressed = String(pressed);
  button.title = pressed ? "known; click to take that back" : "click to say that it is known";
  button.addEventListener("click", () => toggle(element));
  return button;
}

/** Z = { … } as elements of the page. */
export function setOf(name, elements, known, toggle) {
  const chips = elements.map((one) => make("li", {}, knownButton(one, known, toggle)));
  const title = make("span", { className: "name" }, `${name} =`);
  return elements.length ? [title, make("ul", {}, ...chips)] : [title, "∅"];
}
