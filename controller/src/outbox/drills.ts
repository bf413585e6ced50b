import { parseDuration, type Instant, hourMs } from '@cronjob-monitor/shared/domain';
import { parse } from '@cronjob-monitor/shared/domain/schedule';
import type { DecodedChannel, DrillSpec } from '@cronjob-monitor/shared/kube';
import type { Clock, Logger } from '@cronjob-monitor/shared/process';
import {
  closeDrill,
  FencedError,
  listLastDrills,
  listProofs,
  moveDrills,
  startDrill,
  tellUnproved,
  toId16,
  type EndedDrill,
  type Store,
  type Tx,
} from '@cronjob-monitor/shared/store';

/** An AlertChannel as the controller sees it. */
interface ChannelSeen {
  readonly uid: string;
  readonly name: string;
  readonly createdAt: Instant;
  readonly decoded: DecodedChannel;
}

interface DrillDeps {
  readonly store: Store;
  readonly epoch: number;
  readonly channels: { values(): Iterable<ChannelSeen>; find(uid: string): ChannelSeen | undefined };
  readonly words: { readonly clusterName: string | undefined; readonly externalUrl: string | undefined };
  /** There is a message more. */
  readonly onTold: () => void;
  /** The condition Proved of a channel may be another one now. */
  readonly onChannelChanged: (uid: string) => void;
  readonly database: {
    readonly isAway: (error: unknown) => boolean;
    readonly whenBack: (error: unknown, signal: AbortSignal) => Promise<void>;
  };
  readonly onFenced: () => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How late a drill may be; that one is proved shows as soon. */
const everyMs = 2_000;
/** A drill that was due while no controller led is made up for within this time. */
const madeUpWithinMs = 24 * hourMs;
/** The same, of a channel that was never drilled: its schedule may have been written a moment ago. */
const firstWithinMs = hourMs;

/** From when on the drills of a channel are due, by what its schedule says. */
interface Followed {
  readonly schedule: string;
  readonly afterAt: Instant;
}

/**
 * Drills channels by their schedules, and does what follows from the end of a drill: one that proved nothing is told to the fallback
 * channel. What stands in the database decides, so that a leader that follows another drills no slot twice and leaves none out.
 */
export class Drills {
  readonly #deps: DrillDeps;
  readonly #followed = new Map<string, Followed>();
  /** When each channel was drilled last, as the term found it; undefined: not read yet. */
  #lastAt: ReadonlyMap<string, Instant> | undefined;

  constructor(deps: DrillDeps) {
    this.#deps = deps;
  }

  /** Ends with the signal; a look that failed is made up for by the next one. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, database, logger, onFenced } = this.#deps;
    while (!signal.aborted) {
      try {
        await this.look();
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof FencedError) onFenced();
        else if (database.isAway(error)) await database.whenBack(error, signal);
        else logger.error('drills could not be looked at', { error });
      }
      await clock.sleep(everyMs, signal).catch(() => {}); // It ends.
    }
  }

  /** One look. Throws what the store throws; `FencedError` when the term is over. */
  async look(): Promise<void> {
    await this.#startDue();
    await this.#move();
  }

  async #startDue(): Promise<void> {
    const { store, epoch, channels, words, onTold } = this.#deps;
    const isFirst = this.#lastAt === undefined;
    this.#lastAt ??= await listLastDrills(store);
    const now = store.now();
    const due: (readonly [ChannelSeen, DrillSpec, Followed])[] = [];
    for (const channel of channels.values()) {
      const drill = drillOf(channel);
      if (drill === undefined) this.#followed.delete(channel.uid);
      else due.push([channel, drill, this.#follow(channel, drill, isFirst ? this.#sinceAt(channel, now) : now)]);
    }
    // All are followed by now: a start that fails is made up for by the next look.
    for (const [channel, drill, followed] of due) {
      const dueAt = newestSlot(drill, now);
      if (dueAt <= followed.afterAt) continue;
      // Channels are few, and each is due once a day at most.
      const ackWithinMs = parseDuration(drill.ackWithin) ?? hourMs;
      const started = await store.fenced(epoch, (tx) => startDrill(tx, { channel, dueAt, ackWithinMs }, words));
      this.#followed.set(channel.uid, { ...followed, afterAt: dueAt });
      if (started !== undefined) onTold();
    }
    for (const uid of this.#followed.keys()) if (channels.find(uid) === undefined) this.#followed.delete(uid);
  }

  #follow(channel: ChannelSeen, { schedule, timezone }: DrillSpec, sinceAt: Instant): Followed {
    const text = `${schedule} ${timezone}`;
    const known = this.#followed.get(channel.uid);
    if (known?.schedule === text) return known;
    // What another schedule would have asked for before it was written is not due.
    const followed = { schedule: text, afterAt: Math.max(sinceAt, channel.createdAt) };
    this.#followed.set(channel.uid, followed);
    return followed;
  }

  #sinceAt({ uid }: ChannelSeen, now: Instant): Instant {
    const lastAt = this.#lastAt?.get(toId16(uid));
    return lastAt === undefined ? now - firstWithinMs : Math.max(lastAt, now - madeUpWithinMs);
  }

  async #move(): Promise<void> {
    const { store, epoch, onTold, onChannelChanged } = this.#deps;
    const ended = await store.fenced(epoch, async (tx) => {
      const moved = await moveDrills(tx);
      const proofs = moved.length === 0 ? undefined : await listProofs(tx);
      for (const one of moved) await this.#follows(tx, one, proofs?.get(one.drill.channelUid)?.provedAt);
      return moved;
    });
    if (ended.length === 0) return;
    onTold();
    for (const { drill } of ended) {
      const channel = this.#find(drill.channelUid);
      if (channel !== undefined) onChannelChanged(channel.uid);
    }
  }

  /** What the end of a drill makes to be told, in the transaction that ended it. */
  async #follows(tx: Tx, ended: EndedDrill, provedAt: Instant | undefined): Promise<void> {
    const { words, logger } = this.#deps;
    const { drill } = ended;
    const channel = this.#find(drill.channelUid);
    // A channel that is gone proves nothing any more.
    if (channel?.decoded.spec === undefined) return;
    const { spec } = channel.decoded;
    const keepsOpen = spec.type === 'paging' || (spec.type === 'webhook' && spec.webhook.format === 'alertmanager');
    if (keepsOpen && ended.mayBeOpen) await closeDrill(tx, drill, channel, words);
    if (drill.outcome === 'proved' || (provedAt ?? 0) >= drill.dueAt) return;
    logger.warn('a drill proved nothing', { channel: channel.name, drill: drill.id, outcome: drill.outcome });
    const name = spec.drill?.fallbackChannel;
    if (!spec.drill || name === undefined) return;
    const fallback = [...this.#deps.channels.values()].find((each) => each.name === name);
    const periodAt = newestSlot(spec.drill, drill.dueAt);
    if (fallback !== undefined) await tellUnproved(tx, ended, { channel, fallback, provedAt, periodAt }, words);
    else
      logger.warn('the fallback channel of a drill does not exist', { channel: channel.name, fallbackChannel: name });
  }

  #find(id16: string): ChannelSeen | undefined {
    return [...this.#deps.channels.values()].find(({ uid }) => toId16(uid) === id16);
  }
}

/** Undefined: it has none, or its spec has a problem and nothing of it is sent. */
function drillOf({ decoded }: ChannelSeen): DrillSpec | undefined {
  return decoded.problems.length === 0 ? decoded.spec?.drill : undefined;
}

/** The newest slot that is due at an instant: of several that were missed one drill says all. */
function newestSlot({ schedule, timezone }: DrillSpec, at: Instant): Instant {
  return parse(schedule).previous(at + 1, timezone) ?? 0;
}
