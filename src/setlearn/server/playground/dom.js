// Making elements. Whatever comes from the server is a string child here, hence text, never markup.

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

const MOST_WRITTEN = 8;

/** The first few of many, and how many others there are. */
export function listed(elements) {
  const others = elements.length - MOST_WRITTEN;
  const told = elements.slice(0, MOST_WRITTEN).map(String).join(", ");
  return others > 0 ? `${told} and ${others} more` : told;
}

/** A set as people write it: {fish, grill}. */
export const written = (elements) => `{${listed(elements)}}`;
