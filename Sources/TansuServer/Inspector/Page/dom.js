// Elements. Everything that comes from a database goes into them as text: nothing here reads markup.
import { abortable } from './api.js';
import { visibleParts } from './json.js';

/** el('a', { class: 'x', href: '#/', onclick: f }, 'text', element, …); members that are null or false are left out. */
export function el(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else if (key === 'value') element.value = value;
    else element.setAttribute(key, value === true ? '' : value);
  }
  add(element, children);
  return element;
}

export function add(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
}

/** A text that somebody else has written: its direction does not reach its surroundings, and nothing in it is hidden. */
export function shown(text, limit = 300) {
  const isLong = text.length > limit;
  const parts = visibleParts(isLong ? text.slice(0, limit) : text);
  return el('bdi', { title: isLong ? `${text.length.toLocaleString()} characters` : null },
    parts.map(([part, isEscape]) => (isEscape ? el('span', { class: 'escape' }, part) : part)), isLong && '\u2026');
}

/** The lines of a text that somebody else has written, as paragraphs. */
export const paragraphs = (text, limit) =>
  text.slice(0, limit + 1).split(/\r?\n/).filter((line) => line !== '').map((line) => el('p', {}, shown(line, limit)));

let next = 0;

/** A labelled control. */
export function field(label, control, className = '') {
  next += 1;
  control.id = `field-${next}`;
  return el('div', { class: className }, el('label', { for: control.id }, label), control);
}

export function checkbox(label, isChecked = false) {
  const box = el('input', { type: 'checkbox' });
  box.checked = isChecked;
  return { box, element: el('label', { class: 'check' }, box, label) };
}

/** A form that calls `submit` instead of sending anything; its buttons are off meanwhile. */
export function form(attributes, submit, ...children) {
  const element = el('form', { ...attributes, novalidate: true }, children);
  element.addEventListener('submit', async (event) => {
    event.preventDefault();
    await busy(element, () => submit(event.submitter));
  });
  return element;
}

/** A button that is off while what it does goes on. */
export function button(label, action, className = '') {
  const element = el('button', { type: 'button', class: className }, label);
  element.addEventListener('click', () => busy(element, action));
  return element;
}

async function busy(element, action) {
  const buttons = element.matches('button') ? [element] : [...element.querySelectorAll('button')];
  const anchor = element.closest('.table') ?? element.closest('form') ?? element.closest('.row') ?? element;
  // What went wrong before is over, wherever it is.
  for (const old of document.querySelectorAll('main :is(.of-action, .of-page)')) old.remove();
  const focused = document.activeElement;
  for (const one of buttons) one.disabled = true;
  const controller = new AbortController();
  const work = progress((line) => anchor.after(line), () => controller.abort());
  try {
    await abortable(controller, action);
  } catch (error) {
    if (error.name === 'AbortError') {
      if (controller.signal.aborted) notice('Cancelled');
      return;
    }
    const problem = errorBox(error);
    problem.classList.add('of-action');
    anchor.after(problem);
  } finally {
    work.end();
    for (const one of buttons) one.disabled = false;
    // A button that is off loses the focus, and a dialog then returns it to nothing.
    if (document.activeElement === document.body && focused?.isConnected) focused.focus();
  }
}

/** A line that says how long work takes, with a button that ends it, once the work takes a second. */
export function progress(insert, cancel) {
  const start = Date.now();
  const time = el('span', {});
  const line = el('div', { class: 'row middle work', role: 'status' }, time, el('button', { type: 'button', onclick: cancel }, 'Cancel'));
  const timer = setInterval(() => {
    time.textContent = `Working for ${Math.round((Date.now() - start) / 1000)} s`;
    if (!line.isConnected) insert(line);
  }, 1000);
  return { end() { clearInterval(timer); line.remove(); } };
}

export function errorBox(error, ...more) {
  return el('div', { class: 'error', role: 'alert' }, paragraphs(error.message ?? String(error), 2000), more);
}

/** A table that scrolls by itself where the screen is narrow. `columns` are [name, class]. */
export function table(caption, columns, rows) {
  return el('div', { class: 'table' }, el('table', {},
    caption && el('caption', {}, caption),
    el('thead', {}, el('tr', {}, columns.map(([name, className = null]) => el('th', { scope: 'col', class: className }, name)))),
    el('tbody', {}, rows)));
}

/** Names and values next to each other. */
export function facts(entries) {
  return el('dl', { class: 'facts' },
    entries.map(([name, value]) => el('div', {}, el('dt', {}, name), el('dd', {}, value))));
}

/** Asks in a dialog, which Escape and its first choice, Cancel, leave. With `typed`, that text must be typed. Resolves to true or false. */
export function ask(title, text, action, typed = null) {
  return new Promise((resolve) => {
    const input = typed === null ? null : el('input', { autocomplete: 'off', spellcheck: 'false', autofocus: true });
    const confirm = el('button', { class: 'danger', value: 'yes' }, action);
    const check = () => { confirm.disabled = input !== null && input.value !== typed; };
    input?.addEventListener('input', check);
    check();
    const heading = el('h2', { id: 'ask' }, title);
    const dialog = el('dialog', { 'aria-labelledby': 'ask' }, el('form', { method: 'dialog' }, heading, el('p', {}, text),
      input && field('Type the name to confirm', input),
      el('div', { class: 'row' }, confirm, el('button', { type: 'button', autofocus: input === null, onclick: () => dialog.close() }, 'Cancel'))));
    dialog.addEventListener('close', () => {
      resolve(dialog.returnValue === 'yes' && !confirm.disabled);
      dialog.remove();
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

let noticeTimer;

/** Says for some seconds what was done. */
export function notice(...content) {
  const element = document.getElementById('notice');
  element.replaceChildren();
  add(element, content);
  clearTimeout(noticeTimer);
  noticeTimer = setTimeout(() => element.replaceChildren(), 4000);
}

/** A text that may have megabytes: its beginning, and a button that shows all of it. */
export function longText(text, limit = 20000) {
  const pre = el('pre', { tabindex: '0' }, text.slice(0, limit));
  if (text.length <= limit) return pre;
  const more = button(`Show all ${bytes(text.length)}`, () => {
    pre.textContent = text;
    more.remove();
  });
  pre.append('\u2026');
  return el('div', {}, pre, more);
}

export function bytes(count) {
  const units = ['bytes', 'KB', 'MB', 'GB', 'TB'];
  let unit = 0;
  let value = count;
  while (value >= 1000 && unit < units.length - 1) { value /= 1000; unit += 1; }
  return `${unit === 0 ? value : value.toPrecision(3)} ${units[unit]}`;
}