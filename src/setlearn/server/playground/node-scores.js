// All scores at one node of the tree.

import { make, number } from "./dom.js";

const MOST_SHOWN = 50;

export function nodeScores(node) {
  const title = make("h3", {}, ...heading(node));
  const parts = [title];
  if (node.status !== "root") {
    parts.push(make("p", {}, `${number(node.probability)} – ${node.reason || node.status}`));
  }
  if (node.below.length) {
    const best = Math.max(...node.below.map((one) => one.probability)) || 1;
    const shown = node.below.slice(0, MOST_SHOWN);
    parts.push(make("ol", { className: "bars" }, ...shown.map((one) => row(one, best))));
    const hidden = node.below.length - shown.length;
    const others = `… and ${hidden} more with lower scores`;
    if (hidden) parts.push(make("p", { className: "hint" }, others));
  }
  return make("div", {}, ...parts);
}

function heading(node) {
  const prefix = make("b", {}, node.prefix || "nothing");
  if (node.status === "root") return ["How a sequence may begin"];
  if (node.end) return ["The end of ", prefix];
  return node.below.length ? ["How ", prefix, " may go on"] : ["", prefix];
}

function row(node, best) {
  const left = make("span", { className: "left" });
  left.style.width = `${(100 * node.probability) / best}%`;
  const track = make("span", { className: "track", ariaHidden: "true" }, left);
  const isKept = node.status !== "rejected";
  return make("li", { className: isKept ? "kept" : "refused" },
    make("span", { className: "label" }, node.end ? "■ end" : node.choice),
    track,
    make("span", { className: "score" }, number(node.probability)),
    make("span", { className: "why" }, node.reason || node.status));
}
