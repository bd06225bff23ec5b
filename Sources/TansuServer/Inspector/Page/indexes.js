// The indexes that queries use.
import { add, ask, button, el, field, form, notice, shown, table } from './dom.js';
import { call, databasePath, exact, part } from './api.js';
import { parse, summary } from './json.js';
import { databaseHead } from './documents.js';

const EXAMPLE = '{\n  "index": { "fields": ["name"] },\n  "name": "by-name"\n}';

export async function showIndexes(view, page) {
  const { database } = page;
  const path = `${databasePath(database)}/_index`;
  const answer = await exact('GET', path, undefined, page.signal);
  add(view, [databaseHead(database, '/indexes')]);
  add(view, [table(null, [['Name'], ['Design document'], ['Type', 'wide'], ['Definition'], ['']], answer.get('indexes').map((index) => {
    const [name, design, type] = ['name', 'ddoc', 'type'].map((member) => index.get(member));
    return el('tr', {},
      el('th', { scope: 'row', class: 'id' }, shown(name)), el('td', { class: 'id' }, design && shown(design)),
      el('td', { class: 'wide' }, type),
      el('td', { class: 'text mono' }, el('bdi', {}, summary(index.get('def'), 1000))),
      el('td', { class: 'actions' }, type !== 'special' && button('Delete', async () => {
        if (!await ask('Delete an index', ['The index ', el('strong', {}, shown(name, 120)), ' is deleted.'], 'Delete')) return;
        await call('DELETE', `${path}/_design/${part(design.replace(/^_design\//, ''))}/${part(type)}/${part(name)}`);
        notice('Deleted ', shown(name, 60));
        await page.reload();
      }, 'danger')));
  }))]);
  const area = el('textarea', { rows: '5', spellcheck: 'false', autocapitalize: 'none', dir: 'ltr' });
  area.value = EXAMPLE;
  add(view, [el('h2', {}, 'New index'), form({}, async () => {
    parse(area.value);
    const created = await exact('POST', path, area.value);
    notice(created.get('result') === 'exists' ? 'There is already ' : 'Created ', shown(created.get('name'), 60));
    await page.reload();
  }, field('Index as JSON', area), el('div', { class: 'row' }, el('button', { class: 'primary' }, 'Create')))]);
}