import type { Pace } from '../channels/index.ts';

/**
 * At most so many messages are on their way at once, whatever waits (alerting.md section 5). One that was answered counts until the
 * answer is written: a process that is killed before sends it again, and so many at most are ever told twice.
 */
const mostInFlight = 8;

/**
 * Who may send now: so many in all, and so many to one channel. What is claimed waits here for its turn, so that one claim serves many
 * sends; a channel that is slow keeps back only its own.
 */
export class SendSlots {
  readonly #paceOf: (channelUid: string) => Pace | undefined;
  readonly #on = new Map<string, number>();
  readonly #waiting: { readonly channelUid: string; readonly begin: () => void }[] = [];
  #count = 0;
  #unwritten = 0;

  constructor(paceOf: (channelUid: string) => Pace | undefined) {
    this.#paceOf = paceOf;
  }

  /** Resolves when it may begin, in the order of asking; `answered` and `written` must follow. */
  async take(channelUid: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ channelUid, begin: resolve });
    this.#serve();
    return promise;
  }

  /** The channel may be sent to again. */
  answered(channelUid: string): void {
    this.#count -= 1;
    this.#unwritten += 1;
    const left = (this.#on.get(channelUid) ?? 0) - 1;
    if (left > 0) this.#on.set(channelUid, left);
    else this.#on.delete(channelUid);
    this.#serve();
  }

  /** What came of so many messages stands in the database. */
  written(messages: number): void {
    this.#unwritten -= messages;
    this.#serve();
  }

  #serve(): void {
    while (this.#count + this.#unwritten < mostInFlight) {
      const at = this.#waiting.findIndex(({ channelUid }) => this.#hasRoom(channelUid));
      const [next] = at < 0 ? [] : this.#waiting.splice(at, 1);
      if (next === undefined) return;
      this.#count += 1;
      this.#on.set(next.channelUid, (this.#on.get(next.channelUid) ?? 0) + 1);
      next.begin();
    }
  }

  #hasRoom(channelUid: string): boolean {
    return (this.#on.get(channelUid) ?? 0) < (this.#paceOf(channelUid)?.inFlight ?? 1);
  }
}
