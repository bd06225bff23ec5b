// The page: its routes, and who uses it. What is shown is named by the fragment of the URL, so that reload and back work.
import { button, el, errorBox, notice, progress, shown } from './dom.js';
import { call, databasePath } from './api.js';
import { isOfDatabase, loadSession, open, showLogin } from './session.js';
import { showDatabases } from './databases.js';
import { showDocuments } from './documents.js';
import { showDocument } from './document.js';
import { showQuery } from './query.js';
import { showCollectionSearch, showSearch } from './search.js';
import { showIndexes } from './indexes.js';
import { showChanges } from './changes.js';
import { showReplication } from './replication.js';
import { showCollectionIndexes, showRecord, showRecords, showStorage } from './collections.js';
import { showNativeQuery } from './pipelines.js';
import { showLive } from './live.js';
import { showSlowCalls } from './slow.js';

const main = document.getElementById('main');
let current = new AbortController();
let hash = null;
let page = null;

/** What the fragment names: parts of a path, and members of a query. */
function route(text) {
  const end = text.indexOf('?');
  const path = end < 0 ? text : text.slice(0, end);
  const parts = path.split('/').slice(1).map(decodeURIComponent);
  return { parts, query: new URLSearchParams(end < 0 ? '' : text.slice(end + 1)) };
}

function viewOf([first, database, kind, id]) {
  if (first === 'storage' || (!first && isOfDatabase())) return showStorage;
  if (first === 'c' && database) {
    if (kind === 'doc' && id) return showRecord;
    return {
      undefined: showRecords, new: showRecord, search: showCollectionSearch, query: showNativeQuery, indexes: showCollectionIndexes, changes: showLive,
    }[kind];
  }
  if (first === 'changes' && !database) return showLive;
  if (first === 'slow' && !database) return showSlowCalls;
  if (isOfDatabase()) return null;
  if (!first) return showDatabases;
  if (first === 'login') return showLogin;
  if (first === 'replication') return showReplication;
  if (first !== 'db' || !database) return null;
  if (kind === 'doc' && id) return showDocument;
  return { undefined: showDocuments, new: showDocument, search: showSearch, query: showQuery, indexes: showIndexes, changes: showChanges }[kind];
}

async function show() {
  const wanted = location.hash.slice(1);
  // A link to the content is no route.
  if (wanted === 'main') { history.replaceState(null, '', `#${hash ?? '/'}`); main.focus(); return; }
  if (hash !== null && hash !== wanted && page?.isChanged?.() && !window.confirm('Leave without saving the changes?')) {
    history.pushState(null, '', `#${hash}`);
    return;
  }
  const isFirst = hash === null;
  const isReload = hash === wanted;
  hash = wanted;
  current.abort();
  current = new AbortController();
  const controller = current;
  const { signal } = controller;
  page = { signal, reload: show, isChanged: null };
  const view = el('div');
  let isCancelled = false;
  const work = progress((line) => main.prepend(line), () => { isCancelled = true; controller.abort(); });
  main.setAttribute('aria-busy', 'true');
  try {
    const { parts, query } = route(wanted);
    if (parts[0] === 'open') {
      // The token works once, and stands in no history.
      hash = '/';
      history.replaceState(null, '', '#/');
      await open(parts[1] ?? '');
      parts.length = 0;
    }
    Object.assign(page, { parts, query, database: parts[1] });
    await loadSession(signal);
    const render = viewOf(parts);
    if (!render) throw new Error('There is no such page');
    await render(view, page);
  } catch (error) {
    if (signal.aborted && !isCancelled) return;
    if (view.childElementCount === 0) view.append(el('h1', {}, 'Not shown'));
    const isLogin = !isOfDatabase() && (error.status === 401 || error.status === 403);
    const isMissing = error.status === 404 && error.reason === 'Database does not exist.' && page.database;
    const problem = errorBox(isCancelled ? new Error('Cancelled') : error, isLogin && el('p', {}, el('a', { href: `#/login?${new URLSearchParams({ next: wanted })}` }, 'Log in')),
      error instanceof URIError && el('p', {}, 'The address is not right.'),
      isCancelled && button('Try again', show),
      isMissing && button('Create it', async () => {
        await call('PUT', databasePath(page.database));
        notice('Created ', shown(page.database, 60));
        await show();
      }));
    problem.classList.add('of-page');
    view.append(problem);
  } finally {
    work.end();
  }
  if (signal.aborted && !isCancelled) return;
  main.replaceChildren(view);
  main.removeAttribute('aria-busy');
  for (const link of document.querySelectorAll('header nav a')) {
    const isCurrent = link.hash === '#/' ? !/^\/(replication|login|storage|changes|slow|c\/)/.test(hash)
      : link.hash === '#/storage' ? /^\/(storage|changes|slow|c\/|$)/.test(hash) : hash.startsWith('/replication');
    if (isCurrent) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  const heading = view.querySelector('h1');
  document.title = `${heading?.textContent.slice(0, 80) ?? 'Tansu'} \u2013 Tansu inspector`;
  if (!isReload) window.scrollTo(0, 0);
  if (!isFirst && heading) {
    heading.tabIndex = -1;
    heading.focus({ preventScroll: true });
  }
}

window.addEventListener('hashchange', show);
window.addEventListener('beforeunload', (event) => { if (page?.isChanged?.()) event.preventDefault(); });
show();