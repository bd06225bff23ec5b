// The changes of a database as they come.
import { add, checkbox, el, errorBox, field, form, shown, table } from './dom.js';
import { databasePath, lines } from './api.js';
import { parse, summary } from './json.js';
import { databaseHead, documentLink } from './documents.js';

/** The newest ones are shown. */
const LIMIT = 300;

export async function showChanges(view, page) {
  const { database } = page;
  const since = el('input', { value: 'now', autocomplete: 'off', spellcheck: 'false' });
  const documents = checkbox('With documents');
  const toggle = el('button', { class: 'primary' }, 'Start');
  const state = el('p', { class: 'dim', role: 'status' }, 'Stopped');
  const changes = table(null, [['Sequence', 'wide'], ['Id'], ['Revisions'], ['']], []);
  const body = changes.querySelector('tbody');
  const problem = el('div');
  let feed = null;
  let count = 0;

  async function run() {
    feed = new AbortController();
    const { signal } = feed;
    page.signal.addEventListener('abort', () => feed?.abort(), { signal });
    const members = new URLSearchParams({
      feed: 'continuous', style: 'all_docs', since: since.value || 'now', heartbeat: '10000',
      ...(documents.box.checked ? { include_docs: 'true' } : {}),
    });
    const rows = new Rows(body, database);
    toggle.textContent = 'Stop';
    state.textContent = 'Waiting for changes';
    problem.replaceChildren();
    try {
      for await (const line of lines(`${databasePath(database)}/_changes?${members}`, signal)) {
        const change = parse(line);
        if (!change.has('id')) {
          if (change.has('last_seq')) since.value = change.get('last_seq');
          continue;
        }
        count += 1;
        since.value = change.get('seq');
        rows.add(change);
        state.textContent = `${count.toLocaleString()} changes${count > LIMIT ? `, the newest ${LIMIT} are shown` : ''}`;
      }
      state.textContent = 'The server has ended the feed';
    } catch (error) {
      if (!signal.aborted) problem.append(errorBox(error.name === 'TypeError' ? new Error('The connection was lost') : error));
      state.textContent = 'Stopped';
    }
    feed = null;
    toggle.textContent = 'Start';
  }

  add(view, [databaseHead(database, '/changes'), form({}, () => {
    if (feed) feed.abort();
    else run();
  }, el('div', { class: 'row middle' }, field('Since (now, 0, or a sequence)', since, 'grow'), documents.element, toggle,
    el('button', { type: 'button', onclick: () => { body.replaceChildren(); count = 0; } }, 'Clear'))),
  el('p', { class: 'dim' }, 'Changes have an order: “Start” makes a collection that is not replicated a replicated one.'),
  state, problem, changes]);
}

/** Rows that are added together, a few times a second, however many changes come. */
class Rows {
  constructor(body, database) { this.body = body; this.database = database; this.waiting = []; }

  add(change) {
    if (this.waiting.length === 0) setTimeout(() => this.flush(), 100);
    this.waiting.push(change);
    if (this.waiting.length > LIMIT) this.waiting.shift();
  }

  flush() {
    this.body.prepend(...this.waiting.reverse().map((change) => this.row(change)));
    this.waiting = [];
    while (this.body.childElementCount > LIMIT) this.body.lastElementChild.remove();
  }

  row(change) {
    const id = change.get('id');
    const document = change.get('doc');
    return el('tr', {},
      el('td', { class: 'mono wide nowrap', title: String(change.get('seq')) }, String(change.get('seq')).replace(/^(\d+-.{8}).+/, '$1\u2026')),
      el('th', { scope: 'row', class: 'id' }, el('a', { href: documentLink(this.database, id) }, shown(id)),
        change.get('deleted') === true && el('span', { class: 'mark' }, 'deleted')),
      el('td', { class: 'mono nowrap' }, change.get('changes').map((one) => el('div', {}, one.get('rev').replace(/^(\d+-.{8}).*/, '$1\u2026')))),
      el('td', { class: 'text mono' }, document instanceof Map && el('bdi', {}, summary(document))));
  }
}