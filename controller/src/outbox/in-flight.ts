import type { Pace } from '../channels/index.ts';

/** At most so many messages are claimed and not settled. */
const mostClaimed = 128;
/** So many are claimed for each that a channel may be sent at once: a claim and a settlement cost about as much as ten sends. */
const claimsPerSend = 16;
/** At most so many are sent, or answered and not yet written: a process that is killed sends these again, and no others. */
const mostSending = 8;

/**
 * The messages that this replica holds, and how many more it may take (alerting.md section 5). A message passes through three states:
 *
 * | state    | from                   | until               | at most                                             |
 * |----------|------------------------|---------------------|-----------------------------------------------------|
 * | claimed  | `claim`                | its turn comes      | 128 in all, 16 times the pace of its channel        |
 * | sending  | its turn in `inTurn`   | the work has ended  | 8 in all with the answered ones, its channel's pace |
 * | answered | the work of its turn   | `settled`           | 8 in all with those that are being sent             |
 *
 * One claim serves many sends, and a slow channel keeps back only its own messages. A channel that wants a pause between messages is
 * claimed for one by one: its pause begins with the claim.
 */
export class InFlight {
  readonly #paceOf: (channelUid: string) => Pace | undefined;
  readonly #monotonicMs: () => number;
  /** Claimed and not settled, by channel. */
  readonly #claimed = new Map<string, number>();
  /** When the last claim of a channel that wants a pause was made. */
  readonly #claimedMs = new Map<string, number>();
  /** Being sent, by channel. */
  readonly #sending = new Map<string, number>();
  readonly #waiting: { readonly channelUid: string; readonly begin: () => void }[] = [];
  #claims = 0;
  /** Being sent, and answered and not settled. */
  #turns = 0;

  /** `paceOf`: how fast a channel is sent to; undefined where it cannot be read, which allows one message at once. */
  constructor(deps: { readonly paceOf: (channelUid: string) => Pace | undefined; readonly monotonicMs: () => number }) {
    this.#paceOf = deps.paceOf;
    this.#monotonicMs = deps.monotonicMs;
  }

  /** Claimed and not settled. */
  get count(): number {
    return this.#claims;
  }

  /** How many are being sent, and other turns that are taken. */
  get sending(): number {
    return this.#sending.values().reduce((sum, count) => sum + count, 0);
  }

  /** How many more may be claimed. */
  get room(): number {
    return mostClaimed - this.#claims;
  }

  claimedOn(channelUid: string): number {
    return this.#claimed.get(channelUid) ?? 0;
  }

  /** How many more may be claimed for the channel. */
  roomOn(channelUid: string): number {
    if (this.pauseLeftMs(channelUid) > 0) return 0;
    const pace = this.#paceOf(channelUid);
    const ahead = pace === undefined || pace.gapMs > 0 ? 1 : claimsPerSend;
    return Math.max(0, this.#atOnce(channelUid) * ahead - this.claimedOn(channelUid));
  }

  /** Channels without room: nothing of them is to be claimed. */
  fullChannels(): readonly string[] {
    const known = new Set([...this.#claimed.keys(), ...this.#claimedMs.keys()]);
    return [...known].filter((uid) => this.roomOn(uid) === 0);
  }

  /** What is claimed for the channel will be sent in a moment: it is time to claim more. */
  isNearlyIdle(channelUid: string): boolean {
    return this.claimedOn(channelUid) <= this.#atOnce(channelUid);
  }

  /** A channel has more claimed than may be sent at once. */
  get isBusy(): boolean {
    return this.#claimed.keys().some((uid) => !this.isNearlyIdle(uid));
  }

  /** How long the channel is still to be left alone, ms. */
  pauseLeftMs(channelUid: string): number {
    const claimedMs = this.#claimedMs.get(channelUid);
    return claimedMs === undefined ? 0 : Math.max(0, claimedMs + this.#gapMs(channelUid) - this.#monotonicMs());
  }

  claim(channelUid: string): void {
    this.#claims += 1;
    this.#claimed.set(channelUid, this.claimedOn(channelUid) + 1);
    if (this.#gapMs(channelUid) > 0) this.#claimedMs.set(channelUid, this.#monotonicMs());
  }

  /** Does the work when the turn of the channel comes, in the order of asking. `settled` or `ended` must follow. */
  async inTurn<T>(channelUid: string, work: () => Promise<T>): Promise<T> {
    const turn = Promise.withResolvers<void>();
    this.#waiting.push({ channelUid, begin: turn.resolve });
    this.#serve();
    await turn.promise;
    try {
      return await work();
    } finally {
      subtract(this.#sending, channelUid);
      this.#serve();
    }
  }

  /** What came of a claimed message is in the database. */
  settled(channelUid: string): void {
    this.#claims -= 1;
    subtract(this.#claimed, channelUid);
    if (this.pauseLeftMs(channelUid) === 0) this.#claimedMs.delete(channelUid);
    this.ended();
  }

  /** A turn is over that no claimed message had. */
  ended(): void {
    this.#turns -= 1;
    this.#serve();
  }

  #serve(): void {
    const full = new Set<string>();
    const mayBegin = ({ channelUid }: { readonly channelUid: string }): boolean => {
      if (full.has(channelUid)) return false;
      if (this.#sendingTo(channelUid) >= this.#atOnce(channelUid)) full.add(channelUid);
      return !full.has(channelUid);
    };
    while (this.#turns < mostSending) {
      const at = this.#waiting.findIndex(mayBegin);
      const [next] = at < 0 ? [] : this.#waiting.splice(at, 1);
      if (next === undefined) return;
      this.#turns += 1;
      this.#sending.set(next.channelUid, this.#sendingTo(next.channelUid) + 1);
      next.begin();
    }
  }

  #sendingTo(channelUid: string): number {
    return this.#sending.get(channelUid) ?? 0;
  }

  #atOnce(channelUid: string): number {
    return this.#paceOf(channelUid)?.inFlight ?? 1;
  }

  #gapMs(channelUid: string): number {
    return this.#paceOf(channelUid)?.gapMs ?? 0;
  }
}

function subtract(counts: Map<string, number>, channelUid: string): void {
  const left = (counts.get(channelUid) ?? 0) - 1;
  if (left > 0) counts.set(channelUid, left);
  else counts.delete(channelUid);
}
