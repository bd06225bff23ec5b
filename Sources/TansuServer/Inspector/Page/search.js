// A search box for the words of a collection: completions of what is typed, and the documents that fit best.
import { add, el, facts, field, form, notice, shown } from './dom.js';
import { call, databasePath, exact, part } from './api.js';
import { parse } from './json.js';
import { simple } from './values.js';
import { collectionHead, named, recordLink } from './collections.js';
import { databaseHead, documentLink } from './documents.js';
import { isWritable } from './session.js';

const SIZE = 20;
const EXAMPLE = '{\n  "keys": { "title": "text", "body": "text" },\n  "language": "none"\n}';

/** That of a database of the server. */
export const showSearch = (view, page) => show(view, page, databaseHead, `#/db/${part(page.database)}`, true, (hit) => {
  const id = hit.get('id');
  return el('a', { href: documentLink(page.database, id) }, shown(id));
});

/** That of a collection, whose ids are of any type. */
export const showCollectionSearch = (view, page) => show(view, page, collectionHead, `#/c/${part(page.database)}`, isWritable(), (hit) => {
  const id = parse(hit.get('key'));
  return el('a', { href: recordLink(page.database, id) }, shown(named(simple(id))));
});

async function show(view, page, head, root, mayCreate, linkOf) {
  const { database, query } = page;
  const path = `${databasePath(database)}/_words`;
  add(view, [head(database, '/search')]);
  const { index } = await call('GET', path, undefined, page.signal);
  if (index === null) {
    add(view, noIndex(path, page, mayCreate));
    return;
  }
  const text = query.get('q') ?? '';
  const link = (members) => `${root}/search?${new URLSearchParams(members)}`;
  const go = async (wanted) => {
    const target = link({ q: wanted });
    if (location.hash === target) await page.reload();
    else location.hash = target.slice(1);
  };
  const { combo, input, time } = searchBox(path, page.signal, go);
  input.value = text;
  add(view, [
    form({ role: 'search' }, () => go(input.value),
      el('div', { class: 'row' }, combo, el('button', { class: 'primary' }, 'Search'))), time,
    el('p', { class: 'dim' }, 'Words are alternatives; "phrases" must be there, -words must not; a * at the end stands for any ending. Searched: ',
      Object.entries(index.weights).map(([name, weight], at) => [at > 0 && ', ', name === '**' ? 'all texts' : shown(name, 60), weight !== 1 && ` (weight ${weight})`]), '.'),
  ]);
  if (text.trim() === '') return;
  const skip = Number(query.get('skip') ?? 0);
  const answer = await exact('POST', path, JSON.stringify({ search: text, limit: SIZE, skip, keys: true }), page.signal);
  const hits = answer.get('hits');
  if (skip === 0 && hits.length < SIZE) await didYouMean(view, path, text, link, page);
  add(view, [facts([
    ['results', hits.length === 0 ? 'none' : `${skip + 1} to ${skip + hits.length}`], ['time', `${Number(answer.get('time_ms')).toFixed(2)} ms`],
  ])]);
  if (hits.length > 0) add(view, [el('ol', { class: 'hits', start: skip + 1 }, hits.map((hit) => hitRow(hit, linkOf(hit))))]);
  add(view, [el('div', { class: 'row' },
    skip > 0 && el('a', { class: 'button', href: link({ q: text, skip: Math.max(0, skip - SIZE) }) }, 'Previous page'),
    answer.get('more') && el('a', { class: 'button', href: link({ q: text, skip: skip + SIZE }) }, 'Next page'))]);
}

function hitRow(hit, link) {
  return el('li', {},
    link,
    el('span', { class: 'mark' }, `score ${Number(hit.get('score')).toFixed(3)}`),
    hit.get('snippets').map((snippet) => el('p', {},
      shown(snippet.get('path'), 60), ': ',
      el('bdi', {}, snippet.get('parts').map((piece) => (piece.get('found') ? el('mark', {}, shown(piece.get('text'))) : shown(piece.get('text'), 1000)))))));
}

async function didYouMean(view, path, text, link, page) {
  const answer = await call('POST', path, { suggest: text }, page.signal);
  if (!answer.differs || answer.text === text) return;
  add(view, [el('p', {}, 'Did you mean ', el('a', { href: link({ q: answer.text }) }, shown(answer.text)), '?')]);
}

/** A combobox, by the pattern of the ARIA guide: the arrows choose a completion, Enter takes it, Escape leaves them. */
function searchBox(path, signal, go) {
  const list = el('ul', { id: 'completions', role: 'listbox', 'aria-label': 'Completions', hidden: true });
  const input = el('input', {
    type: 'search', autocomplete: 'off', spellcheck: 'false', autocapitalize: 'none', dir: 'auto', role: 'combobox',
    'aria-autocomplete': 'list', 'aria-expanded': 'false', 'aria-controls': 'completions',
  });
  const time = el('p', { class: 'dim', role: 'status' });
  let texts = [];
  let chosen = -1;
  let asked = 0;
  const close = () => {
    list.hidden = true;
    chosen = -1;
    input.setAttribute('aria-expanded', 'false');
    input.removeAttribute('aria-activedescendant');
  };
  const choose = (at) => {
    chosen = at;
    [...list.children].forEach((one, position) => one.setAttribute('aria-selected', String(position === at)));
    if (at < 0) { input.removeAttribute('aria-activedescendant'); return; }
    input.setAttribute('aria-activedescendant', list.children[at].id);
    list.children[at].scrollIntoView({ block: 'nearest' });
  };
  const take = (at) => { input.value = texts[at]; close(); return go(input.value); };
  input.addEventListener('input', async () => {
    const mine = ++asked;
    if (input.value.trim() === '') { close(); return; }
    let answer;
    try {
      answer = await call('POST', path, { complete: input.value, limit: 10 }, signal);
    } catch { return; }
    // Of several questions on the way the last one counts.
    if (mine !== asked || !input.isConnected) return;
    texts = answer.completions.map((completion) => completion.text);
    list.replaceChildren();
    add(list, answer.completions.map((completion, at) => el('li', {
      id: `completion-${at}`, role: 'option', 'aria-selected': 'false',
      onmousedown: (event) => { event.preventDefault(); take(at); },
    }, shown(completion.text, 100), el('span', { class: 'dim' }, completion.documents.toLocaleString()))));
    time.textContent = `${texts.length} completions in ${answer.time_ms.toFixed(2)} ms`;
    choose(-1);
    list.hidden = texts.length === 0;
    input.setAttribute('aria-expanded', String(texts.length > 0));
  });
  input.addEventListener('keydown', (event) => {
    if (list.hidden) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      choose(chosen + step >= texts.length ? -1 : chosen + step < -1 ? texts.length - 1 : chosen + step);
    } else if (event.key === 'Escape') {
      event.preventDefault();
      close();
    } else if (event.key === 'Enter' && chosen >= 0) {
      event.preventDefault();
      take(chosen);
    }
  });
  input.addEventListener('blur', close);
  const combo = field('Search', input, 'grow combo');
  combo.append(list);
  return { combo, input, time };
}

/** What a collection without an index of words shows: how to make one. */
function noIndex(path, page, mayCreate) {
  const area = el('textarea', { rows: '4', spellcheck: 'false', autocapitalize: 'none', dir: 'ltr' });
  area.value = EXAMPLE;
  return [
    el('p', {}, 'The documents have no index of words. It finds texts by their words, in every script, best ones first. {"**": "text"} has all texts.'),
    mayCreate && form({}, async () => {
      parse(area.value);
      await exact('PUT', path, area.value);
      notice('Created the index');
      await page.reload();
    }, field('Index of words as JSON: keys, weights, language, languageField, positions', area),
    el('div', { class: 'row' }, el('button', { class: 'primary' }, 'Create'))),
  ];
}
