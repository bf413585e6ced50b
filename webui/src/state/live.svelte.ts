import type { Carried, StreamData, WallStep } from '@cronjob-monitor/shared/contract';
import { openStream } from '../api/client.ts';
import { readStream, type Hint } from '../api/stream.ts';
import { now } from './now.svelte.ts';

/** A part of the page that is visible and can be asked for again. */
export interface Member {
  /** Whether a change may concern it. */
  concerns(hint: Hint): boolean;
  /** Takes over what a change says itself. False: it has to be asked for. */
  takes?(hint: Hint): boolean;
  /** It tells of many CronJobs: changes make it ask a few times soon, then once in so long; 0 or absent: each time soon. */
  readonly fleetPauseMs?: number;
  /** CronJobs whose rows the stream is to carry for it, `namespace/name`. */
  readonly refs?: readonly string[];
  /** What the stream is to carry for it: beside counts and rows, or of its CronJobs in place of their rows. */
  readonly carries?: Carried | undefined;
  /** Columns of the wall that is carried. */
  readonly step?: WallStep | undefined;
  /** Asks again, if the last answer leaves hope that another one may come. */
  reload(): Promise<void>;
}

/** What a stream is asked to carry. */
interface Wish {
  readonly carry: readonly Carried[];
  /** `namespace/name`, comma-separated. */
  readonly refs: string;
  readonly step?: WallStep | undefined;
}

/** How changes reach this page. */
type Connection = 'connecting' | 'live' | 'checking' | 'away';

/** What the world gives, so that a test can give something else. */
interface LiveWorld {
  readonly open: typeof openStream;
  readonly hasStream: boolean;
  readonly random: () => number;
}

const world: LiveWorld = { open: openStream, hasStream: true, random: Math.random };

const checkEveryMs = 15_000;
const hintPauseMs = 2_000;
/** After what a person did: they are few, and looked for. */
const actPauseMs = 500;
/** What tells of the whole fleet asks so often soon after a change; each minute gives one back. */
const mostSoon = 3;
const soonAgainMs = 60_000;
/** Rows of a stream, and how long a changed set of them waits for more. */
const mostRefs = 100;
const refsSettleMs = 1_000;
const withoutStreamMs = 10_000;
const silentStreamMs = 40_000; // the server pings each 15 s
const hiddenForMs = 30_000;
const staleAfterMs = 30_000;
const shortestRetryMs = 1_000;
const longestRetryMs = 30_000;

/**
 * Keeps what is visible fresh: by the stream of changes, and while there is none by conditional requests. A hint reloads what it concerns,
 * at most once in 2 s each. A page that is hidden for 30 s rests: no stream, no request.
 */
export class Live {
  readonly #world: LiveWorld;
  readonly #members = new Map<
    Member,
    { askedMs: number; pauseMs: number; soon: number; timer: ReturnType<typeof setTimeout> | undefined }
  >();
  #isOpen = $state(false);
  #heardAt = $state<number | undefined>();
  #answeredAt = $state<number | undefined>();
  #isLost = $state(false);
  #retryAt = $state<number | undefined>();
  #stream: AbortController | undefined;
  #hasStream: boolean;
  #cursor: string | undefined;
  #failures = 0;
  #retryTimer: ReturnType<typeof setTimeout> | undefined;
  #checkTimer: ReturnType<typeof setTimeout> | undefined;
  #refsTimer: ReturnType<typeof setTimeout> | undefined;
  /** As the stream was asked for. */
  #carried: Wish = { carry: [], refs: '' };
  /** What the first stream is to carry for a page that is still on its way. */
  #expected: readonly Carried[] = [];
  #overviewAt = 0;
  #counts = '';
  #restTimer: ReturnType<typeof setTimeout> | undefined;
  #isResting = false;

  constructor(given: Partial<LiveWorld> = {}) {
    this.#world = { ...world, ...given };
    this.#hasStream = this.#world.hasStream;
  }

  /** The word of the indicator follows from this. */
  readonly connection: Connection = $derived.by(() => {
    const heardAt = Math.max(this.#heardAt ?? 0, this.#answeredAt ?? 0);
    if (this.#isLost || (heardAt > 0 && now.ms - heardAt > staleAfterMs + checkEveryMs))
      return heardAt > 0 ? 'away' : 'connecting';
    if (this.#isOpen) return 'live';
    return heardAt > 0 ? 'checking' : 'connecting';
  });

  /** When the server said anything last, by its own clock. */
  get heardAt(): number | undefined {
    return this.#isOpen ? Math.max(this.#heardAt ?? 0, this.#answeredAt ?? 0) : this.#answeredAt;
  }

  /** Of the stream alone: what is shown was true at least until then. Undefined without a stream. */
  get streamedAt(): number | undefined {
    return this.#isOpen ? this.#heardAt : undefined;
  }

  /** When the next try is due while the server does not answer. */
  get retryAt(): number | undefined {
    return this.#retryAt;
  }

  /** The page is hidden: nothing is asked. */
  get isResting(): boolean {
    return this.#isResting;
  }

  /** A part becomes visible. Returns what takes it away. */
  join(member: Member): () => void {
    this.#members.set(member, { askedMs: now.monotonicMs, pauseMs: 0, soon: mostSoon, timer: undefined });
    this.refsChanged();
    return () => {
      clearTimeout(this.#members.get(member)?.timer);
      this.#members.delete(member);
      this.refsChanged();
    };
  }

  /** Any answer came. */
  answered(): void {
    this.#answeredAt = now.ms;
    this.#isLost = false;
    this.#retryAt = undefined;
  }

  /** The server could not be reached; the next try is due at `retryAt`. */
  lost(retryAt: number | undefined): void {
    this.#isLost = true;
    this.#retryAt = retryAt;
  }

  /** Other rows may be in sight: a stream that carries others is opened anew, after the last change that was seen. */
  refsChanged(): void {
    if (this.#refsTimer !== undefined || !this.#isOpen || this.#isCarried()) return;
    const from = this.#cursor;
    this.#refsTimer = setTimeout(() => {
      this.#refsTimer = undefined;
      if (!this.#isOpen || this.#isResting || this.#isCarried()) return;
      this.#cursor = from;
      this.#stream?.abort();
      this.#stream = undefined;
      this.#connect();
    }, refsSettleMs);
  }

  #wanted(): Wish {
    const members = [...this.#members.keys()];
    const refs = new Set(members.flatMap(({ refs: own = [] }) => own));
    const more = new Set([...members.flatMap(({ carries }) => carries ?? []), ...this.#expected]);
    const ofRefs = members.filter(({ refs: own = [] }) => own.length > 0);
    const hasOwnRows = ofRefs.length > 0 && ofRefs.every(({ carries }) => carries === 'runs' || carries === 'wall');
    const step = members.find(({ carries }) => carries === 'wall')?.step;
    return {
      carry: ['overview', ...(hasOwnRows ? [] : (['rows'] as const)), ...more],
      refs: [...refs].slice(0, mostRefs).sort().join(','),
      ...(step ? { step } : {}),
    };
  }

  /** Of other rows too many would come; what else it carries beside what is wanted does no harm. */
  #isCarried(): boolean {
    const { carry, refs, step } = this.#wanted();
    const has = this.#carried;
    return refs === has.refs && step === has.step && carry.every((one) => has.carry.includes(one));
  }

  /** Begins with the page, which will want what is `expected`. Returns what ends it. */
  start(expected: readonly Carried[] = []): () => void {
    this.#expected = expected;
    const onVisibility = (): void => {
      clearTimeout(this.#restTimer);
      if (document.hidden) this.#restTimer = setTimeout(() => this.#rest(), hiddenForMs);
      else if (this.#isResting) this.#wake();
    };
    document.addEventListener('visibilitychange', onVisibility);
    this.#connect();
    this.#check();
    return () => {
      document.removeEventListener('visibilitychange', onVisibility);
      this.#rest();
    };
  }

  /** Asks for everything that is visible, now. */
  async reloadAll(): Promise<void> {
    await Promise.all([...this.#members.keys()].map((member) => this.#reload(member)));
  }

  /** Another cluster is shown: its changes are followed in place of those of the one before. */
  restart(): void {
    this.#stream?.abort();
    this.#stream = undefined;
    this.#isOpen = false;
    this.#cursor = undefined;
    this.#overviewAt = 0;
    this.#counts = '';
    clearTimeout(this.#retryTimer);
    if (!this.#isResting) this.#connect();
  }

  #rest(): void {
    this.#isResting = true;
    this.#stream?.abort();
    this.#stream = undefined;
    this.#isOpen = false;
    for (const timer of [this.#retryTimer, this.#checkTimer, this.#restTimer, this.#refsTimer]) clearTimeout(timer);
    this.#refsTimer = undefined;
    for (const entry of this.#members.values()) clearTimeout(entry.timer);
  }

  #wake(): void {
    this.#isResting = false;
    void this.reloadAll();
    this.#connect();
    this.#check();
  }

  /** Conditional requests as long as no stream tells what changed. */
  #check(): void {
    clearTimeout(this.#checkTimer);
    this.#checkTimer = setTimeout(
      () => {
        if (!this.#isOpen) void this.reloadAll();
        this.#check();
      },
      this.#hasStream && this.#failures === 0 && !this.#isOpen ? withoutStreamMs : checkEveryMs,
    );
  }

  #connect(): void {
    if (!this.#hasStream || this.#stream) return;
    const stream = new AbortController();
    this.#stream = stream;
    void this.#follow(stream).then(() => {
      if (this.#stream !== stream) return; // the page rests, or has begun another one
      this.#stream = undefined;
      this.#isOpen = false;
      this.#retryLater();
    });
  }

  #retryLater(): void {
    if (!this.#hasStream) return;
    const waitMs = Math.min(longestRetryMs, shortestRetryMs * 2 ** this.#failures++) * (0.5 + this.#world.random() / 2);
    clearTimeout(this.#retryTimer);
    this.#retryTimer = setTimeout(() => this.#connect(), waitMs);
  }

  /** Reads one stream to its end, whatever the end is. */
  async #follow(stream: AbortController): Promise<void> {
    let silence: ReturnType<typeof setTimeout> | undefined;
    const watch = (): void => {
      clearTimeout(silence);
      silence = setTimeout(() => stream.abort(new Error('the stream fell silent')), silentStreamMs);
    };
    const heard = (): void => {
      this.#heardAt = now.ms;
      watch();
    };
    try {
      const headers: Record<string, string> = this.#cursor === undefined ? {} : { 'last-event-id': this.#cursor };
      const wanted = this.#wanted();
      this.#carried = wanted;
      this.#expected = [];
      const body = await this.#world.open({ ...wanted }, headers, stream.signal);
      watch();
      for await (const message of readStream(body, heard)) {
        if (message.id !== undefined) this.#cursor = message.id;
        this.#take(message as unknown as Hint); // unknown kinds concern no listener
      }
    } catch (error) {
      // A service without a stream: conditional requests stay. Anything else is tried again.
      if (isAbsent(error)) this.#hasStream = false;
    } finally {
      clearTimeout(silence);
    }
  }

  #take(hint: Hint): void {
    if (hint.kind === 'hello') {
      const isFirst = this.#failures === 0 && !this.#isOpen && this.#answeredAt === undefined;
      // Until now the browser's clock was all there was.
      const servedAt = Date.parse(hint.data.serverTime);
      if (!Number.isNaN(servedAt)) now.sync(servedAt);
      this.#heardAt = now.ms;
      this.#isOpen = true;
      this.#failures = 0;
      this.answered();
      // Changes between the last answer and the stream would be lost without one round.
      if (!isFirst && this.#cursor === undefined) void this.reloadAll();
      this.#cursor ??= hint.data.cursor;
      // A database that took the place of another one counts its changes from the beginning.
      this.#overviewAt = 0;
      this.refsChanged();
      return;
    }
    if (hint.kind === 'resync') return void this.reloadAll();
    if (hint.kind === 'overview' && !this.#isNews(hint.data)) return;
    const isAsking = hint.kind !== 'row' && (hint.kind !== 'overview' || this.#countsChanged(hint.data));
    for (const member of this.#members.keys()) {
      const isTaken = member.takes?.(hint) ?? false;
      if (!isTaken && isAsking && member.concerns(hint))
        this.#reloadSoon(member, hint.kind === 'silence' ? actPauseMs : hintPauseMs);
    }
  }

  /** Not older than the one before. */
  #isNews(overview: StreamData['overview']): boolean {
    if (Number(overview.revision) < this.#overviewAt) return false;
    this.#overviewAt = Number(overview.revision);
    return true;
  }

  #countsChanged({ stats }: StreamData['overview']): boolean {
    const { states, summary, totalCronJobs, activeAlerts, pendingAlerts, suppressedAlerts } = stats;
    const counts = JSON.stringify([states, summary, totalCronJobs, activeAlerts, pendingAlerts, suppressedAlerts]);
    const isSame = counts === this.#counts;
    this.#counts = counts;
    return !isSame;
  }

  /** At once, or at the end of the pause since it was asked last. */
  #reloadSoon(member: Member, pauseMs: number): void {
    const entry = this.#members.get(member);
    if (!entry) return;
    if (entry.timer !== undefined) {
      if (pauseMs >= entry.pauseMs) return;
      clearTimeout(entry.timer);
    }
    const waitMs = Math.max(0, entry.askedMs + this.#pauseOf(member, entry, pauseMs) - now.monotonicMs);
    entry.pauseMs = pauseMs;
    entry.timer = setTimeout(() => {
      entry.timer = undefined;
      void this.#reload(member);
    }, waitMs);
  }

  /** A few soon after one another, then one in a longer while; a while without one gives one back. */
  #pauseOf({ fleetPauseMs = 0 }: Member, entry: { askedMs: number; soon: number }, pauseMs: number): number {
    // What a person did is looked for.
    if (fleetPauseMs === 0 || pauseMs < hintPauseMs) return pauseMs;
    const back = Math.floor((now.monotonicMs - entry.askedMs) / Math.max(soonAgainMs, fleetPauseMs));
    entry.soon = Math.min(mostSoon, entry.soon + back);
    if (entry.soon === 0) return fleetPauseMs;
    entry.soon--;
    return pauseMs;
  }

  async #reload(member: Member): Promise<void> {
    const entry = this.#members.get(member);
    if (entry) entry.askedMs = now.monotonicMs;
    await member.reload();
  }
}

function isAbsent(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'status' in error && error.status === 404;
}

export const live = new Live();
