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

/** Elements of a set as people write them: {fish, grill}. */
export const written = (elements) => `{${elements.map(String).join(", ")}}`;
