// The list of databases.
import { add, ask, button, el, errorBox, field, form, notice, shown, table } from './dom.js';
import { call, databasePath, part } from './api.js';

const SIZE = 20;

export async function showDatabases(view, page) {
  add(view, [el('h1', {}, 'Databases')]);
  const name = el('input', { autocomplete: 'off', spellcheck: 'false', autocapitalize: 'none', placeholder: 'people' });
  const create = form({}, async (submitter) => {
    if (name.value === '') throw new Error('A database needs a name');
    if (submitter?.value === 'create') {
      await call('PUT', databasePath(name.value));
      notice('Created ', shown(name.value, 60));
    }
    location.hash = `/db/${part(name.value)}`;
  }, el('div', { class: 'row' }, field('Name of a database', name, 'grow'),
    el('button', { value: 'create', class: 'primary' }, 'Create'), el('button', { value: 'open' }, 'Open')));
  add(view, [create]);
  const start = page.query.get('start');
  const from = start === null ? '' : `&startkey=${part(JSON.stringify(start))}`;
  let names;
  try {
    names = await call('GET', `/_all_dbs?limit=${SIZE + 1}${from}`, undefined, page.signal);
  } catch (error) {
    // Other users than admins can use the databases that they know.
    if (error.status !== 401 && error.status !== 403) throw error;
    add(view, [errorBox(new Error('Only server admins may list the databases'),
      el('p', {}, el('a', { href: '#/login' }, 'Log in'), ', or open one by its name.'))]);
    return;
  }
  const rows = names.slice(0, SIZE).map((database) => row(database, page));
  if (rows.length === 0) add(view, [el('p', { class: 'dim' }, start === null ? 'There is no database yet.' : 'There are no more.')]);
  else {
    add(view, [table(null, [['Name'], ['Documents', 'number'], ['Deleted', 'number'], ['Update sequence', 'wide'], ['']],
      rows.map((one) => one.element))]);
  }
  add(view, [el('div', { class: 'row' }, start !== null && el('a', { class: 'button', href: '#/' }, 'First page'),
    names.length > SIZE && el('a', { class: 'button', href: `#/?${new URLSearchParams({ start: names[SIZE] })}` }, 'Next page'))]);
  load(rows, page.signal);
}

function row(database, page) {
  const documents = el('td', { class: 'number' }, '\u2026');
  const deleted = el('td', { class: 'number' });
  const sequence = el('td', { class: 'mono wide' });
  const isSystem = database.startsWith('_');
  const element = el('tr', {},
    el('th', { scope: 'row', class: 'id' }, el('a', { href: `#/db/${part(database)}` }, shown(database))), documents, deleted, sequence,
    el('td', { class: 'actions' }, !isSystem && button('Delete', async () => {
      const isSure = await ask(
        'Delete a database', ['All documents of ', el('strong', {}, shown(database, 120)), ' are removed.'], 'Delete', database);
      if (!isSure) return;
      await call('DELETE', databasePath(database));
      notice('Deleted ', shown(database, 60));
      await page.reload();
    }, 'danger')));
  return {
    element,
    async load(signal) {
      try {
        const info = await call('GET', databasePath(database), undefined, signal);
        documents.textContent = info.doc_count.toLocaleString();
        deleted.textContent = info.doc_del_count.toLocaleString();
        sequence.textContent = String(info.update_seq).replace(/^(\d+-.{8}).+/, '$1\u2026');
        sequence.title = info.update_seq;
      } catch (error) {
        if (error.name === 'AbortError') return;
        documents.replaceWith(el('td', { colspan: '2', class: 'text' }, shown(error.message)));
        deleted.remove();
      }
    },
  };
}

/** Two at a time. */
async function load(rows, signal) {
  const left = [...rows];
  const work = async () => { while (left.length > 0 && !signal.aborted) await left.shift().load(signal); };
  await Promise.all([work(), work()]);
}