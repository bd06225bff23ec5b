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
  const feed = new Feed(page, {
    limit: LIMIT, columns: [['Sequence', 'wide'], ['Id'], ['Revisions'], ['']], running: 'Waiting for changes', goes: 'Stop', stopped: 'Stopped', starts: 'Start',
    row: (change) => row(change, database),
    async* changes(signal) {
      const members = new URLSearchParams({
        feed: 'continuous', style: 'all_docs', since: since.value || 'now', heartbeat: '10000',
        ...(documents.box.checked ? { include_docs: 'true' } : {}),
      });
      for await (const line of lines(`${databasePath(database)}/_changes?${members}`, signal)) {
        const change = parse(line);
        since.value = change.get('seq') ?? change.get('last_seq') ?? since.value;
        if (change.has('id')) yield change;
      }
    },
  });
  add(view, [databaseHead(database, '/changes'), form({}, () => feed.toggle.click(),
    el('div', { class: 'row middle' }, field('Since (now, 0, or a sequence)', since, 'grow'), documents.element, feed.toggle,
      el('button', { type: 'button', onclick: () => feed.clear() }, 'Clear'))),
  el('p', { class: 'dim' }, 'Changes have an order: “Start” makes a collection that is not replicated a replicated one.'),
  feed.state, feed.problem, feed.table]);
}

function row(change, database) {
  const id = change.get('id');
  const document = change.get('doc');
  return el('tr', {},
    el('td', { class: 'mono wide nowrap', title: String(change.get('seq')) }, String(change.get('seq')).replace(/^(\d+-.{8}).+/, '$1\u2026')),
    el('th', { scope: 'row', class: 'id' }, el('a', { href: documentLink(database, id) }, shown(id)),
      change.get('deleted') === true && el('span', { class: 'mark' }, 'deleted')),
    el('td', { class: 'mono nowrap' }, change.get('changes').map((one) => el('div', {}, one.get('rev').replace(/^(\d+-.{8}).*/, '$1\u2026')))),
    el('td', { class: 'text mono' }, document instanceof Map && el('bdi', {}, summary(document))));
}

/** A table of changes, the newest first, and a button that starts and stops it. It stops with the page. */
export class Feed {
  /**
   * `options`: `changes(signal)` gives them without end, `row(change)` is one of the table, `columns` its head, of which `limit` are kept;
   * and the words `starts` and `goes` of the button, `running` and `stopped`.
   */
  constructor(page, options) {
    Object.assign(this, { page, options, count: 0, waiting: [], running: null });
    this.toggle = el('button', { type: 'button', class: 'primary', onclick: () => { if (this.running) this.running.abort(); else this.start(); } }, options.starts);
    this.state = el('p', { class: 'dim', role: 'status' }, options.stopped);
    this.table = table(null, options.columns, []);
    this.body = this.table.querySelector('tbody');
    this.problem = el('div');
  }

  async start() {
    const { options } = this;
    this.running = new AbortController();
    const { signal } = this.running;
    this.page.signal.addEventListener('abort', () => this.running?.abort(), { signal });
    this.toggle.textContent = options.goes;
    this.state.textContent = options.running;
    this.problem.replaceChildren();
    let end = options.stopped;
    try {
      for await (const change of options.changes(signal)) this.add(change);
      end = 'The server has ended the feed';
    } catch (error) {
      if (!signal.aborted) this.problem.append(errorBox(error.name === 'TypeError' ? new Error('The connection was lost') : error));
    }
    this.flush();
    this.state.textContent = end;
    this.running = null;
    this.toggle.textContent = options.starts;
  }

  /** Changes are added together, a few times a second, however many come. */
  add(change) {
    if (this.waiting.length === 0) setTimeout(() => this.flush(), 100);
    this.waiting.push(change);
    this.count += 1;
    if (this.waiting.length > this.options.limit) this.waiting.shift();
  }

  flush() {
    if (this.waiting.length === 0) return;
    const { limit, row } = this.options;
    this.body.prepend(...this.waiting.reverse().map(row));
    this.waiting = [];
    while (this.body.childElementCount > limit) this.body.lastElementChild.remove();
    this.state.textContent = `${this.count.toLocaleString()} changes${this.count > limit ? `, the newest ${limit.toLocaleString()} are shown` : ''}`;
  }

  clear() {
    this.body.replaceChildren();
    this.waiting = [];
    this.count = 0;
  }
}
