// The fields for an input: one per column that the model reads.

import { make } from "./dom.js";
import { KINDS } from "./field-kinds.js";
import { makePicture } from "./picture.js";

/** Put the fields of a model into `place`; `changed` is called after a stroke on a picture. */
export function makeFields(place, model, changed) {
  const fields = model.reads.map((column) => makeField(column, model, changed));
  place.replaceChildren(...fields.map((field) => field.element));
  const [first] = fields;
  const readsBareValues = fields.length === 1 && model.reads[0].kind !== "bag";

  return {
    isEmpty: () => fields.every((field) => field.isEmpty()),
    read() {
      if (readsBareValues) return first.read();
      return Object.fromEntries(fields.map((field) => [field.name, field.read()]));
    },
    write(input) {
      for (const field of fields) {
        const isRecord = input !== null && typeof input === "object" && !Array.isArray(input);
        field.write(isRecord ? input[field.name] : field === first ? input : undefined);
      }
    },
  };
}

function makeField({ name, kind }, model, changed) {
  const { rows, mode, hint, read: parse, write: format } = KINDS[kind] ?? KINDS.text;
  const id = `field-${crypto.getRandomValues(new Uint32Array(1))[0]}`;
  const control = make(rows === 1 ? "input" : "textarea", {
    id, name, spellcheck: false, autocomplete: "off", inputMode: mode ?? "",
  });
  if (rows > 1) control.rows = rows;
  const title = model.reads.length === 1 && name === "x" ? "Input" : name;
  const label = make("label", { htmlFor: id }, title,
    make("span", { className: "kind" }, ` ${hint ?? kind}`));
  const element = make("div", { className: "field" }, label, control);
  if (kind === "category") suggest(element, control, model.examples, name);

  const read = () => parse(control.value);
  const write = (value) => {
    control.value = value === undefined || value === null ? "" : format(value);
  };
  const field = { name, element, read, write, isEmpty: () => control.value.trim() === "" };
  const { image } = model.about;
  return kind === "vector" && image ? asPicture(field, label, control, image, changed) : field;
}

/** A picture to look at and draw on, with its numbers below. */
function asPicture(field, label, control, size, changed) {
  const picture = makePicture(size, (numbers) => {
    field.write(numbers);
    changed();
  });
  const show = () => {
    try {
      picture.draw(field.read());
    } catch {
      picture.draw([]); // numbers that are only half typed are reported when they are sent
    }
  };
  control.addEventListener("input", show);
  const numbers = make("details", {}, make("summary", {}, "as numbers"), label, control);
  return {
    ...field,
    element: make("div", { className: "field" }, picture.element, numbers),
    write(value) {
      field.write(value);
      show();
    },
  };
}

/** Suggest the categories that occur in the examples. */
function suggest(element, control, examples, name) {
  const values = examples.map((example) => example?.[name]).filter((value) => value !== undefined);
  const list = make("datalist", { id: `${control.id}-list` });
  list.append(...[...new Set(values)].map((value) => make("option", { value: String(value) })));
  element.append(list);
  control.setAttribute("list", list.id);
}
