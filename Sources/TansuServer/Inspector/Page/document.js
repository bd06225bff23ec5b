// One document: its JSON text in an editor, its revisions, conflicts and attachments.
import { add, ask, button, bytes, el, errorBox, field, form, longText, notice, shown, table } from './dom.js';
import { Failure, call, deleteDocument, documentPath, part, readDocument, saveDocument, send, url } from './api.js';
import { format, parse } from './json.js';
import { documentLink } from './documents.js';

/** Longer texts make an editor slow: it opens when it is asked for. */
const EDITED_AT_ONCE = 200000;

export async function showDocument(view, page) {
  if (page.parts[2] === 'new') await showNew(view, page);
  else await showStored(view, page);
}

function head(database, title) {
  return [
    el('p', { class: 'crumbs' }, el('a', { href: '#/' }, 'Databases'), ' / ',
      el('a', { href: `#/db/${part(database)}` }, shown(database, 120))),
    el('h1', {}, title),
  ];
}

async function showNew(view, page) {
  const id = page.query.get('id') ?? (await call('GET', '/_uuids', undefined, page.signal)).uuids[0];
  add(view, head(page.database, 'New document'));
  new Editor(view, page, new Map([['_id', id]]), null).show();
}

async function showStored(view, page) {
  const { database, signal } = page;
  const id = page.parts[3];
  const rev = page.query.get('rev');
  add(view, head(database, shown(id, 2000)));
  let document;
  try {
    document = await readDocument(
      database, id, rev === null ? { conflicts: 'true', revs_info: 'true' } : { rev, revs_info: 'true' }, signal);
  } catch (error) {
    if (error.status !== 404) throw error;
    const root = `#/db/${part(database)}`;
    add(view, [errorBox(error, el('p', {}, rev === null
      ? el('a', { href: `${root}/new?${new URLSearchParams({ id })}` }, 'Make a document with this id')
      : el('a', { href: documentLink(database, id) }, 'Show the current revision')))]);
    return;
  }
  const conflicts = document.get('_conflicts') ?? [];
  const revisions = document.get('_revs_info') ?? [];
  for (const name of ['_conflicts', '_revs_info']) document.delete(name);
  const current = document.get('_rev');
  add(view, [el('p', { class: 'dim' }, 'Revision ', el('span', { class: 'mono' }, current),
    document.get('_deleted') === true && el('span', { class: 'mark' }, 'deleted'))]);
  if (rev !== null) {
    add(view, [el('div', { class: 'warning' }, el('p', {}, 'This is the revision that the address names. ',
      el('a', { href: documentLink(database, id) }, 'Show the current one')))]);
  }
  if (conflicts.length > 0) add(view, [conflictWarning(page, id, conflicts)]);
  new Editor(view, page, document, id).show();
  add(view, attachments(page, id, document));
  if (revisions.length > 0) add(view, [revisionList(database, id, revisions, current)]);
}

function conflictWarning(page, id, conflicts) {
  return el('div', { class: 'warning', role: 'alert' },
    el('p', {}, el('strong', {}, 'This document is in conflict. '),
      'What is shown is the winner. Merge what is needed of the others into it, save, and delete the others.'),
    el('ul', {}, conflicts.map((rev) => el('li', { class: 'row middle' },
      el('a', { class: 'mono', href: documentLink(page.database, id, `?${new URLSearchParams({ rev })}`) }, rev),
      button('Delete this revision', async () => {
        page.requireSaved();
        if (!await ask('Delete a revision', `Revision ${rev} is deleted, the winner stays.`, 'Delete')) return;
        await deleteDocument(page.database, id, rev);
        notice('Deleted revision ', rev);
        await page.reload();
      }, 'danger')))));
}

function revisionList(database, id, revisions, current) {
  return el('details', {}, el('summary', {}, `${revisions.length.toLocaleString()} revision${revisions.length === 1 ? '' : 's'} of this branch`),
    el('ul', { class: 'revisions' }, revisions.slice(0, 1000).map((revision) => {
      const rev = revision.get('rev');
      const isThere = revision.get('status') === 'available';
      return el('li', {},
        isThere && rev !== current
          ? el('a', { class: 'mono', href: documentLink(database, id, `?${new URLSearchParams({ rev })}`) }, rev)
          : el('span', { class: 'mono' }, rev),
        el('span', { class: 'mark' }, rev === current ? 'shown' : revision.get('status')));
    })));
}

/** The JSON text of a document, which can be changed and saved. */
class Editor {
  constructor(view, page, document, id) {
    this.view = view;
    this.page = page;
    this.id = id;
    this.rev = document.get('_rev') ?? null;
    this.text = format(document);
    this.area = null;
    this.answer = el('div');
    page.isChanged = () => this.area !== null && this.area.value !== this.text;
    page.requireSaved = () => { if (page.isChanged()) throw new Error('There are changes; save them first'); };
  }

  show() {
    const box = el('div');
    add(this.view, [box]);
    if (this.text.length <= EDITED_AT_ONCE) { this.edit(box); return; }
    const open = button(`Edit all ${bytes(this.text.length)}`, () => { box.replaceChildren(); this.edit(box); });
    const path = documentPath(this.page.database, this.id, { rev: this.rev });
    add(box, [
      el('p', { class: 'dim' }, 'This document is long. With all of its text the page may need some seconds.'), longText(this.text),
      el('div', { class: 'row' }, open, path && el('a', { class: 'button', href: url(path), download: 'document.json' }, 'Download'), this.removal()),
    ]);
  }

  edit(box) {
    this.area = el('textarea', {
      spellcheck: 'false', autocapitalize: 'none', autocomplete: 'off', wrap: 'soft', dir: 'ltr',
      rows: String(Math.min(30, Math.max(8, this.text.slice(0, 5000).split('\n').length + 1))),
    });
    this.area.value = this.text;
    this.area.addEventListener('keydown', (event) => {
      if (event.key === 's' && (event.ctrlKey || event.metaKey)) { event.preventDefault(); editing.requestSubmit(); }
    });
    const editing = form({}, () => this.save(), field('Document as JSON', this.area),
      el('div', { class: 'row' }, el('button', { class: 'primary' }, this.id === null ? 'Create' : 'Save'),
        button('Format', () => { this.area.value = format(parse(this.area.value)); }), this.removal()));
    add(box, [editing, this.answer]);
  }

  removal() {
    if (this.id === null || this.rev === null) return null;
    return button('Delete', async () => {
      if (!await ask('Delete a document', ['The document ', el('strong', {}, shown(this.id, 120)), ' is deleted.'], 'Delete')) return;
      await deleteDocument(this.page.database, this.id, this.rev);
      this.page.isChanged = null;
      notice('Deleted ', shown(this.id, 60));
      location.hash = `/db/${part(this.page.database)}`;
    }, 'danger');
  }

  async save() {
    this.answer.replaceChildren();
    const document = parse(this.area.value);
    if (!(document instanceof Map)) throw new Error('A document is a JSON object');
    const id = document.get('_id') ?? this.id;
    if (id !== null && typeof id !== 'string') throw new Error('The "_id" must be a string');
    if (id === '') throw new Error('The "_id" must not be empty');
    if (this.id !== null && id !== this.id) throw new Error('The "_id" is that of another document; copy the text into a new document instead');
    try {
      const saved = await saveDocument(this.page.database, id, this.area.value);
      this.text = this.area.value;
      notice('Saved revision ', saved.rev);
      const target = documentLink(this.page.database, saved.id);
      if (location.hash === target) await this.page.reload();
      else location.hash = target.slice(1);
    } catch (error) {
      if (!(error instanceof Failure) || error.status !== 409) throw error;
      await this.showConflict(document, id, error);
    }
  }

  /** Somebody else has saved the document meanwhile. */
  async showConflict(mine, id, error) {
    let stored = null;
    try {
      stored = await readDocument(this.page.database, id, {}, this.page.signal);
    } catch (problem) {
      if (problem.status !== 404) throw problem;
    }
    const over = () => {
      if (stored === null) mine.delete('_rev');
      else mine.set('_rev', stored.get('_rev'));
      this.area.value = format(mine);
      return this.save();
    };
    add(this.answer, [el('div', { class: 'warning', role: 'alert' },
      el('p', {}, el('strong', {}, 'Not saved: '), shown(error.message)),
      stored === null
        ? el('p', {}, 'The document has been deleted meanwhile.')
        : [el('p', {}, 'Stored is revision ', el('span', { class: 'mono' }, stored.get('_rev')), ':'), longText(format(stored))],
      el('div', { class: 'row' }, button('Save mine over it', over),
        button('Discard mine', () => {
          this.page.isChanged = null;
          const target = documentLink(this.page.database, id);
          if (location.hash === target) return this.page.reload();
          location.hash = target.slice(1);
          return null;
        })))]);
    this.answer.firstChild.scrollIntoView({ block: 'nearest' });
  }
}

function attachments(page, id, document) {
  const { database } = page;
  const rev = document.get('_rev');
  const isLocal = id.startsWith('_local/');
  if (isLocal || documentPath(database, id) === null) return [];
  const rows = [...document.get('_attachments') ?? []].map(([name, stub]) => {
    const path = documentPath(database, id, { rev }, name);
    return el('tr', {},
      el('th', { scope: 'row', class: 'id' }, path === null ? shown(name) : el('a', { href: url(path), download: name }, shown(name))),
      el('td', {}, shown(String(stub.get('content_type') ?? ''), 80)),
      el('td', { class: 'number' }, bytes(Number(stub.get('length') ?? 0))),
      el('td', { class: 'actions' }, path !== null && button('Delete', async () => {
        page.requireSaved();
        if (!await ask('Delete an attachment', [el('strong', {}, shown(name, 120)), ' is removed from the document.'], 'Delete')) return;
        await call('DELETE', path);
        notice('Deleted ', shown(name, 60));
        await page.reload();
      }, 'danger')));
  });
  const file = el('input', { type: 'file' });
  return [
    el('h2', {}, 'Attachments'),
    rows.length > 0 && table(null, [['Name'], ['Type'], ['Length', 'number'], ['']], rows),
    form({}, async () => {
      page.requireSaved();
      const [chosen] = file.files;
      if (!chosen) throw new Error('Choose a file');
      const path = documentPath(database, id, { rev }, chosen.name);
      if (path === null) throw new Error('A file of this name cannot be sent');
      await send('PUT', path, { body: chosen, type: chosen.type || 'application/octet-stream' });
      notice('Added ', shown(chosen.name, 60));
      await page.reload();
    }, el('div', { class: 'row' }, field('Add a file', file, 'grow'), el('button', {}, 'Add'))),
  ];
}