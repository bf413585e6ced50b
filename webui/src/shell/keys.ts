import { addressOf, router } from '../router.svelte.ts';
import { live } from '../state/live.svelte.ts';
import { preferences } from '../state/preferences.svelte.ts';
import { after } from '../state/timer.ts';
import { navigation } from './navigation.ts';
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
  { keys: 's', does: 'Silence the row: its menu opens there' },
  { keys: 'a', does: 'Acknowledge the row' },
  { keys: 't', does: 'Trigger the row' },
  { keys: 'Esc', does: 'Close what lies over the page' },
  { keys: '?', does: 'This sheet' },
];

/** How long after `g` the letter of a page counts. */
const chordMs = 1_500;
/** A menu that has not opened by then has no line of that letter. */
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
    if (event.ctrlKey || event.metaKey || event.altKey || !preferences.singleKeys) return;
    if (overlays.open !== undefined || isTyping(event.target) || isOverlaid()) return;
    if (event.timeStamp < goUntil) {
      goUntil = 0;
      const entry = navigation.find(({ key }) => key === event.key);
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
    case 's':
    case 'a':
    case 't':
      return openRowMenu(key);
    default:
      return /^[1-9]$/.test(key) && openPart(Number(key));
  }
}

/** To a part of the page, counted from 1. */
function openPart(place: number): boolean {
  const link = document.querySelectorAll<HTMLElement>('main [data-part]')[place - 1];
  link?.click();
  return link !== undefined;
}

/** To the link of the next row, or of the row before. */
function moveRow(step: number): boolean {
  const links = [...document.querySelectorAll<HTMLElement>('main [data-row-link]')];
  const at = links.findIndex((link) => link === document.activeElement);
  const next = links[at < 0 ? (step > 0 ? 0 : links.length - 1) : at + step];
  next?.focus();
  next?.scrollIntoView({ block: 'nearest' });
  return next !== undefined;
}

/** Opens the menu of the row that has the focus, at the first line that begins with this letter: Enter does it. */
function openRowMenu(letter: string): boolean {
  const row = document.activeElement?.closest('main [data-row]');
  const button = row?.querySelector<HTMLElement>('[aria-haspopup="menu"]');
  if (!button) return false;
  button.click();
  const wanted = (): HTMLElement | undefined =>
    [...document.querySelectorAll<HTMLElement>('[role="menu"] [role="menuitem"]')].find((item) =>
      item.textContent.trim().toLowerCase().startsWith(letter),
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
