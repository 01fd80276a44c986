// A set on the page: its elements are buttons that mark them as known.

import { make, short } from "./dom.js";

export const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
export const isIn = (elements, element) => elements.some((other) => same(element, other));

export function knownButton(element, known, toggle) {
  const pressed = isIn(known, element);
  const button = make("button", { type: "button", className: "element" }, short(element));
  button.ariaPressed = String(pressed);
  const advice = pressed ? "known; click to undo" : "click to mark as known";
  button.title = short(element) === String(element) ? advice : `${element}\n(${advice})`;
  button.addEventListener("click", () => toggle(element));
  return button;
}

/** Z = { … } as elements of the page. */
export function setView(name, elements, known, toggle) {
  const items = elements.map((element) => make("li", {}, knownButton(element, known, toggle)));
  const title = make("span", { className: "name" }, `${name} =`);
  return elements.length ? [title, make("ul", {}, ...items)] : [title, "∅"];
}
