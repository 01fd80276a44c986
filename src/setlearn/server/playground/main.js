// The page: a model, an input and a rule, and the steps that build a set from them.

import { aboutList, modelLine } from "./about-model.js";
import { describeModel, getTrace, hasToken, listModels, ServerProblem, useToken } from "./api.js";
import { byId, make } from "./dom.js";
import { asCurl, asPython, copy, download } from "./export.js";
import { FieldProblem } from "./field-kinds.js";
import { makeFields } from "./input-fields.js";
import { labelSteps } from "./label-steps.js";
import { makePlayer } from "./player.js";
import { makeRuleControls } from "./rule-controls.js";
import { sequenceSteps } from "./sequence-tree.js";
import { isIn, same, setView } from "./set-view.js";
import { readFragment, writeFragment } from "./share.js";

let model; // the answer of GET /v1/model for the chosen model
let fields;
let known = [];
let shown; // what the page shows: a trace, the request for it, its steps, and the current step

const rule = makeRuleControls(() => run());
const player = makePlayer(showStep);

async function start() {
  const { models } = await listModels();
  byId("model").replaceChildren(...models.map((name) => make("option", { value: name }, name)));
  await open(readFragment(location.hash));
}

/** Show the state in a link, or the first example of a model. */
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
    showProblem(`there is no model ${state.model} here; this is ${name}`);
  }
}

async function choose(name) {
  model = await describeModel(name);
  known = [];
  shown = undefined;
  byId("model").value = name;
  byId("model-line").textContent = modelLine(model);
  byId("about-list").replaceChildren(...aboutList(model));
  byId("result").hidden = true;
  fields = makeFields(byId("fields"), model, () => runWithNewInput());
  byId("examples").replaceChildren(...model.examples.map(exampleButton));
  rule.reset(model);
}

function exampleButton(example, index) {
  const text = typeof example === "string" ? example : `Example ${index + 1}`;
  const button = make("button", { type: "button", className: "quiet" }, text);
  button.addEventListener("click", () => {
    fields.write(example);
    runWithNewInput();
  });
  return button;
}

/** Known elements belong to the old input, so forget them. */
function runWithNewInput() {
  known = [];
  return run();
}

function toggleKnown(element) {
  known = isIn(known, element) ? known.filter((other) => !same(other, element)) : [...known, element];
  return run();
}

let running = false;
let next;

/** Ask for a trace and show it, at its end or at a step. If a slider moves several times while an
 * answer is on its way, only the last position is asked for. */
async function run(step) {
  next = { step };
  if (running) return;
  running = true;
  byId("result").ariaBusy = "true";
  try {
    while (next) {
      const { step: at } = next;
      next = undefined;
      await reportProblems(() => askOnce(at));
    }
  } finally {
    running = false;
    byId("result").ariaBusy = "false";
  }
}

async function askOnce(step) {
  const asked = model;
  const request = { model: asked.name, inputs: [fields.read()] };
  if (known.length) request.known = [known];
  const margin = rule.read();
  if (margin) request.rule = margin;
  const trace = await getTrace(request);
  if (asked !== model) return; // another model was chosen meanwhile
  byId("problem").hidden = true;
  const makeSteps = trace.branches ? sequenceSteps : labelSteps; // a tree, or a list of steps
  const steps = makeSteps(trace, { known, toggle: toggleKnown });
  shown = { request, trace, steps, step: 0 };
  byId("result").hidden = false;
  replaceKeepingFocus(byId("drawing"), steps.element);
  player.load(steps.last, step);
}

function showStep(step) {
  if (!shown) return;
  const { steps, request } = shown;
  shown.step = step;
  steps.show(step);
  byId("sentence").textContent = steps.describe(step);
  const [figures, reason] = [steps.figures(step), steps.reason(step)];
  byId("figures").textContent = figures && `What the rule looks at: ${figures}.`;
  byId("figures").hidden = !figures;
  byId("reason").textContent = reason && `Why it stopped: ${reason}.`;
  byId("reason").hidden = !reason;
  replaceKeepingFocus(byId("memory"), ...setView("Z", steps.memory(step), known, toggleKnown));
  const state = { model: model.name, input: request.inputs[0], known, rule: request.rule, step };
  history.replaceState(null, "", writeFragment(state));
}

/** Buttons are made anew with each trace; the one that had the focus should keep it. */
function replaceKeepingFocus(place, ...elements) {
  const focused = place.contains(document.activeElement) && document.activeElement.textContent;
  place.replaceChildren(...elements);
  if (focused === false) return;
  [...place.querySelectorAll("button")].find(({ textContent }) => textContent === focused)?.focus();
}

/** Do something, and show what went wrong with it. */
async function reportProblems(action) {
  try {
    await action();
  } catch (problem) {
    if (!(problem instanceof ServerProblem || problem instanceof FieldProblem)) throw problem;
    if (problem.status === 401) {
      byId("token-form").hidden = false;
      byId("token").focus();
    }
    showProblem(problem.message);
  }
}

function showProblem(text) {
  byId("problem").textContent = text;
  byId("problem").hidden = false;
}

byId("model").addEventListener("change", () =>
  reportProblems(() => open({ model: byId("model").value })));
byId("input-form").addEventListener("submit", (event) => {
  event.preventDefault();
  if (fields.isEmpty()) showProblem("there is no input yet; type one, or choose an example");
  else runWithNewInput();
});
byId("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  useToken(byId("token").value);
  byId("problem").hidden = true;
  reportProblems(async () => {
    await start();
    byId("token-form").hidden = true;
  });
});
addEventListener("hashchange", () => reportProblems(() => open(readFragment(location.hash))));

const url = () => new URL("v1/trace", location.href).href;
byId("copy-link").addEventListener("click", () => copy(location.href, "link"));
byId("copy-curl").addEventListener("click", () =>
  copy(asCurl(url(), shown.request, hasToken()), "curl command"));
byId("copy-python").addEventListener("click", () =>
  copy(asPython(url(), shown.request, hasToken()), "Python program"));
byId("download").addEventListener("click", () =>
  download({ request: shown.request, trace: shown.trace }, `${model.name}-trace.json`));

reportProblems(start);
