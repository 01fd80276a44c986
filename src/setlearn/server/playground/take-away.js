// Copying and downloading what is on the page.

import { byId, make } from "./dom.js";

/** Copy a text; where the browser forbids it, as it does without HTTPS, let people do it. */
export async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    say(`${what} copied`);
  } catch {
    byId("by-hand-text").value = text;
    byId("by-hand").showModal();
    byId("by-hand-text").select();
  }
}

export function download(value, name) {
  const blob = new Blob([JSON.stringify(value, null, 2)], { type: "application/json" });
  const link = make("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  URL.revokeObjectURL(link.href);
  say(`${name} saved`);
}

function say(text) {
  byId("taken").textContent = text;
  setTimeout(() => { byId("taken").textContent = ""; }, 3000);
}
