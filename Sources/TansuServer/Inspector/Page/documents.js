// The documents of a database, page by page.
import { add, el, field, form, shown, table } from './dom.js';
import { databasePath, exact, part } from './api.js';
import { summary } from './json.js';
import { isAdmin } from './session.js';

const SIZES = [10, 25, 100];

/** Heading and tabs of the pages of a database. */
export function databaseHead(database, tab) {
  const root = `#/db/${part(database)}`;
  const tabs = [['', 'Documents'], ['/search', 'Search'], ['/query', 'Query'], ['/indexes', 'Indexes'], ['/changes', 'Changes']];
  const native = isAdmin() && el('a', { href: `#/c/${part(database)}/query` }, 'Pipelines and plans');
  return [
    el('p', { class: 'crumbs' }, el('a', { href: '#/' }, 'Databases')),
    el('h1', {}, shown(database)),
    el('nav', { class: 'tabs', 'aria-label': 'Database' }, tabs.map(([path, name]) =>
      el('a', { href: root + path, 'aria-current': path === tab ? 'page' : null }, name)), native),
  ];
}

export const documentLink = (database, id, query = '') => `#/db/${part(database)}/doc/${part(id)}${query}`;

export async function showDocuments(view, page) {
  const { database, query } = page;
  const root = `#/db/${part(database)}`;
  add(view, databaseHead(database, ''));
  const size = SIZES.includes(Number(query.get('size'))) ? Number(query.get('size')) : 25;
  const hasContents = query.get('contents') !== 'no';
  const link = (members) => {
    const all = new URLSearchParams();
    if (size !== 25) all.set('size', size);
    if (!hasContents) all.set('contents', 'no');
    for (const [name, value] of Object.entries(members)) {
      if (value === null) all.delete(name);
      else all.set(name, value);
    }
    return `${root}${all.size > 0 ? `?${all}` : ''}`;
  };

  const id = el('input', { autocomplete: 'off', spellcheck: 'false', autocapitalize: 'none', value: query.get('start') ?? '' });
  const sizes = el('select', { onchange: () => { location.hash = link({ size: sizes.value }).slice(1); } },
    SIZES.map((one) => el('option', { value: one, selected: one === size }, String(one))));
  add(view, [form({ role: 'search' }, (submitter) => {
    if (submitter?.value === 'list') location.hash = link({ start: id.value || null }).slice(1);
    else if (id.value !== '') location.hash = documentLink(database, id.value).slice(1);
  }, el('div', { class: 'row' }, field('Id', id, 'grow'), el('button', { value: 'open' }, 'Open'),
    el('button', { value: 'list' }, 'List from here'), field('Rows', sizes),
    el('a', { class: 'button primary', href: `${root}/new` }, 'New document')))]);

  const { rows, total, before, after } = await load(page, size, hasContents);
  const contents = el('a', { href: link({ contents: hasContents ? 'no' : null, start: query.get('start') }) },
    hasContents ? 'ids only' : 'with contents');
  if (rows.length === 0) add(view, [el('p', { class: 'dim' }, total === 0 ? 'There are no documents.' : 'There are no documents from here on.')]);
  else {
    add(view, [table([`${total.toLocaleString()} documents; `, contents],
      [['Id'], ['Revision', 'wide'], [hasContents ? 'Document' : '']], rows.map((row) => documentRow(database, row)))]);
  }
  add(view, [el('div', { class: 'row' },
    before !== null && el('a', { class: 'button', href: link({}) }, 'First page'),
    before !== null && el('a', { class: 'button', href: link({ before }) }, 'Previous page'),
    after !== null && el('a', { class: 'button', href: link({ start: after }) }, 'Next page'))]);
}

/** A page that begins at the id `start`, or ends before the id `before`. */
async function load({ database, query, signal }, size, hasContents) {
  const fetchRows = async (members) => {
    const all = new URLSearchParams({ limit: size + 1, ...members });
    if (hasContents) { all.set('include_docs', 'true'); all.set('conflicts', 'true'); }
    return exact('GET', `${databasePath(database)}/_all_docs?${all}`, undefined, signal);
  };
  const idOf = (row) => row.get('id');
  const end = query.get('before');
  if (end !== null) {
    const answer = await fetchRows({ startkey: JSON.stringify(end), descending: 'true', skip: 1 });
    const found = answer.get('rows');
    const isMore = found.length > size;
    const rows = found.slice(0, size).reverse();
    return { rows, total: answer.get('total_rows'), before: isMore ? idOf(rows[0]) : null, after: end };
  }
  const start = query.get('start');
  const answer = await fetchRows(start === null ? {} : { startkey: JSON.stringify(start) });
  const found = answer.get('rows');
  const isAtStart = start === null || found.length === 0 || answer.get('offset') === 0;
  return {
    rows: found.slice(0, size), total: answer.get('total_rows'),
    before: isAtStart ? null : idOf(found[0]), after: found.length > size ? idOf(found[size]) : null,
  };
}

function documentRow(database, row) {
  const document = row.get('doc');
  const content = document instanceof Map ? new Map(document) : null;
  const attachments = content?.get('_attachments')?.size ?? 0;
  const conflicts = content?.get('_conflicts')?.length ?? 0;
  for (const name of ['_id', '_rev', '_attachments', '_conflicts']) content?.delete(name);
  return el('tr', {},
    el('th', { scope: 'row', class: 'id' }, el('a', { href: documentLink(database, row.get('id')) }, shown(row.get('id'))),
      conflicts > 0 && el('span', { class: 'mark conflict' }, 'conflict'),
      attachments > 0 && el('span', { class: 'mark' }, `${attachments} attachment${attachments === 1 ? '' : 's'}`)),
    el('td', { class: 'mono wide nowrap', title: row.get('value').get('rev') }, row.get('value').get('rev').replace(/^(\d+-.{8}).*/, '$1\u2026')),
    el('td', { class: 'text mono' }, content && el('bdi', {}, summary(content))));
}