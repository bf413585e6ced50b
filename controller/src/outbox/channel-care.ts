import type { Hold } from '@cronjob-monitor/shared/contract';
import { muteOf } from '@cronjob-monitor/shared/domain';
import type { ChannelSpec } from '@cronjob-monitor/shared/kube';
import type { Logger } from '@cronjob-monitor/shared/process';
import {
  countOpenDeliveries,
  findOldestDue,
  hastenRungs,
  listChannelHolds,
  listProofs,
  listSilences,
  retellDead,
  takeProbes,
  tellUnacknowledged,
  updateExpired,
  updateHoldChecked,
  updateHoldLifted,
  type HeldChannel,
  type Store,
  type Tx,
} from '@cronjob-monitor/shared/store';
import { getChannel, type SendDeps } from '../channels/index.ts';
import type { DeliveryMetrics } from '../metrics/index.ts';
import { sayHeld } from './freeze-claimed.ts';
import type { SecretReader } from './secret-reader.ts';
import type { TakeTurnDeps } from './stages.ts';

interface ChannelCareDeps {
  readonly store: Store;
  readonly epoch: number;
  readonly findSpec: (channelUid: string) => ChannelSpec | undefined;
  readonly secrets: SecretReader;
  readonly sending: SendDeps;
  readonly metrics: DeliveryMetrics;
  readonly logger: Logger;
  readonly onChannelChanged: (uid: string) => void;
  readonly rulesOf: TakeTurnDeps['rulesOf'];
}

/** A channel that cannot be used is checked again after this time. */
const lookAgainMs = 60_000;

/** Does what passing time asks of the outbox: gives messages up, probes and checks channels, and tells alerts anew. */
export class ChannelCare {
  readonly #deps: ChannelCareDeps;
  readonly #recovered = new Set<string>();
  readonly #givenUp = new Set<string>();
  readonly #looking = new Set<string>();
  /** The last known hold of each channel. */
  readonly #holds = new Map<string, Hold>();

  constructor(deps: ChannelCareDeps) {
    this.#deps = deps;
  }

  /** The channel took a message, so the next `tellAnew` tells it what was given up there. */
  recovered(channelUid: string): void {
    this.#recovered.add(channelUid);
  }

  /** The reason for which messages of the channel waited last; undefined: not known. */
  lastHoldOf(channelUid: string): Hold | undefined {
    return this.#holds.get(channelUid);
  }

  /**
   * Gives up messages that are past their time. Makes due the probe of each parked channel, the messages that an acknowledgement held until
   * it ended, and those whose turn comes earlier now.
   */
  async maintain(): Promise<void> {
    const { store, epoch, metrics } = this.#deps;
    const { expired } = await store.fenced(epoch, async (tx) => {
      const at = tx.now();
      const given = await updateExpired(tx, at);
      await tellUnacknowledged(tx);
      await this.#hastenTurns(tx);
      return { expired: given, probes: await takeProbes(tx, at) };
    });
    for (const { channelUid, channelName: channel, kind } of expired) {
      metrics.ended({ channel, kind }, kind === 'update' ? 'cancelled' : 'dead');
      this.#givenUp.add(channelUid);
    }
  }

  /**
   * A time that was made shorter counts from when the wait began: what would be due by the time of before is due by that of now. What a
   * person mutes is asked again at its own time.
   */
  async #hastenTurns(tx: Tx): Promise<void> {
    const now = tx.now();
    await hastenRungs(tx, async () => {
      const silences = await listSilences(tx, now);
      return ({ alert, channelName, waitsSinceAt }) => {
        const rules = this.#deps.rulesOf(alert);
        const ref = rules?.alerting?.channelRefs.find(({ name }) => name === channelName);
        if (!rules || !ref || muteOf(alert, rules, silences, now)) return undefined;
        return Math.max(now, waitsSinceAt + (ref.afterMs ?? 0));
      };
    });
  }

  /** Tells anew what was given up on channels that work again; where nothing else waits, one message asks. Returns how many are new. */
  async tellAnew(): Promise<number> {
    const { store, epoch } = this.#deps;
    let told = 0;
    for (const uid of [...this.#recovered, ...this.#givenUp]) {
      const word: Parameters<typeof retellDead>[2] = (frozen, { notification, heldMs }) =>
        sayHeld(frozen, { by: this.#holds.get(uid) ?? 'backoff', ms: heldMs, notification });
      // It is rare; each channel is a transaction of its own.
      told += await store.fenced(epoch, (tx) => retellDead(tx, uid, word, !this.#recovered.has(uid)));
      for (const channels of [this.#recovered, this.#givenUp]) channels.delete(uid);
    }
    return told;
  }

  /** Writes the state of all channels to the metrics. Returns the unusable ones whose next check is due. */
  async listToLookAt(): Promise<readonly HeldChannel[]> {
    const { store, metrics } = this.#deps;
    const channels = await listChannelHolds(store);
    const proofs = await listProofs(store);
    metrics.channels(channels.map((channel) => ({ ...channel, proof: proofs.get(channel.uid) })));
    for (const { uid, hold } of channels) if (hold !== undefined) this.#holds.set(uid, hold);
    const now = store.now();
    return channels.filter(
      ({ uid, hold, untilAt }) => hold === 'invalid' && (untilAt ?? 0) <= now && !this.#looking.has(uid),
    );
  }

  /** Checks spec, Secrets and address of a channel again, and releases its messages once it can be used. Returns whether it can. */
  async lookAt({ uid, name }: Pick<HeldChannel, 'uid' | 'name'>, signal: AbortSignal): Promise<boolean> {
    const { store, epoch, logger } = this.#deps;
    this.#looking.add(uid);
    try {
      const isMended = await this.#isUsable(uid, signal);
      await store.fenced(epoch, async (tx) => {
        if (isMended) await updateHoldLifted(tx, uid);
        else await updateHoldChecked(tx, uid, tx.now() + lookAgainMs);
      });
      if (!isMended) return false;
      logger.info('a channel can be used again', { channel: name });
      this.#deps.onChannelChanged(uid);
      return true;
    } finally {
      this.#looking.delete(uid);
    }
  }

  /** Counts what stands in the outbox. */
  async measure(): Promise<void> {
    const { store, metrics } = this.#deps;
    const now = store.now();
    const oldestAt = await findOldestDue(store, now);
    metrics.outbox(await countOpenDeliveries(store), oldestAt === undefined ? 0 : (now - oldestAt) / 1_000);
  }

  async #isUsable(uid: string, signal: AbortSignal): Promise<boolean> {
    const { secrets, sending, findSpec } = this.#deps;
    const target = findSpec(uid);
    if (target === undefined) return false;
    const read = await secrets.read(target, signal, true);
    if (read.kind !== 'read') return false;
    const problem = await getChannel(target.type).findProblem({ target, secrets: read.secrets }, sending, signal);
    return problem === undefined;
  }
}
