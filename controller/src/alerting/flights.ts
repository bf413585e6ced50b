import type { Pace } from '../channels/index.ts';

/** At most so many messages are claimed and not settled. */
const mostClaimed = 128;
/** So many are claimed for each that may be on its way: a claim and a settlement cost about as much as ten sends. */
const claimsPerSend = 16;

/** What is claimed and not settled, and how much more may be: in all, for one channel, and after its pause. */
export class Flights {
  readonly #paceOf: (channelUid: string) => Pace | undefined;
  readonly #monotonicMs: () => number;
  /** How many are on their way. */
  readonly #on = new Map<string, number>();
  /** When the last one began, of channels that want a pause. */
  readonly #begun = new Map<string, number>();
  #count = 0;

  constructor(deps: { readonly paceOf: (channelUid: string) => Pace | undefined; readonly monotonicMs: () => number }) {
    this.#paceOf = deps.paceOf;
    this.#monotonicMs = deps.monotonicMs;
  }

  get count(): number {
    return this.#count;
  }

  get room(): number {
    return mostClaimed - this.#count;
  }

  inFlightOn(channelUid: string): number {
    return this.#on.get(channelUid) ?? 0;
  }

  roomOn(channelUid: string): number {
    if (this.pauseLeftMs(channelUid) > 0) return 0;
    const pace = this.#paceOf(channelUid);
    // One that wants a pause is claimed for one by one: the pause begins with the claim.
    const most = pace === undefined || pace.gapMs > 0 ? (pace?.inFlight ?? 1) : pace.inFlight * claimsPerSend;
    return Math.max(0, most - this.inFlightOn(channelUid));
  }

  /** What is claimed for it will be sent in a moment: it is time to claim more. */
  isNearlyIdle(channelUid: string): boolean {
    return this.inFlightOn(channelUid) <= (this.#paceOf(channelUid)?.inFlight ?? 1);
  }

  /** A channel has plenty to send. */
  get isBusy(): boolean {
    return this.#on.keys().some((uid) => !this.isNearlyIdle(uid));
  }

  /** Channels without room: nothing of them is to be claimed. */
  fullChannels(): readonly string[] {
    return [...new Set([...this.#on.keys(), ...this.#begun.keys()])].filter((uid) => this.roomOn(uid) === 0);
  }

  /** How long a channel is still to be left alone. */
  pauseLeftMs(channelUid: string): number {
    const begunMs = this.#begun.get(channelUid);
    const gapMs = this.#paceOf(channelUid)?.gapMs ?? 0;
    return begunMs === undefined ? 0 : Math.max(0, begunMs + gapMs - this.#monotonicMs());
  }

  begin(channelUid: string): void {
    this.#count += 1;
    this.#on.set(channelUid, this.inFlightOn(channelUid) + 1);
    if ((this.#paceOf(channelUid)?.gapMs ?? 0) > 0) this.#begun.set(channelUid, this.#monotonicMs());
  }

  end(channelUid: string): void {
    this.#count -= 1;
    const left = this.inFlightOn(channelUid) - 1;
    if (left > 0) this.#on.set(channelUid, left);
    else this.#on.delete(channelUid);
    if (this.pauseLeftMs(channelUid) === 0) this.#begun.delete(channelUid);
  }
}
