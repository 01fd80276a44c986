// Requests to the server. A failed request becomes a ServerProblem with the server's message.

export class ServerProblem extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

let token = "";

export function useToken(given) {
  token = given;
}

export const hasToken = () => token !== "";

export const listModels = () => send("v1/models");
export const describeModel = (name) => send(`v1/model?name=${encodeURIComponent(name)}`);
export const getTrace = async (request) => (await send("v1/trace", request)).traces[0];

async function send(path, body) {
  const headers = {};
  if (token) headers.Authorization = `Bearer ${token}`;
  const options = { headers };
  if (body !== undefined) {
    headers["Content-Type"] = "application/json";
    Object.assign(options, { method: "POST", body: JSON.stringify(body) });
  }
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    throw new ServerProblem(0, "the server does not answer; check that it is still running");
  }
  const answer = await response.json().catch(() => null);
  if (response.ok && answer) return answer;
  const message = answer?.error?.message ?? `the server answered with status ${response.status}`;
  throw new ServerProblem(response.status, message);
}
