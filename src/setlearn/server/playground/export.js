// Taking the result elsewhere: copy and download, and the request as a program to run.

import { byId, make } from "./dom.js";

/** Copy a text. Browsers forbid that without HTTPS; then show the text to copy by hand. */
export async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    confirm(`${what} copied`);
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
  confirm(`${name} saved`);
}

function confirm(text) {
  byId("exported").textContent = text;
  setTimeout(() => { byId("exported").textContent = ""; }, 3000);
}

/** The request for a POSIX shell. A variable stands for the token, which never leaves the page. */
export function asCurl(url, request, withToken) {
  const lines = [`curl -sS ${shell(url)}`, `-H 'Content-Type: application/json'`];
  if (withToken) lines.push(`-H "Authorization: Bearer $SETLEARN_TOKEN"`);
  lines.push(`--data-raw ${shell(JSON.stringify(request))}`);
  return lines.join(" \\\n  ");
}

/** The request in Python, with the standard library alone. */
export function asPython(url, request, withToken) {
  const headers = [`"Content-Type": "application/json"`];
  if (withToken) headers.push(`"Authorization": f"Bearer {os.environ['SETLEARN_TOKEN']}"`);
  return `import json
${withToken ? "import os\n" : ""}from urllib.request import Request, urlopen

body = ${python(request)}
request = Request(
    ${python(url)},
    data=json.dumps(body).encode(),
    headers={${headers.join(", ")}},
)
with urlopen(request) as response:
    print(json.dumps(json.load(response), indent=2, ensure_ascii=False))
`;
}

function shell(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function python(value) {
  if (value === null) return "None";
  if (value === true) return "True";
  if (value === false) return "False";
  if (Array.isArray(value)) return `[${value.map(python).join(", ")}]`;
  if (typeof value !== "object") return JSON.stringify(value);
  const items = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${python(item)}`);
  return `{${items.join(", ")}}`;
}
