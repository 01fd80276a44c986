// The page: a model, an input, a rule; and the story that they make.

import { aboutList, modelLine } from "./about-model.js";
import { describeModel, hasToken, listModels, ServerProblem, trace, useToken } from "./api.js";
import { FieldProblem } from "./columns.js";
import { byId, make } from "./dom.js";
import { makeFields } from "./input-fields.js";
import { labelStory } from "./label-story.js";
import { makePlayer } from "./player.js";
import { makeRuleControls } from "./rule-controls.js";
import { sequenceStory } from "./sequence-tree.js";
import { isIn, same, setOf } from "./set-view.js";
import { readFragment, writeFragment } from "./share.js";
import { asCurl, asPython } from "./snippets.js";
import { copy, download } from "./take-away.js";

let model; // what GET /v1/model tells of the chosen one
let fields;
let known = [];
let shown; // the story on the page: its trace, the request behind it, and the step

const rule = makeRuleControls(() => run());
const player = makePlayer(showStep);

async function start() {
  const { models } = await listModels();
  byId("model").replaceChildren(...models.map((name) => make("option", { value: name }, name)));
  await open(readFragment(location.hash));
}

/** Show a state that a link tells, or the first example of a model. */
async function open(state) {
  const names = [...byId("model").options].map((option) => option.value);
  const name = names.includes(state.model) ? state.model : names[0];
  await choose(name);
  rule.write(state.rule);
  known = state.known ?? [];
  const input = state.input ?? model.examples[0];
  if (input !== undefined) {
    fields.write(input);
    await run(state.step);
  }
  if (state.model !== undefined && state.model !== name) {
    complain(`there is no model ${state.model} here; this is ${name}`);
  }
}

async function choose(name) {
  model = await describeModel(name);
  known = [];
  shown = undefined;
  byId("model").value = name;
  byId("model-line").textContent = modelLine(model);
  byId("about-list").replaceChildren(...aboutList(model));
  byId("story").hidden = true;
  fields = makeFields(byId("fields"), model, () => forget());
  byId("examples").replaceChildren(...model.examples.map(exampleButton));
  rule.reset(model);
}

function exampleButton(example, index) {
  const text = typeof example === "string" ? example : `Example ${index + 1}`;
  const button = make("button", { type: "button", className: "quiet" }, text);
  button.addEventListener("click", () => {
    fields.write(example);
    forget();
  });
  return button;
}

/** Another input: what was known of the old one says nothing of it. */
function forget() {
  known = [];
  return run();
}

function toggleKnown(element) {
  known = isIn(known, element) ? known.filter((one) => !same(one, element)) : [...known, element];
  return run();
}

let running = false;
let wanted;

/** Ask for the story and show it, at its end or at a step. Moves of a slider while an answer is on
 * its way become one question. */
async function run(step) {
  wanted = { step };
  if (running) return;
  running = true;
  byId("story").ariaBusy = "true";
  try {
    while (wanted) {
      const { step: at } = wanted;
      wanted = undefined;
      await guarded(() => askOnce(at));
    }
  } finally {
    running = false;
    byId("story").ariaBusy = "false";
  }
}

async function askOnce(step) {
  const asked = model;
  const request = { model: asked.name, inputs: [fields.read()] };
  if (known.length) request.known = [known];
  const change = rule.read();
  if (change) request.rule = change;
  const told = await trace(request);
  if (asked !== model) return; // another one was chosen meanwhile
  byId("problem").hidden = true;
  const makeStory = asked.task === "labels" ? labelStory : sequenceStory;
  const story = makeStory(told, { known, toggle: toggleKnown });
  shown = { request, trace: told, story, step: 0 };
  byId("story").hidden = false;
  replaceKeepingFocus(byId("drawing"), story.element);
  player.load(story.last, step);
}

function showStep(step) {
  if (!shown) return;
  const { story, request } = shown;
  shown.step = step;
  story.show(step);
  byId("sentence").textContent = story.tell(step);
  const reason = story.reason(step);
  byId("reason").textContent = reason && `Why it ends here: ${reason}.`;
  byId("reason").hidden = !reason;
  replaceKeepingFocus(byId("memory"), ...setOf("Z", story.memory(step), known, toggleKnown));
  const state = { model: model.name, input: request.inputs[0], known, rule: request.rule, step };
  history.replaceState(null, "", writeFragment(state));
}

/** A label's button is made anew with each story; who pressed it should still be on it. */
function replaceKeepingFocus(place, ...elements) {
  const focused = place.contains(document.activeElement) && document.activeElement.textContent;
  place.replaceChildren(...elements);
  if (focused === false) return;
  [...place.querySelectorAll("button")].find((one) => one.textContent === focused)?.focus();
}

/** Do something, and say in words what went wrong with it. */
async function guarded(action) {
  try {
    await action();
  } catch (problem) {
    if (!(problem instanceof ServerProblem || problem instanceof FieldProblem)) throw problem;
    if (problem.status === 401) {
      byId("token-form").hidden = false;
      byId("token").focus();
    }
    complain(problem.message);
  }
}

function complain(text) {
  byId("problem").textContent = text;
  byId("problem").hidden = false;
}

byId("model").addEventListener("change", () =>
  guarded(() => open({ model: byId("model").value })));
byId("input-form").addEventListener("submit", (event) => {
  event.preventDefault();
  if (fields.isEmpty()) complain("there is no input yet; type one, or take an example");
  else forget();
});
byId("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  useToken(byId("token").value);
  byId("problem").hidden = true;
  guarded(async () => {
    await start();
    byId("token-form").hidden = true;
  });
});
addEventListener("hashchange", () => guarded(() => open(readFragment(location.hash))));

const url = () => new URL("v1/trace", location.href).href;
byId("copy-link").addEventListener("click", () => copy(location.href, "link"));
byId("copy-curl").addEventListener("click", () =>
  copy(asCurl(url(), shown.request, hasToken()), "curl command"));
byId("copy-python").addEventListener("click", () =>
  copy(asPython(url(), shown.request, hasToken()), "Python"));
byId("download").addEventListener("click", () =>
  download({ request: shown.request, trace: shown.trace }, `${model.name}-trace.json`));

guarded(start);
