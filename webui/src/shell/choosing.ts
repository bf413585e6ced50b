import { selection } from '../state/selection.svelte.ts';
import { after } from '../state/timer.ts';

const longPressMs = 500;
/** A finger that moves so far scrolls. */
const stillPx = 10;

/**
 * Rows under a pointer: Ctrl or Cmd and a click choose one, Shift a range. A long press of a finger opens the menu of the row; while rows are
 * chosen, or where a row has none, it chooses, as a tap does then. Returns what ends it.
 */
export function followPointer(): () => void {
  let forget = (): void => {};
  let pressed: { readonly x: number; readonly y: number } | undefined;
  /** A press that has done something is no tap at its end. */
  let isDone = false;

  const onDown = (event: PointerEvent): void => {
    forget();
    isDone = false;
    const row = event.pointerType === 'touch' ? rowOf(event.target) : undefined;
    if (!row) return;
    pressed = { x: event.clientX, y: event.clientY };
    forget = after(longPressMs, () => {
      isDone = (selection.count === 0 && openMenu(row)) || selection.toggle(row.getAttribute('data-row') ?? '');
    });
  };
  const onMove = (event: PointerEvent): void => {
    if (pressed && Math.hypot(event.clientX - pressed.x, event.clientY - pressed.y) > stillPx) end();
  };
  const end = (): void => {
    forget();
    pressed = undefined;
  };
  /** The menu of a link that is pressed for long would lie over the row. */
  const onMenu = (event: Event): void => {
    if (pressed && rowOf(event.target)) event.preventDefault();
  };
  const onClick = (event: MouseEvent): void => {
    // A key that presses what has the focus is no end of it.
    if (isDone && event.detail > 0) {
      isDone = false;
      event.preventDefault();
      event.stopPropagation();
      return;
    }
    const key = keyOf(event.target);
    if (key === undefined) return;
    const isTap = 'pointerType' in event && event.pointerType === 'touch' && selection.count > 0;
    const isRange = event.shiftKey;
    // With these keys a browser opens a link elsewhere.
    const isElsewhere = event.target instanceof Element && event.target.closest('a') !== null && !isTap;
    if (isElsewhere) return;
    if (isRange ? !selection.extendTo(key) : !((event.ctrlKey || event.metaKey || isTap) && selection.toggle(key)))
      return;
    event.preventDefault();
    event.stopPropagation();
    if (isRange) getSelection()?.removeAllRanges();
  };

  addEventListener('pointerdown', onDown);
  addEventListener('pointermove', onMove);
  addEventListener('pointerup', end);
  addEventListener('pointercancel', end);
  addEventListener('contextmenu', onMenu);
  addEventListener('click', onClick, true);
  return () => {
    end();
    removeEventListener('pointerdown', onDown);
    removeEventListener('pointermove', onMove);
    removeEventListener('pointerup', end);
    removeEventListener('pointercancel', end);
    removeEventListener('contextmenu', onMenu);
    removeEventListener('click', onClick, true);
  };
}

/** The row that is pressed, but by its own controls; a link with Ctrl opens where it did. */
function rowOf(target: EventTarget | null): Element | undefined {
  if (
    !(target instanceof Element) ||
    target.closest('button, input, label, select, summary, [role="menu"], [role="slider"]')
  )
    return undefined;
  const link = target.closest('a');
  if (link && !link.hasAttribute('data-row-link')) return undefined;
  return target.closest('main [data-row]') ?? undefined;
}

/** Of a row that can be chosen. */
function keyOf(target: EventTarget | null): string | undefined {
  const key = rowOf(target)?.getAttribute('data-row') ?? undefined;
  return key !== undefined && selection.meantBy(key).length > 0 ? key : undefined;
}

/** False: it has none. */
function openMenu(row: Element): boolean {
  const button = row.querySelector<HTMLElement>('[aria-haspopup="menu"]');
  button?.click();
  return button !== null;
}
