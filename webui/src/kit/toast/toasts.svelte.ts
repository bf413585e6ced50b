import { after } from '../../state/timer.ts';
import type { Tone } from '../icon/shapes.ts';

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly tone: Extract<Tone, 'ok' | 'crit' | 'off'>;
  readonly action: Offer | undefined;
  /** Stands before it. */
  readonly also: Offer | undefined;
}

interface Offer {
  readonly word: string;
  readonly href?: string;
  readonly run?: () => void;
}

const shownForMs = 8_000;
const shownWithActionMs = 20_000;
const mostShown = 4;

/** Results of own actions, told politely. A failure stays until it is closed. */
class Toasts {
  shown = $state.raw<readonly Toast[]>([]);
  #next = 1;
  readonly #ends = new Map<Toast['id'], () => void>();

  say(text: string, options: { tone?: Toast['tone']; action?: Offer; also?: Offer } = {}): void {
    const { tone = 'off', action, also } = options;
    const toast: Toast = { id: this.#next++, text, tone, action, also };
    const shownMs = toast.action ? shownWithActionMs : shownForMs;
    if (toast.tone !== 'crit')
      this.#ends.set(
        toast.id,
        after(shownMs, () => this.close(toast.id)),
      );
    this.shown = [...this.shown, toast];
    for (const { id } of this.shown.slice(0, -mostShown)) this.close(id);
  }

  /** What they offer is of a cluster that is no longer shown. */
  closeOffers(): void {
    for (const { id, action } of this.shown) if (action) this.close(id);
  }

  close(id: number): void {
    this.#ends.get(id)?.();
    this.#ends.delete(id);
    this.shown = this.shown.filter((toast) => toast.id !== id);
  }
}

export const toasts = new Toasts();
