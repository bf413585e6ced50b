const storageKey = 'cronjob-monitor.scroll';
const mostEntries = 50;
/** So many frames a page may take until it is high enough to be scrolled to where it was. */
const mostFrames = 90;

/**
 * Where each step of the history was scrolled to. The browser forgets it for pages whose content arrives later, so it is kept here, per
 * entry of the history, and through a reload in the session's storage.
 */
export class ScrollMemory {
  readonly #positions = new Map<string, number>();
  #entry = '';
  #frame = 0;

  /** Takes over from the browser; brings back the position after a reload. Returns what gives it back. */
  start(): () => void {
    history.scrollRestoration = 'manual';
    this.#entry = entryOf(history.state) ?? this.#mark();
    this.#read();
    this.#restore();
    const keep = (): void => {
      this.leave();
      this.#write();
    };
    const stop = (): void => cancelAnimationFrame(this.#frame);
    addEventListener('pagehide', keep);
    addEventListener('wheel', stop, { passive: true });
    addEventListener('touchstart', stop, { passive: true });
    addEventListener('keydown', stop);
    return () => {
      history.scrollRestoration = 'auto';
      stop();
      removeEventListener('pagehide', keep);
      removeEventListener('wheel', stop);
      removeEventListener('touchstart', stop);
      removeEventListener('keydown', stop);
    };
  }

  /** Before another entry: where this one stands. */
  leave(): void {
    cancelAnimationFrame(this.#frame);
    this.#positions.delete(this.#entry);
    this.#positions.set(this.#entry, scrollY);
    for (const entry of this.#positions.keys()) {
      if (this.#positions.size <= mostEntries) break;
      this.#positions.delete(entry);
    }
  }

  /** The state of a new entry of the history, which is the one we are at from now on. */
  newEntry(): { readonly entry: string } {
    this.#entry = freshEntry();
    return { entry: this.#entry };
  }

  /** After back or forward. */
  arrive(): void {
    this.leave(); // the window still stands where the page before stood
    this.#entry = entryOf(history.state) ?? this.#mark();
    this.#restore();
  }

  #mark(): string {
    const entry = freshEntry();
    history.replaceState({ entry }, '');
    return entry;
  }

  #restore(): void {
    const wanted = this.#positions.get(this.#entry) ?? 0;
    let frames = 0;
    const attempt = (): void => {
      scrollTo(0, wanted);
      if (Math.abs(scrollY - wanted) > 1 && frames++ < mostFrames) this.#frame = requestAnimationFrame(attempt);
    };
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(attempt);
  }

  #read(): void {
    try {
      const kept: unknown = JSON.parse(sessionStorage.getItem(storageKey) ?? '[]');
      if (!Array.isArray(kept)) return;
      for (const [entry, position] of kept as [string, number][])
        // as written below
        this.#positions.set(entry, position);
    } catch {
      // Nothing kept, storage off, or not ours: pages begin at their top.
    }
  }

  #write(): void {
    try {
      sessionStorage.setItem(storageKey, JSON.stringify([...this.#positions]));
    } catch {
      // Storage is off or full: a reload begins at the top.
    }
  }
}

function entryOf(state: unknown): string | undefined {
  const entry = typeof state === 'object' && state !== null && 'entry' in state ? state.entry : undefined;
  return typeof entry === 'string' ? entry : undefined;
}

function freshEntry(): string {
  return Math.random().toString(36).slice(2, 10);
}
