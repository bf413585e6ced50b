import { selection } from '../state/selection.svelte.ts';
import { after } from '../state/timer.ts';

const longPressMs = 500;
/** A finger that moves so far scrolls. */
const stillPx = 10;

/** Rows are chosen by a pointer: Ctrl or Cmd and a click, Shift for a range, a long press of a finger. Returns what ends it. */
export function followPointer(): () => void {
  let forget = (): void => {};
  let pressed: { readonly x: number; readonly y: number } | undefined;
  /** What a finger chose is not opened by its own end. */
  let isChoosing = false;

  const onDown = (event: PointerEvent): void => {
    forget();
    isChoosing = false;
    const key = event.pointerType === 'touch' ? keyOf(event.target) : undefined;
    if (key === undefined) return;
    pressed = { x: event.clientX, y: event.clientY };
    forget = after(longPressMs, () => {
      isChoosing = selection.toggle(key);
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
    if (pressed && keyOf(event.target) !== undefined) event.preventDefault();
  };
  const onClick = (event: MouseEvent): void => {
    const key = keyOf(event.target);
    if (key === undefined) return;
    const isTap = 'pointerType' in event && event.pointerType === 'touch' && selection.count > 0;
    const isRange = event.shiftKey;
    // With these keys a browser opens a link elsewhere.
    const isElsewhere = event.target instanceof Element && event.target.closest('a') !== null && !isTap;
    if (isChoosing) isChoosing = false;
    else if (isElsewhere) return;
    else if (isRange ? !selection.extendTo(key) : !((event.ctrlKey || event.metaKey || isTap) && selection.toggle(key)))
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
function keyOf(target: EventTarget | null): string | undefined {
  if (
    !(target instanceof Element) ||
    target.closest('button, input, label, select, summary, [role="menu"], [role="slider"]')
  )
    return undefined;
  const link = target.closest('a');
  if (link && !link.hasAttribute('data-row-link')) return undefined;
  const key = target.closest('main [data-row]')?.getAttribute('data-row') ?? undefined;
  return key !== undefined && selection.find(key) ? key : undefined;
}
