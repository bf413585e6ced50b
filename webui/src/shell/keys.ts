import { addressOf, router } from '../router.svelte.ts';
import { live } from '../state/live.svelte.ts';
import { hands } from '../pages/alert-parts/alert-actions.svelte.ts';
import { selection, type Choosable } from '../state/selection.svelte.ts';
import { preferences } from '../state/preferences.svelte.ts';
import { after } from '../state/timer.ts';
import { shownPages } from './navigation.ts';
import { overlays } from './overlays.svelte.ts';

/** What the help sheet lists, beside `g` and a letter for each page. */
export const shortcuts: readonly { readonly keys: string; readonly does: string }[] = [
  { keys: '/', does: 'Search' },
  { keys: 'Ctrl K', does: 'Search, also while typing' },
  { keys: 'r', does: 'Check now' },
  { keys: 'j', does: 'Next row' },
  { keys: 'k', does: 'Row before' },
  { keys: '1', does: 'First part of the page; 2, 3 and so on the others' },
  { keys: 'Enter', does: 'Open the row' },
  { keys: 'x', does: 'Choose the row; J and K (Shift) choose the next and the one before, X all up to here' },
  { keys: 's', does: 'Silence the row, or what is chosen: for how long is asked there' },
  { keys: 'a', does: 'Acknowledge all alerts of the row, or of what is chosen' },
  { keys: 't', does: 'Trigger the row' },
  { keys: '[', does: 'Run before, on the page of a run; ] the run after' },
  { keys: 'Backspace', does: 'Back to the page before' },
  { keys: 'Esc', does: 'Close what lies over the page, then choose no row' },
  { keys: '?', does: 'This sheet' },
];

/** How long after `g` the letter of a page counts. */
const chordMs = 1_500;
/** A menu that has not opened by then has no line of that verb. */
const menuComesMs = 2_000;

/** Follows the keyboard; returns what ends it. Single keys are off while typing, under a dialog, and where they are switched off. */
export function followKeys(): () => void {
  let goUntil = 0;
  const onKey = (event: KeyboardEvent): void => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
      event.preventDefault();
      overlays.show('palette');
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (overlays.open === 'palette' && !isOverlaid() && event.key.length === 1) {
      event.preventDefault();
      overlays.ahead += event.key;
    }
    if (overlays.open !== undefined || isTyping(event.target) || isOverlaid()) return;
    if (!preferences.singleKeys) return;
    if (event.timeStamp < goUntil) {
      goUntil = 0;
      const entry = shownPages().find(({ key }) => key === event.key);
      if (entry) router.go(addressOf(entry.page));
      return;
    }
    if (event.key === 'g') goUntil = event.timeStamp + chordMs;
    else if (act(event.key)) event.preventDefault();
  };
  addEventListener('keydown', onKey);
  return () => removeEventListener('keydown', onKey);
}

/** True: the key had a meaning. */
function act(key: string): boolean {
  switch (key) {
    case '/':
      overlays.show('palette');
      return true;
    case '?':
      overlays.show('help');
      return true;
    case 'r':
      void live.reloadAll();
      return true;
    case 'j':
      return moveRow(1);
    case 'k':
      return moveRow(-1);
    case 'J':
      return chooseNext(1);
    case 'K':
      return chooseNext(-1);
    case 'x':
      return selection.toggle(rowKey() ?? '');
    case 'X':
      return selection.extendTo(rowKey() ?? '');
    case 'Escape':
      if (selection.count === 0) return false;
      selection.clear();
      return true;
    case 'a':
      return acknowledge() || openRowMenu('acknowledge') || press(key);
    case 's':
      return silence() || openRowMenu('silence') || press(key);
    case 't':
      return openRowMenu('trigger');
    case 'Backspace':
      history.back();
      return true;
    default:
      return (/^[1-9]$/.test(key) && openPart(Number(key))) || press(key);
  }
}

/** To a part of the page, counted from 1. */
function openPart(place: number): boolean {
  const link = document.querySelectorAll<HTMLElement>('main [data-part]')[place - 1];
  link?.click();
  return link !== undefined;
}

/** What of this page says that the key does it. */
function press(key: string): boolean {
  const button = document.querySelector<HTMLElement>(`main [data-key="${CSS.escape(key)}"]`);
  button?.click();
  return button !== null;
}

/** To the link of the next row, or of the row before. */
function moveRow(step: number): boolean {
  const links = [...document.querySelectorAll<HTMLElement>('main [data-row-link]')];
  // From a control inside a row it goes on from that row.
  const here = focusedRow();
  const at = links.findIndex((link) => link === document.activeElement || here?.contains(link));
  const next = links[at < 0 ? (step > 0 ? 0 : links.length - 1) : at + step];
  next?.focus();
  next?.scrollIntoView({ block: 'nearest' });
  return next !== undefined;
}

/** The row that has the focus. */
function focusedRow(): Element | null {
  return document.activeElement?.closest('main [data-row]') ?? null;
}

function rowKey(): string | undefined {
  return focusedRow()?.getAttribute('data-row') ?? undefined;
}

/** Chooses this row and the next one. */
function chooseNext(step: number): boolean {
  const from = rowKey();
  if (from !== undefined && !selection.meantBy(from).every(({ key }) => selection.has(key))) selection.toggle(from);
  return moveRow(step) && selection.extendTo(rowKey() ?? '');
}

/** What is chosen, else the row that has the focus. */
function meant(): readonly Choosable[] {
  return selection.count > 0 ? selection.rows : selection.meantBy(rowKey() ?? '');
}

/** At once. */
function acknowledge(): boolean {
  const rows = meant();
  if (rows.length > 0) void hands().then((together) => together.acknowledge(rows));
  return rows.length > 0;
}

/** For how long is asked at the row, or at the bar of what is chosen. */
function silence(): boolean {
  const rows = meant();
  const bar = document.querySelector('[data-chosen-rows]');
  const anchor = selection.count > 0 ? bar : document.activeElement;
  if (rows.length > 0) void hands().then((together) => together.askSilence(rows, anchor));
  return rows.length > 0;
}

/** Opens the menu of the row that has the focus, at the first line that begins with this verb: Enter does it. */
function openRowMenu(verb: string): boolean {
  const button = focusedRow()?.querySelector<HTMLElement>('[aria-haspopup="menu"]');
  if (!button) return false;
  button.click();
  const wanted = (): HTMLElement | undefined =>
    [...document.querySelectorAll<HTMLElement>('[role="menu"] [role="menuitem"]')].find((item) =>
      item.textContent.trim().toLowerCase().startsWith(verb),
    );
  const seen = new MutationObserver(() => {
    const item = wanted();
    if (!item) return;
    seen.disconnect();
    item.focus();
  });
  seen.observe(document.body, { childList: true, subtree: true });
  after(menuComesMs, () => seen.disconnect());
  return true;
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

/** A dialog or a menu has its own keys. */
function isOverlaid(): boolean {
  return document.querySelector('[role="dialog"], [role="alertdialog"], [role="menu"]') !== null;
}
