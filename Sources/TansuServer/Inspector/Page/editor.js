// A document that may be changed: as a tree, and as text beside it.
import { add, ask, button, bytes, el, field, form, longText, notice, shown } from './dom.js';
import { format, parse } from './json.js';
import { Tree } from './tree.js';

/** Longer texts make an editor slow: it opens when it is asked for. */
const EDITED_AT_ONCE = 200000;
/** The tree follows the text when nothing was written for so long, in milliseconds. */
const PAUSE = 400;

/** The address of a document that was saved, which is shown once more, and the shape of its tree. */
let saved = null;

/** Somebody else has changed the document meanwhile. */
export class Conflict extends Error {}

export class Editor {
  /**
   * `target` says what is edited: `isNew`, `isExtended` (JSON), `label` of the text, `locked` names, `download`, the URL of the text;
   * and how: `check(member)` as of a tree, `save(document, text)`, which returns the address of what was saved and throws `Conflict`,
   * `stored(mine)`, the document as it is now or null, `over(mine, stored)`, which changes mine so that it can be saved, `address(mine)`
   * of what is stored, and `remove()`, which returns where to go.
   */
  constructor(view, page, document, target) {
    Object.assign(this, { view, page, target, text: format(document), area: null, isOfText: false, answer: el('div') });
    this.seen = this.text;
    this.tree = new Tree(document, {
      isExtended: target.isExtended === true, shape: saved?.address === location.hash ? saved.shape : null,
      edits: {
        locked: target.locked ?? [], check: target.check ?? ((member) => member),
        ready: () => this.readText(),
        changed: (document) => { this.isOfText = false; this.setText(format(document)); },
      },
    });
    saved = null;
    page.isChanged = () => this.tree.isEdited || this.current() !== this.text;
    page.requireSaved = () => { if (page.isChanged()) throw new Error('There are changes; save them first'); };
  }

  /** The text as it would be saved. */
  current() { return this.area?.value ?? this.seen; }

  setText(text) {
    this.seen = text;
    if (this.area) this.area.value = text;
  }

  /** Has the tree follow the text. @throws What is wrong in the text. */
  readText() {
    if (this.current() === this.seen) return;
    let document;
    try { document = this.read(); } catch (error) { throw new Error(`The text beside the tree is wrong; mend it first: ${error.message}`); }
    this.seen = this.current();
    this.tree.replace(document, this.isOfText);
    this.isOfText = true;
  }

  read() {
    const document = parse(this.current());
    if (!(document instanceof Map)) throw new Error('A document is a JSON object');
    return document;
  }

  show() {
    const { target } = this;
    const box = el('div');
    const editing = form({}, () => this.save(), box,
      el('div', { class: 'row' }, el('button', { class: 'primary', value: 'save' }, target.isNew ? 'Create' : 'Save'),
        button('Format', () => { this.readText(); this.setText(format(this.tree.document)); }), target.remove && button('Delete', () => this.remove(), 'danger')));
    const both = el('div', { class: 'columns' }, this.tree.element, editing);
    both.addEventListener('keydown', (event) => {
      if (event.key === 's' && (event.ctrlKey || event.metaKey)) { event.preventDefault(); editing.requestSubmit(); }
    });
    add(this.view, [both, this.answer]);
    if (this.text.length <= EDITED_AT_ONCE) { this.edit(box); return; }
    const open = button(`Edit all ${bytes(this.text.length)}`, () => { box.replaceChildren(); this.edit(box); });
    add(box, [
      el('p', { class: 'dim' }, 'This document is long. With all of its text the page may need some seconds.'), longText(this.current()),
      el('div', { class: 'row' }, open, target.download && el('a', { class: 'button', href: target.download, download: 'document.json' }, 'Download')),
    ]);
  }

  edit(box) {
    this.area = el('textarea', {
      spellcheck: 'false', autocapitalize: 'none', autocomplete: 'off', wrap: 'soft', dir: 'ltr',
      rows: String(Math.min(30, Math.max(8, this.seen.slice(0, 5000).split('\n').length + 1))),
    });
    this.area.value = this.seen;
    let timer = null;
    this.area.addEventListener('input', () => {
      clearTimeout(timer);
      timer = setTimeout(() => { try { this.readText(); } catch { /* not yet */ } }, PAUSE);
    });
    add(box, [field(this.target.label, this.area)]);
  }

  async remove() {
    if (!await ask('Delete a document', ['The document ', this.target.name && el('strong', {}, shown(this.target.name, 120)), ' is deleted.'], 'Delete')) return;
    const address = await this.target.remove();
    this.page.isChanged = null;
    notice('Deleted');
    location.hash = address;
  }

  async save() {
    this.answer.replaceChildren();
    if (!await this.tree.take()) return;
    const document = this.read();
    this.readText();
    try {
      const address = await this.target.save(document, this.current());
      this.page.isChanged = null;
      notice('Saved');
      saved = { address, shape: this.tree.shape() };
      await this.go(address);
    } catch (error) {
      if (!(error instanceof Conflict)) throw error;
      await this.showConflict(document, error);
    }
  }

  async go(address) {
    if (location.hash === address) await this.page.reload();
    else location.hash = address.slice(1);
  }

  async showConflict(mine, error) {
    const stored = await this.target.stored(mine);
    const over = async () => {
      this.target.over(mine, stored);
      this.setText(format(mine));
      this.tree.replace(mine, false);
      await this.save();
    };
    add(this.answer, [el('div', { class: 'warning', role: 'alert' },
      el('p', {}, el('strong', {}, 'Not saved: '), shown(error.message)),
      stored === null ? el('p', {}, 'The document has been deleted meanwhile.') : [el('p', {}, 'This is stored:'), longText(format(stored))],
      el('div', { class: 'row' }, button('Save mine over it', over),
        button('Discard mine', () => { this.page.isChanged = null; return this.go(this.target.address(mine)); })))]);
    this.answer.firstChild.scrollIntoView({ block: 'nearest' });
  }
}
