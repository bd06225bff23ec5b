// Collections as the engine has them, replicated or not: what takes the space, documents, indexes.
import { add, ask, bytes, button, el, field, form, longText, notice, shown, table } from './dom.js';
import { part } from './api.js';
import { checked, command, count, number, readRecord, told } from './commands.js';
import { format, parse, summary } from './json.js';
import { isWritable } from './session.js';
import { Conflict, Editor } from './editor.js';
import { Tree } from './tree.js';

const SIZE = 25;
const INDEX = '{\n  "keys": { "name": 1 },\n  "options": {}\n}';

/** Heading and tabs of the pages of a collection. */
export function collectionHead(name, tab) {
  const root = `#/c/${part(name)}`;
  const tabs = [['', 'Documents'], ['/search', 'Search'], ['/query', 'Query'], ['/indexes', 'Indexes'], ['/changes', 'Changes']];
  return [
    el('p', { class: 'crumbs' }, el('a', { href: '#/storage' }, 'Collections')),
    el('h1', {}, shown(name)),
    el('nav', { class: 'tabs', 'aria-label': 'Collection' }, tabs.map(([path, label]) =>
      el('a', { href: root + path, 'aria-current': path === tab ? 'page' : null }, label))),
  ];
}

/** An id as a text: others than texts as JSON. */
export const named = (id) => (typeof id === 'string' ? id : summary(id, 2000));

/** The address of a document. Ids are of any type, so it has their JSON. */
export const recordLink = (collection, id) => `#/c/${part(collection)}/doc/${part(format(id))}`;

const size = (value) => el('td', { class: 'number' }, value === undefined ? '' : bytes(number(value)));
const cell = (value) => el('td', { class: 'number' }, value === undefined ? '' : count(value));

/** All collections with what they take, and the segments of the log. */
export async function showStorage(view, page) {
  add(view, [el('h1', {}, 'Collections'), el('p', {}, el('a', { href: '#/changes' }, 'Changes of all collections'), ' \u00b7 ', el('a', { href: '#/slow' }, 'Slow calls'))]);
  const [storage, stats] = await Promise.all([told('storage', {}, page.signal), told('stats', {}, page.signal)]);
  const rows = storage.get('collections').map((one) => {
    const indexes = one.get('indexes').reduce((sum, index) => sum + number(index.get('bytes')), 0);
    return el('tr', {},
      el('th', { scope: 'row', class: 'id' }, el('a', { href: `#/c/${part(one.get('name'))}` }, shown(one.get('name')))),
      cell(one.get('documents')), size(one.get('bytes')), el('td', { class: 'number wide' }, count(one.get('indexes').length)), size(indexes));
  });
  if (rows.length === 0) add(view, [el('p', { class: 'dim' }, 'There is no collection yet.')]);
  else add(view, [table(null, [['Name'], ['Documents', 'number'], ['Size', 'number'], ['Indexes', 'number wide'], ['Their size, about', 'number']], rows)]);
  const segments = storage.get('segments');
  add(view, [el('h2', {}, 'Log'), table(
    ['Its segments have the documents; what is dead in them, a compaction reclaims. The index file has ', bytes(number(stats.get('indexFileBytes'))), '.'],
    [['Segment', 'number'], ['Size', 'number'], ['Living', 'number'], ['Dead', 'number'], ['', 'wide']],
    segments.map((one) => {
      const [live, dead] = [number(one.get('liveBytes')), number(one.get('deadBytes'))];
      return el('tr', {}, cell(one.get('segment')), size(one.get('bytes')), size(live), size(dead),
        el('td', { class: 'wide' }, el('meter', { min: 0, max: Math.max(1, live + dead), value: live, title: 'The living part' })));
    }))]);
  const facts = [...stats].filter(([, value]) => !Array.isArray(value));
  const all = el('details', {}, el('summary', {}, 'All statistics'), longText(format(new Map(facts))));
  add(view, [all]);
}

/** The documents of a collection in the order of their ids. */
export async function showRecords(view, page) {
  const { database: collection, query, signal } = page;
  const root = `#/c/${part(collection)}`;
  add(view, collectionHead(collection, ''));
  const start = query.get('after');
  const wanted = el('input', { autocomplete: 'off', spellcheck: 'false', autocapitalize: 'none', placeholder: '"text", 5 or {"$oid": "\u2026"}' });
  add(view, [form({ role: 'search' }, () => {
    let id = wanted.value;
    try { id = parse(wanted.value); } catch { /* text without quotes */ }
    location.hash = recordLink(collection, id).slice(1);
  }, el('div', { class: 'row' }, field('Id', wanted, 'grow'), el('button', {}, 'Open'),
    isWritable() && el('a', { class: 'button primary', href: `${root}/new` }, 'New document')))]);
  const answer = await command({
    op: 'find', collection, query: new Map(start === null ? [] : [['_id', new Map([['$gt', parse(start)]])]]),
    hints: new Map([['$orderby', new Map([['_id', 1]])], ['$max', SIZE + 1]]),
  }, signal);
  const found = answer.get('documents');
  const shownOnes = found.slice(0, SIZE);
  if (found.length === 0) add(view, [el('p', { class: 'dim' }, start === null ? 'There are no documents.' : 'There are no more.')]);
  else add(view, [records(collection, shownOnes)]);
  const last = shownOnes.at(-1)?.get('_id');
  add(view, [el('div', { class: 'row' }, start !== null && el('a', { class: 'button', href: root }, 'First page'),
    found.length > SIZE && el('a', { class: 'button', href: `${root}?${new URLSearchParams({ after: format(last) })}` }, 'Next page'))]);
}

/** A table of documents; those without an id are no documents of the collection. */
export function records(collection, documents) {
  return table(null, [['Id'], ['Document']], documents.map((document) => {
    const content = new Map(document);
    const id = document.get('_id');
    content.delete('_id');
    return el('tr', {},
      el('th', { scope: 'row', class: 'id' }, id !== undefined && el('a', { href: recordLink(collection, id) }, shown(named(id)))),
      el('td', { class: 'text mono' }, el('bdi', {}, summary(content, 500))));
  }));
}

/** One document: as a tree, and as text that can be changed where the inspector may write. */
export async function showRecord(view, page) {
  const { database: collection, signal } = page;
  const isNew = page.parts[2] === 'new';
  const id = isNew ? null : parse(page.parts[3]);
  add(view, [el('p', { class: 'crumbs' }, el('a', { href: '#/storage' }, 'Collections'), ' / ',
    el('a', { href: `#/c/${part(collection)}` }, shown(collection, 120))),
    el('h1', {}, isNew ? 'New document' : shown(named(id), 2000))]);
  let document = new Map();
  if (!isNew) {
    document = await readRecord(collection, id, signal);
    if (document === null) throw new Error('There is no document with this id');
  }
  if (isWritable()) {
    editor(view, page, isNew ? null : document, id).show();
    return;
  }
  const whole = el('details', {}, el('summary', {}, 'As JSON'));
  whole.addEventListener('toggle', () => whole.append(longText(format(document))), { once: true });
  add(view, [new Tree(document, { isExtended: true }).element, whole]);
}

/** The editor of a document, null for a new one. */
function editor(view, page, document, id) {
  const { database: collection } = page;
  // What is stored as far as this page knows; null when there is nothing.
  let base = document;
  return new Editor(view, page, document ?? new Map(), {
    isNew: document === null, isExtended: true, label: 'Document as extended JSON', name: document && named(id), locked: document === null ? [] : ['_id'],
    check: (member) => checked(member, page.signal),
    address: () => recordLink(collection, id),
    async save(mine) {
      if (document !== null && format(mine.get('_id') ?? null) !== format(document.get('_id'))) throw new Error('The "_id" cannot be changed');
      if (base === null) return recordLink(collection, (await command({ op: 'insert', collection, documents: [mine] })).get('ids')[0]);
      const both = ['$$ROOT', new Map([['$literal', base]])];
      // Numbers of different types are equal, and most have different sizes.
      const sizes = both.map((one) => new Map([['$bsonSize', one]]));
      const isAsBefore = new Map([['$and', [both, sizes].map((pair) => new Map([['$eq', pair]]))]]);
      const query = new Map([['_id', new Map([['$eq', id]])], ['$expr', isAsBefore]]);
      const answer = await command({ op: 'update', collection, query, replace: mine });
      if (number(answer.get('matched')) === 0) throw new Conflict('Somebody else has changed the document meanwhile.');
      return recordLink(collection, id);
    },
    stored: () => readRecord(collection, id),
    over(mine, stored) { base = stored; },
    remove: document && (async () => {
      await command({ op: 'remove', collection, id });
      return `#/c/${part(collection)}`;
    }),
  });
}

/** The indexes of a collection: what they have, take and serve. */
export async function showCollectionIndexes(view, page) {
  const { database: collection, signal } = page;
  add(view, collectionHead(collection, '/indexes'));
  const [indexes, storage] = await Promise.all([told('indexes', { collection }, signal), told('storage', {}, signal)]);
  const sizes = new Map(storage.get('collections').find((one) => one.get('name') === collection)?.get('indexes').map((one) => [one.get('name'), one]) ?? []);
  const row = (name, definition, drop) => el('tr', {},
    el('th', { scope: 'row', class: 'id' }, shown(name)), el('td', { class: 'text mono' }, el('bdi', {}, summary(definition, 1000))),
    cell(sizes.get(name)?.get('entries')), size(sizes.get(name)?.get('bytes')), el('td', { class: 'number' }, count(sizes.get(name)?.get('uses'))), el('td', { class: 'actions' }, drop));
  const rows = [row('_id', new Map([['_id', 1]]), null), ...indexes.map((index) => {
    const options = new Map([...index].filter(([key]) => !['name', 'entries', 'multikey'].includes(key)));
    if (options.get('unique') === false) options.delete('unique');
    const name = index.get('name');
    return row(name, options, isWritable() && button('Drop', async () => {
      if (!await ask('Drop an index', ['The index ', el('strong', {}, shown(name, 120)), ' is dropped.'], 'Drop')) return;
      await command({ op: 'dropIndex', collection, name });
      notice('Dropped ', shown(name, 60));
      await page.reload();
    }, 'danger'));
  })];
  add(view, [table('Uses are the queries of this process since it opened the database.',
    [['Name'], ['Definition'], ['Entries', 'number'], ['Size, about', 'number'], ['Uses', 'number'], ['']], rows)]);
  if (!isWritable()) return;
  const area = el('textarea', { rows: '5', spellcheck: 'false', autocapitalize: 'none', dir: 'ltr' });
  area.value = INDEX;
  add(view, [el('h2', {}, 'New index'), form({}, async () => {
    const index = parse(area.value);
    if (!(index instanceof Map)) throw new Error('An index is a JSON object with keys and options');
    await command({ op: 'createIndex', collection, ...Object.fromEntries(index) });
    notice('Created the index');
    await page.reload();
  }, field('Index as JSON: keys, options, name', area), el('div', { class: 'row' }, el('button', { class: 'primary' }, 'Create')))]);
}
