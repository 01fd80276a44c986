// The fields that an input is typed into: one a column that the model reads.

import { KINDS } from "./columns.js";
import { make } from "./dom.js";
import { makePicture } from "./picture.js";

/** Put the fields of a model into `place`; `changed` is called when a picture was painted on. */
export function makeFields(place, model, changed) {
  const fields = model.reads.map((column) => makeField(column, model, changed));
  place.replaceChildren(...fields.map((field) => field.element));
  const [first] = fields;
  const alone = fields.length === 1 && model.reads[0].kind !== "bag";

  return {
    isEmpty: () => fields.every((field) => field.isEmpty()),
    read() {
      if (alone) return first.read();
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
  const how = KINDS[kind] ?? KINDS.text;
  const id = `field-${crypto.getRandomValues(new Uint32Array(1))[0]}`;
  const control = make(how.rows === 1 ? "input" : "textarea", {
    id, name, spellcheck: false, autocomplete: "off", inputMode: how.mode ?? "",
  });
  if (how.rows > 1) control.rows = how.rows;
  const title = model.reads.length === 1 && name === "x" ? "Input" : name;
  const hint = make("span", { className: "kind" }, ` ${how.hint ?? kind}`);
  const label = make("label", { htmlFor: id }, title, hint);
  const element = make("div", { className: "field" }, label, control);
  if (kind === "category") offer(element, control, model.examples, name);

  const read = () => how.read(control.value);
  const write = (value) => {
    control.value = value === undefined || value === null ? "" : how.write(value);
  };
  const field = { name, element, read, write, isEmpty: () => control.value.trim() === "" };
  const { image } = model.about;
  return kind === "vector" && image ? asPicture(field, label, control, image, changed) : field;
}

/** A picture to look at and to paint on, with the numbers below it for those who want them. */
function asPicture(field, label, control, size, changed) {
  const picture = makePicture(size, (numbers) => {
    field.write(numbers);
    changed();
  });
  const show = () => {
    try {
      picture.draw(field.read());
    } catch {
      picture.draw([]); // half-typed numbers are told of when they are sent
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

/** Offer the categories that the examples have. */
function offer(element, control, examples, name) {
  const seen = new Set(examples.map((one) => one?.[name]).filter((one) => one !== undefined));
  const list = make("datalist", { id: `${control.id}-list` });
  list.append(...[...seen].map((value) => make("option", { value: String(value) })));
  element.append(list);
  control.setAttribute("list", list.id);
}
