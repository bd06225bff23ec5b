// A document as a tree, by the pattern of the ARIA guide: the arrows move through it, open and close. Where it may be changed, Enter
// opens a field in place of a value, and each change can be undone.
import { add, el, shown } from './dom.js';
import { format, parse } from './json.js';
import { changed, describe, fieldText, isBranch, kept, members, valueAt } from './values.js';

/** So many members are shown at once. */
const STEP = 100;
/** Changes that can be undone. */
const HISTORY = 200;
/** Longer values are changed in the text. */
const FIELD = 100000;
const KEYS = 'Enter changes a value, F2 a name, Insert adds, Delete removes, Alt with an arrow moves, Ctrl+Z undoes.';

let trees = 0;

export class Tree {
  /**
   * `edits`, where the document may be changed: `check(member)`, which returns the member as it is stored or throws; `changed(document)`,
   * called after each change; `ready()`, called before one, which may throw; `locked`, names of the document that stay as they are.
   * `shape`: that of the tree which showed the document before.
   */
  constructor(document, { isExtended = false, edits = null, shape = null } = {}) {
    trees += 1;
    Object.assign(this, { document, isExtended, edits, id: `tree-${trees}`, selected: shape?.selected ?? [0], former: shape, field: null, history: [document], at: 0 });
    this.paths = new WeakMap();
    this.opened = new WeakMap();
    this.counts = new WeakMap();
    this.list = el('ul', { role: 'tree', 'aria-label': 'Document', onkeydown: (event) => this.key(event), onclick: (event) => this.click(event), ondblclick: (event) => this.doubleClick(event) });
    this.tools = edits && this.toolbar();
    this.element = el('div', { class: 'tree' }, this.tools, this.list, edits && el('p', { class: 'keys' }, KEYS));
    this.render();
    this.former = null;
  }

  /** What is open and selected, by the places of members. */
  shape() {
    const opened = this.items().filter((one) => one.ariaExpanded).map((one) => [this.paths.get(one).join(), one.ariaExpanded === 'true']);
    return { selected: this.selected, opened: new Map(opened) };
  }

  get isEdited() { return this.field?.isEdited() ?? false; }

  // ---- What is shown ----

  render(hasFocus = this.list.contains(document.activeElement)) {
    this.list.replaceChildren();
    add(this.list, this.rows(this.document, [], 1));
    this.select(this.selected, hasFocus);
  }

  rows(branch, path, level) {
    const all = members(branch);
    const most = this.counts.get(branch) ?? STEP;
    const rows = all.slice(0, most).map(([name, value], at) => this.row(name, value, [...path, at], level, all.length, Array.isArray(branch)));
    if (all.length > most) {
      const more = this.item([...path, most], level, most, all.length, el('span', { class: 'type' }, `${(all.length - most).toLocaleString()} more`));
      more.classList.add('more');
      rows.push(more);
    }
    return rows;
  }

  item(path, level, at, size, ...line) {
    const id = `${this.id}-${path.join('-')}`;
    const item = el('li', { role: 'treeitem', tabindex: '-1', 'aria-level': level, 'aria-posinset': at + 1, 'aria-setsize': size, 'aria-selected': 'false', 'aria-labelledby': id },
      el('div', { class: 'line', id }, line));
    this.paths.set(item, path);
    return item;
  }

  row(name, value, path, level, size, isElement) {
    const key = el('span', { class: isElement ? 'key element' : 'key' }, shown(name, 200));
    if (!isBranch(value, this.isExtended)) {
      const [type, text] = describe(value, this.isExtended);
      return this.item(path, level, path.at(-1), size, key, ' ', el('span', { class: `value ${type === 'text' ? 'is-text' : ''}` }, shown(text, 2000)), ' ', type !== 'text' && el('span', { class: 'type' }, type));
    }
    const count = Array.isArray(value) ? value.length : value.size;
    const was = this.former?.opened.get(path.join());
    if (was !== undefined) this.opened.set(value, was);
    const isOpen = this.opened.get(value) ?? (level === 1 && count <= STEP);
    const item = this.item(path, level, path.at(-1), size, count > 0 && el('span', { class: 'opener', 'aria-hidden': 'true' }), key, ' ', el('span', { class: 'type' }, `${Array.isArray(value) ? 'array' : 'document'} of ${count.toLocaleString()}`));
    if (count === 0) return item;
    item.setAttribute('aria-expanded', String(isOpen));
    // What nobody opens is not made.
    if (isOpen) item.append(el('ul', { role: 'group' }, this.rows(value, path, level + 1)));
    return item;
  }

  items() { return [...this.list.querySelectorAll('[role=treeitem]')]; }

  itemAt(path) {
    const text = path.join();
    return this.items().find((one) => this.paths.get(one).join() === text);
  }

  /** Selects the item at a path, or the one that is there instead. */
  select(path, hasFocus = true) {
    let wanted = path;
    let item = this.itemAt(wanted);
    while (!item && wanted.length > 0) {
      wanted = wanted.at(-1) > 0 ? [...wanted.slice(0, -1), wanted.at(-1) - 1] : wanted.slice(0, -1);
      item = this.itemAt(wanted);
    }
    item ??= this.items()[0];
    for (const one of this.list.querySelectorAll('[tabindex="0"]')) { one.tabIndex = -1; one.setAttribute('aria-selected', 'false'); }
    this.selected = item ? this.paths.get(item) : [];
    if (item) {
      item.tabIndex = 0;
      item.setAttribute('aria-selected', 'true');
      if (hasFocus) { item.focus({ preventScroll: true }); item.firstChild.scrollIntoView({ block: 'nearest' }); }
    }
    this.showTools();
  }

  toggle(item) {
    const branch = valueAt(this.document, this.paths.get(item));
    this.opened.set(branch, item.ariaExpanded !== 'true');
    this.render(true);
  }

  more(item) {
    const path = this.paths.get(item);
    this.counts.set(valueAt(this.document, path.slice(0, -1)), path.at(-1) + STEP);
    this.render(true);
  }

  // ---- Keys and clicks ----

  key(event) {
    if (event.target.closest('form')) return;
    const item = event.target.closest('[role=treeitem]');
    if (!item) return;
    const run = (action) => { event.preventDefault(); event.stopPropagation(); action(); };
    const isCommand = event.ctrlKey || event.metaKey;
    if (isCommand && this.edits) {
      if (event.key.toLowerCase() === 'z') run(() => this.act(() => this.step(event.shiftKey ? 1 : -1)));
      else if (event.key === 'y') run(() => this.act(() => this.step(1)));
    }
    if (isCommand) return;
    if (event.altKey) {
      const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
      if (by && this.edits) run(() => this.act(() => this.move(by)));
      return;
    }
    const items = this.items();
    const at = items.indexOf(item);
    const go = (position) => run(() => this.select(this.paths.get(items[Math.min(items.length - 1, Math.max(0, position))])));
    const isMore = item.classList.contains('more');
    switch (event.key) {
    case 'ArrowDown': go(at + 1); break;
    case 'ArrowUp': go(at - 1); break;
    case 'Home': go(0); break;
    case 'End': go(items.length - 1); break;
    case 'ArrowRight':
      if (item.ariaExpanded === 'false') run(() => this.toggle(item));
      else if (item.ariaExpanded === 'true') go(at + 1);
      break;
    case 'ArrowLeft':
      if (item.ariaExpanded === 'true') run(() => this.toggle(item));
      else if (this.paths.get(item).length > 1) run(() => this.select(this.paths.get(item).slice(0, -1)));
      break;
    case ' ': if (item.ariaExpanded) run(() => this.toggle(item)); else if (isMore) run(() => this.more(item)); break;
    case 'Enter':
      if (isMore) run(() => this.more(item));
      else if (this.edits) run(() => this.act(() => this.edit()));
      else if (item.ariaExpanded) run(() => this.toggle(item));
      break;
    case 'F2': if (this.edits) run(() => this.act(() => this.rename())); break;
    case 'Insert': if (this.edits) run(() => this.act(() => this.insert())); break;
    case 'Delete': if (this.edits) run(() => this.act(() => this.remove())); break;
    default:
    }
  }

  click(event) {
    if (event.target.closest('form')) return;
    const item = event.target.closest('[role=treeitem]');
    if (!item) return;
    this.select(this.paths.get(item));
    if (item.classList.contains('more')) this.more(item);
    else if (item.ariaExpanded && (event.target.closest('.opener') || !this.edits)) this.toggle(item);
  }

  doubleClick(event) {
    if (!this.edits || event.target.closest('form, .more, .opener')) return;
    const item = event.target.closest('[role=treeitem]');
    if (item) this.act(() => (event.target.closest('.key:not(.element)') ? this.rename() : this.edit()));
  }

  // ---- Changes ----

  toolbar() {
    const actions = [
      ['Change', () => this.edit(), () => this.isFree()], ['Rename', () => this.rename(), () => this.isFree() && this.isNamed()],
      ['Add', () => this.insert(), () => !this.isMore()], ['Remove', () => this.remove(), () => this.isFree()],
      ['Move up', () => this.move(-1), () => this.isFree()], ['Move down', () => this.move(1), () => this.isFree()],
      ['Undo', () => this.step(-1), () => this.at > 0], ['Redo', () => this.step(1), () => this.at < this.history.length - 1],
    ];
    const buttons = actions.map(([label, action]) => el('button', { type: 'button', onclick: () => this.act(action) }, label));
    this.showTools = () => buttons.forEach((one, at) => { one.disabled = !actions[at][2](); });
    return el('div', { class: 'tools', role: 'group', 'aria-label': 'Changes to the selected value' }, buttons);
  }

  /** Says which changes are possible. Without edits there are none. */
  showTools() {}

  parent() { return valueAt(this.document, this.selected.slice(0, -1)); }

  isMore(path = this.selected) { return this.itemAt(path)?.classList.contains('more') === true; }

  /** Whether there is a member at a path that may be changed. */
  isFree(path = this.selected) {
    if (path.length === 0 || this.isMore(path)) return false;
    const [name] = members(valueAt(this.document, path.slice(0, -1)))[path.at(-1)] ?? [];
    return name !== undefined && !(path.length === 1 && this.edits.locked.includes(name));
  }

  isNamed() { return this.selected.length > 0 && !Array.isArray(this.parent()); }

  /** Makes a change, after the field that is open. What keeps it from being made is said at its item. */
  async act(change) {
    const { selected } = this;
    const hasField = this.field !== null;
    if (!await this.take()) return;
    if (hasField) this.select(selected);
    try {
      this.edits.ready();
      change();
    } catch (error) {
      for (const old of this.element.querySelectorAll('.of-field')) old.remove();
      const item = this.itemAt(this.selected);
      (item?.firstChild ?? this.list).after(problem(error));
    }
    this.showTools();
  }

  /** Takes another document, from outside. */
  replace(document, merges) {
    this.field = null;
    if (merges && this.at > 0) this.at -= 1;
    this.push(document);
    this.render();
  }

  push(document) {
    this.history = [...this.history.slice(0, this.at + 1), document].slice(-HISTORY);
    this.at = this.history.length - 1;
    this.document = document;
  }

  /** Changes the members of the branch at a path, and selects an item. */
  apply(path, change, selected) {
    const document = changed(this.document, path, change, (former, now) => {
      for (const facts of [this.opened, this.counts]) if (facts.has(former)) facts.set(now, facts.get(former));
    });
    this.push(document);
    this.selected = selected;
    this.render(true);
    this.edits.changed(document);
  }

  step(by) {
    const at = this.at + by;
    if (at < 0 || at >= this.history.length) return;
    this.at = at;
    this.document = this.history[at];
    this.render(true);
    this.edits.changed(this.document);
  }

  remove() {
    if (!this.isFree()) return;
    const { selected } = this;
    this.apply(selected.slice(0, -1), (list) => list.splice(selected.at(-1), 1), selected);
  }

  move(by) {
    const { selected } = this;
    const target = selected.at(-1) + by;
    const path = [...selected.slice(0, -1), target];
    if (!this.isFree() || target < 0 || !this.isFree(path)) return;
    this.apply(selected.slice(0, -1), (list) => list.splice(target, 0, ...list.splice(selected.at(-1), 1)), path);
  }

  edit() {
    if (!this.isFree()) return;
    const value = valueAt(this.document, this.selected);
    const isWhole = isBranch(value, this.isExtended);
    const text = isWhole ? format(value) : fieldText(value);
    if (text.length > FIELD) throw new Error('This value is long: change it in the text');
    this.open(this.itemAt(this.selected).firstChild, { value, text });
  }

  rename() {
    if (!this.isFree() || !this.isNamed()) return;
    this.open(this.itemAt(this.selected).firstChild, { name: members(this.parent())[this.selected.at(-1)][0] });
  }

  /** Adds a member: to the branch that is selected, if it is open or empty, otherwise after what is selected. */
  insert() {
    if (this.isMore()) return;
    const item = this.itemAt(this.selected);
    const value = item ? valueAt(this.document, this.selected) : null;
    const isInto = !item || (isBranch(value, this.isExtended) && item.ariaExpanded !== 'false');
    const path = isInto ? [...this.selected, 0] : [...this.selected.slice(0, -1), this.selected.at(-1) + 1];
    const branch = isInto && item ? value : item ? this.parent() : this.document;
    const line = el('div', { class: 'line' });
    if (isInto && item) { this.opened.set(branch, true); item.firstChild.after(line); }
    else if (item) item.after(line);
    else this.list.append(line);
    this.open(line, { name: Array.isArray(branch) ? undefined : '', text: '', path });
  }

  /** Opens a field in a line: of a name, a value, or for a new member. */
  open(line, { name, text, value, path = null }) {
    const isNew = path !== null;
    const at = path ?? this.selected;
    const named = name === undefined ? null : el('input', { value: name, autocomplete: 'off', spellcheck: 'false', autocapitalize: 'none', 'aria-label': 'Name', placeholder: isNew ? 'name' : null });
    const area = text === undefined ? null : el('textarea', {
      'aria-label': 'Value as extended JSON', spellcheck: 'false', autocapitalize: 'none', dir: 'auto', placeholder: isNew ? '"text", 1, true, {}, []' : null,
      rows: String(Math.min(12, Math.max(1, text.split('\n').length, Math.ceil(text.length / 60)))),
    });
    if (area) area.value = text;
    const inner = el('form', { class: 'edit', novalidate: true }, named, area, el('button', { class: 'primary' }, 'OK'), el('button', { type: 'button', onclick: () => this.leave() }, 'Cancel'));
    const former = [...line.childNodes];
    line.replaceChildren(inner);
    const isEdited = () => (named && named.value !== name) || (area && area.value !== text);
    const field = { inner, isEdited, isNew, at, value, named, area, restore: () => (isNew ? line.remove() : line.replaceChildren(...former)) };
    this.field = field;
    inner.addEventListener('submit', (event) => { event.preventDefault(); this.take(); });
    inner.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') { event.preventDefault(); this.leave(); }
      // Shift makes a line of JSON.
      else if (event.key === 'Enter' && event.target === area && !event.shiftKey && !event.isComposing) { event.preventDefault(); this.take(); }
    });
    (named ?? area).focus();
    (named ?? area).select();
  }

  /** Closes the field without a change. */
  leave() {
    const { field } = this;
    this.field = null;
    field?.restore();
    this.select(this.selected);
  }

  /** Takes what the field has. Returns false when it is wrong, which is said there. */
  async take() {
    const { field } = this;
    if (!field) return true;
    if (!field.isNew && !field.isEdited()) { this.leave(); return true; }
    try {
      this.edits.ready();
      // The text beside the tree was changed meanwhile, and the tree with it.
      if (this.field !== field) return true;
      const path = field.at.slice(0, -1);
      const at = field.at.at(-1);
      const before = members(valueAt(this.document, path));
      const name = field.named?.value ?? before[at]?.[0] ?? String(at);
      if (field.named && before.some(([one], position) => one === name && (field.isNew || position !== at))) throw new Error(`There is a member "${name}" already`);
      const value = field.area ? kept(field.value, parse(field.area.value)) : before[at][1];
      const [, stored] = members(await this.edits.check(changed(new Map([['value', null]]), [], (list) => { list[0] = [name, value]; })))[0];
      if (this.field !== field) return false;
      this.field = null;
      this.apply(path, (list) => list.splice(at, field.isNew ? 0 : 1, [name, stored]), field.at);
      return true;
    } catch (error) {
      if (this.field !== field) return false;
      field.inner.querySelector('.of-field')?.remove();
      const said = problem(error);
      said.id = `${this.id}-problem`;
      field.inner.append(said);
      for (const one of [field.named, field.area]) { one?.setAttribute('aria-describedby', said.id); one?.setAttribute('aria-invalid', 'true'); }
      (field.area ?? field.named).focus();
      return false;
    }
  }
}

const problem = (error) => el('div', { class: 'error of-field', role: 'alert' }, shown(error.message ?? String(error), 1000));
