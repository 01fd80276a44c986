// Making elements. Whatever comes from the server is a string child here, so text and not markup.

export function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

export const byId = (id) => document.getElementById(id);

export function number(value) {
  if (value !== 0 && Math.abs(value) < 0.0005) return value < 0 ? "−0.000" : "0.000";
  return value.toFixed(3).replace("-", "−");
}

const LONGEST_ELEMENT = 80;
const LONGEST_SET = 200;
const MOST_LISTED = 8;

/** An element as a text, cut off if it is long, as candidates may be. */
export function short(element) {
  const text = String(element);
  return text.length > LONGEST_ELEMENT ? `${text.slice(0, LONGEST_ELEMENT - 1)}…` : text;
}

/** The first few elements, and how many more there are. */
export function listed(elements) {
  const nOthers = elements.length - MOST_LISTED;
  const first = elements.slice(0, MOST_LISTED).map(short).join(", ");
  return nOthers > 0 ? `${first} and ${nOthers} more` : first;
}

/** The set Z as people write it, with no line break before its first element; or how large it is. */
export function written(elements) {
  const text = listed(elements);
  if (text.length > LONGEST_SET) return `Z has ${elements.length} elements`;
  return `Z\u00a0=\u00a0{${text}}`;
}
