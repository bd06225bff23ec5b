// Requests to the server, by its public HTTP API and with the cookie of the session.
import { parse } from './json.js';

const base = new URL('../', document.baseURI);

/** An answer that is an error, or none at all (status 0). */
export class Failure extends Error {
  constructor(status, error, reason) {
    super(status === 0 ? reason : `${status} ${error}: ${reason}`);
    this.status = status;
    this.error = error;
    this.reason = reason;
  }
}

/** What the inspector of a database has given this page instead of a cookie; it is forgotten with the tab. */
const SECRET = 'tansu-secret';
export const useSecret = (secret) => sessionStorage.setItem(SECRET, secret);
const authorization = () => {
  const secret = sessionStorage.getItem(SECRET);
  return secret === null ? {} : { Authorization: `Bearer ${secret}` };
};

/** The URL of a path of the API. */
export const url = (path) => new URL(path.replace(/^\//, ''), base).href;

let action = null;

/** Runs an action; `controller` aborts all of its requests. */
export async function abortable(controller, run) {
  const former = action;
  action = controller.signal;
  try { return await run(); } finally { action = former; }
}

/** @returns The answer. @throws Failure */
export async function send(method, path, { body, type = 'application/json', signal } = {}) {
  const signals = [signal, action].filter(Boolean);
  let response;
  try {
    response = await fetch(url(path), {
      method, body, signal: signals.length > 0 ? AbortSignal.any(signals) : undefined, cache: 'no-store',
      headers: { ...authorization(), ...(body === undefined ? {} : { 'Content-Type': type }) },
    });
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new Failure(0, 'no_answer', 'The server does not answer');
  }
  if (response.ok) return response;
  const text = await response.text();
  let found = {};
  try { found = JSON.parse(text) ?? {}; } catch { /* not by this server */ }
  throw new Failure(response.status, found.error ?? 'error', found.reason ?? text.slice(0, 500));
}

/** An answer whose numbers need not be exact. */
export async function call(method, path, body, signal) {
  const options = { signal, body: body === undefined ? undefined : JSON.stringify(body) };
  return (await send(method, path, options)).json();
}

/** An answer with documents, whose objects are Maps. `body` is JSON text. */
export async function exact(method, path, body, signal) {
  return parse(await (await send(method, path, { body, signal })).text());
}

export const part = encodeURIComponent;
export const databasePath = (name) => `/${part(name)}`;

/** Ids that a URL cannot have: browsers take them for steps in the path, however they are encoded. */
const isStep = (id) => id === '.' || id === '..';

function idPath(id) {
  for (const prefix of ['_design/', '_local/']) {
    if (id.startsWith(prefix)) return prefix + part(id.slice(prefix.length));
  }
  return part(id);
}

/** The path of a document, of an attachment of it; null where no URL can name it. */
export function documentPath(database, id, query = {}, attachment = null) {
  if (isStep(id) || isStep(id.replace(/^_(design|local)\//, '')) || (attachment !== null && isStep(attachment))) return null;
  const members = new URLSearchParams(query).toString();
  return `${databasePath(database)}/${idPath(id)}${attachment === null ? '' : `/${part(attachment)}`}${members && `?${members}`}`;
}

/** A document as a Map. */
export async function readDocument(database, id, query, signal) {
  const path = documentPath(database, id, query);
  if (path !== null) return exact('GET', path, undefined, signal);
  const rows = await exact(
    'POST', `${databasePath(database)}/_all_docs?include_docs=true&conflicts=true`, JSON.stringify({ keys: [id] }), signal);
  const row = rows.get('rows')[0];
  if (!(row?.get('doc') instanceof Map)) throw new Failure(404, 'not_found', 'missing');
  return row.get('doc');
}

/** Saves the JSON text of a document; `id` is null when the server shall choose one. */
export async function saveDocument(database, id, text) {
  const path = id === null ? null : documentPath(database, id);
  const response = path === null
    ? await send('POST', databasePath(database), { body: text }) : await send('PUT', path, { body: text });
  return response.json();
}

/** Deletes a revision of a document. */
export async function deleteDocument(database, id, rev) {
  const path = documentPath(database, id, { rev });
  if (path !== null) return call('DELETE', path);
  return call('POST', databasePath(database), { _id: id, _rev: rev, _deleted: true });
}

/** The lines of a feed that goes on until it is aborted; the empty ones, which keep the connection alive, are left out. */
export async function* lines(path, signal) {
  const response = await send('GET', path, { signal });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    const found = (rest + value).split('\n');
    rest = found.pop();
    for (const line of found) if (line.trim() !== '') yield line;
  }
  if (rest.trim() !== '') yield rest;
}