// The server: JSON by fetch, pictures as blobs, play by a socket. A token is asked for when the server wants one.

import { fetchAgain } from "./again.js";
import { askToken } from "./token.js";

const KEY = "ludus.token";
const base = new URL(".", document.baseURI.split("#")[0]);
const pictures = new Map();

/** What the server said no to. */
export class Refusal extends Error {
  constructor(message, status, kind = "") {
    super(message);
    this.status = status;
    this.kind = kind;
  }
}

export function token() {
  return sessionStorage.getItem(KEY) ?? "";
}

export function setToken(value) {
  if (value) sessionStorage.setItem(KEY, value);
  else sessionStorage.removeItem(KEY);
  pictures.clear();
}

/** An address of the API with a name in its path, each part of which is written safely. */
export function envPath(name) {
  return `v1/envs/${name.split("/").map(encodeURIComponent).join("/")}`;
}

async function request(path, options) {
  const headers = token() ? { authorization: `Bearer ${token()}` } : {};
  try {
    return await fetchAgain(new URL(path, base), { ...options, headers, credentials: "same-origin" });
  } catch {
    throw new Refusal("The server does not answer. Is it still running?", 0);
  }
}

/** JSON from the server; asks for a token, and for another one, as long as there is need. */
export async function ask(path, options = {}) {
  let given = token();
  let response = await request(path, options);
  while (response.status === 401) {
    // Where another answer came first, there is another token by now: that one is tried, not thrown away.
    if (token() === given) {
      setToken("");
      setToken(await askToken(given !== ""));
    }
    given = token();
    response = await request(path, options);
  }
  const text = await response.text();
  let data = null;
  try {
    data = text ? JSON.parse(text) : null;
  } catch {
    throw new Refusal(`The server sent something else than JSON (status ${response.status}).`, response.status);
  }
  if (response.ok) return data;
  const error = data?.error;
  throw new Refusal(error?.message ?? data?.detail ?? `status ${response.status}`, response.status, error?.kind);
}

/** An address of a picture for an <img>, or null where there is none. Fetched, since an <img> sends no token. */
export function picture(path) {
  if (!pictures.has(path)) {
    pictures.set(
      path,
      request(path)
        .then((response) => (response.status === 200 ? address(response) : null))
        .catch(() => null),
    );
  }
  return pictures.get(path);
}

/** An SVG is a document with scripts where it is opened by its address: it gets one that is not of our origin. */
export function drawing(text) {
  return `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
}

async function address(response) {
  const kind = response.headers.get("content-type") ?? "";
  return kind.startsWith("image/svg") ? drawing(await response.text()) : URL.createObjectURL(await response.blob());
}

/** A socket of play. A browser's sockets send no header, so the token goes in the address. */
export function socket(env) {
  const url = new URL(`v1/play?env=${encodeURIComponent(env)}`, base);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  if (token()) url.searchParams.set("token", token());
  return new WebSocket(url);
}
