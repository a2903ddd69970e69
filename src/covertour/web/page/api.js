// The server's API: requests, problems as errors, server-sent events, the token.

const TOKEN = "covertour-token";

export class Refusal extends Error {
  constructor(problem) {
    super(problem.detail ?? problem.title ?? "The server refused");
    this.problem = problem;
  }
}

/** A token may come with the address, after #token=; it is kept for this tab. */
export function takeToken() {
  const found = new URLSearchParams(location.hash.slice(1)).get("token");
  if (found === null) return;
  sessionStorage.setItem(TOKEN, found);
  history.replaceState(null, "", location.pathname);
}

export function setToken(token) { sessionStorage.setItem(TOKEN, token); }

async function ask(path, options = {}) {
  const token = sessionStorage.getItem(TOKEN);
  const headers = { ...options.headers, ...(token ? { authorization: `Bearer ${token}` } : {}) };
  let response;
  try {
    response = await fetch(path, { ...options, headers });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refusal({ status: 0, detail: "The server does not answer. Is it still running?" });
  }
  if (!response.ok) {
    const problem = await response.json().catch(() => ({}));
    throw new Refusal({ status: response.status, ...problem });
  }
  return response;
}

const posted = (path, value) =>
  ask(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(value) });

export const get = async (path) => (await ask(path)).json();
export const post = async (path, value) => (await posted(path, value)).json();
export const remove = async (path) => (await ask(path, { method: "DELETE" })).json();
export const convert = async (value) => (await posted("/v1/convert", value)).blob();

/** The places in a file, or in pasted text. */
export async function read(content, name) {
  const query = new URLSearchParams({ name });
  const headers = { "content-type": "application/octet-stream" };
  return (await ask(`/v1/read?${query}`, { method: "POST", headers, body: content })).json();
}

/** The events of a job as they come, as [name, value]; goes on where a connection broke. */
export async function* watch(address, signal) {
  for (let tries = 0; ; tries++) {
    try {
      const response = await ask(`${address}/events`, { signal });
      for await (const event of parsed(response.body)) {
        tries = 0;
        yield event;
        if (event[0] === "done") return;
      }
    } catch (error) {
      if (error.name === "AbortError" || error.problem?.status || tries > 5) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 300 * (tries + 1)));
  }
}

async function* parsed(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    text += value;
    const parts = text.split("\n\n");
    text = parts.pop();
    for (const part of parts) {
      const fields = Object.fromEntries(part.split("\n").map((line) => {
        const at = line.indexOf(": ");
        return [line.slice(0, at), line.slice(at + 2)];
      }));
      if (fields.event) yield [fields.event, JSON.parse(fields.data)];
    }
  }
}
