// Replications that the server runs.
import { add, button, checkbox, el, errorBox, facts, field, form, longText, notice, shown, table } from './dom.js';
import { call } from './api.js';

const INTERVAL = 2000;

export async function showReplication(view, page) {
  const names = el('datalist', { id: 'databases' });
  const side = () => el('input', { list: 'databases', autocomplete: 'off', spellcheck: 'false', autocapitalize: 'none' });
  const [source, target] = [side(), side()];
  const [continuous, create] = [checkbox('Continuous'), checkbox('Create the target')];
  const outcome = el('div', { role: 'status' });
  const jobs = new Jobs(page);
  add(view, [
    el('h1', {}, 'Replication'),
    form({}, async () => {
      outcome.replaceChildren();
      const body = {
        source: value(source), target: value(target), continuous: continuous.box.checked, create_target: create.box.checked,
      };
      const running = call('POST', '/_replicate', body);
      setTimeout(() => jobs.refresh(), 300);
      const answer = await running;
      if (continuous.box.checked) notice('Started');
      else add(outcome, [report(answer)]);
      await jobs.refresh();
    }, el('div', { class: 'columns' }, field('Source: a database, or a URL', source), field('Target: a database, or a URL', target)),
    el('p', { class: 'dim' }, 'With a user: ',
      el('code', {}, '{"url": "https://host/people", "auth": {"basic": {"username": "anna", "password": "\u2026"}}}')),
    el('div', { class: 'row middle' }, continuous.element, create.element, el('button', { class: 'primary' }, 'Start'))),
    names, outcome, el('h2', {}, 'Running'), jobs.element,
  ]);
  await jobs.refresh();
  const timer = setInterval(() => { if (!document.hidden) jobs.refresh(); }, INTERVAL);
  page.signal.addEventListener('abort', () => clearInterval(timer));
  try {
    const found = await call('GET', '/_all_dbs?limit=200', undefined, page.signal);
    add(names, found.map((name) => el('option', { value: name })));
  } catch { /* the names are a help only */ }
}

function value(input) {
  const text = input.value.trim();
  if (text === '') throw new Error('A replication needs a source and a target');
  return text.startsWith('{') ? JSON.parse(text) : text;
}

function report(answer) {
  const last = answer.history?.[0] ?? {};
  return el('div', { class: 'done' },
    el('p', {}, answer.no_changes ? 'There was nothing to replicate.' : 'The replication has ended.'),
    !answer.no_changes && facts([
      ['read', last.docs_read ?? 0], ['written', last.docs_written ?? 0], ['refused', last.doc_write_failures ?? 0],
    ].map(([name, count]) => [name, count.toLocaleString()])),
    el('details', {}, el('summary', {}, 'Answer as JSON'), longText(JSON.stringify(answer, null, 2))));
}

/** The list of what runs. A row stays the same element, so that it keeps the focus. */
class Jobs {
  constructor(page) {
    this.page = page;
    this.rows = new Map();
    this.list = table(null, [['Source'], ['Target'], ['Kind'], ['Read', 'number'], ['Written', 'number'], ['Pending', 'number'], ['']], []);
    this.body = this.list.querySelector('tbody');
    this.message = el('p', { class: 'dim' });
    this.element = el('div', {}, this.message, this.list);
  }

  async refresh() {
    let tasks;
    try {
      tasks = (await call('GET', '/_active_tasks', undefined, this.page.signal)).filter((task) => task.type === 'replication');
    } catch (error) {
      if (error.name === 'AbortError') return;
      this.list.hidden = true;
      this.message.replaceChildren(errorBox(error));
      return;
    }
    this.message.textContent = tasks.length === 0 ? 'None is running.' : '';
    this.list.hidden = tasks.length === 0;
    for (const [id, row] of this.rows) {
      if (!tasks.some((task) => task.replication_id === id)) { row.element.remove(); this.rows.delete(id); }
    }
    for (const task of tasks) {
      if (!this.rows.has(task.replication_id)) {
        const row = this.row(task);
        this.rows.set(task.replication_id, row);
        this.body.append(row.element);
      }
      this.rows.get(task.replication_id).update(task);
    }
  }

  row(task) {
    const cells = ['docs_read', 'docs_written', 'changes_pending'].map((name) => [name, el('td', { class: 'number' })]);
    const element = el('tr', {},
      el('th', { scope: 'row', class: 'id' }, shown(task.source)), el('td', { class: 'id' }, shown(task.target)),
      el('td', {}, task.continuous ? 'continuous' : 'once'), cells.map(([, cell]) => cell),
      el('td', { class: 'actions' }, button('Cancel', async () => {
        await call('POST', '/_replicate', { replication_id: task.replication_id, cancel: true });
        notice('Cancelled');
        await this.refresh();
      }, 'danger')));
    return {
      element,
      update(now) { for (const [name, cell] of cells) cell.textContent = now[name]?.toLocaleString() ?? '?'; },
    };
  }
}