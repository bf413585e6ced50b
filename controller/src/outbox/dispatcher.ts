import type { Hold } from '@cronjob-monitor/shared/contract';
import type { ChannelSpec } from '@cronjob-monitor/shared/kube';
import {
  claimDeliveries,
  type ClaimedDelivery,
  claimMs,
  type ClaimRequest,
  FencedError,
  findNextDue,
  recordHeldByGrace,
  takeClaimsOfEarlierTerms,
  takeClaimsOfPod,
} from '@cronjob-monitor/shared/store';
import { getChannel, type Pace, type SendDeps, sendLimitMs } from '../channels/index.ts';
import { ChannelCare } from './channel-care.ts';
import type { Dispatcher, DispatcherDeps } from './dispatcher-deps.ts';
import { InFlight } from './in-flight.ts';
import { freezeClaimed } from './freeze-claimed.ts';
import { leaveToParents, leaveToSilences, type TakenBack } from './take-back.ts';
import { deliver, type Judged, type PipelineDeps } from './pipeline.ts';
import { createSecretReader } from './secret-reader.ts';
import { Settler } from './settler.ts';
import { findUnwanted } from './stages.ts';

const pollMs = 1_000;
const careEveryMs = 5_000;
const measureEveryMs = 15_000;
/** A claim costs about as much as ten sends: while enough is claimed it waits a moment, so that there is more to take. */
const gatherMs = 100;
/** Answers are written together when no send is left that could bring another one; at the latest after this. */
const gatherAnswersMs = 25;
/** A stop waits so long for a send that goes on, and for its answer to be written. */
const stopMs = sendLimitMs + 5_000;
/** The reason with which the dispatcher ends a wait for the next round, or for the last answer. */
const woken = new Error('there is work, or none is left');
/** The dispatcher pauses so long after an error that is not the answer of a receiver. */
const errorPauseMs = 1_000;

/** The dispatcher claims due messages, hands them to the pipeline and writes the answers (alerting.md sections 5 to 7). */
export function createDispatcher(deps: DispatcherDeps): Dispatcher {
  return new OutboxDispatcher(deps);
}

class OutboxDispatcher implements Dispatcher {
  readonly #deps: DispatcherDeps;
  readonly #claimedBy: string;
  readonly #inFlight: InFlight;
  readonly #pipeline: PipelineDeps;
  readonly #settler: Settler;
  readonly #care: ChannelCare;
  readonly #stopping = new AbortController();
  /** The work that goes on; a stop waits for all of it. */
  readonly #running = new Set<Promise<void>>();
  /** Messages that the ledger says the startup grace holds. */
  readonly #heldByGrace = new Set<string>();
  #signal: AbortSignal = this.#stopping.signal;
  /** Ends each wait that has nothing to finish, when the term or the process ends. */
  #ending: AbortSignal = this.#stopping.signal;
  #isWoken = false;
  #onWoken: (() => void) | undefined;
  /** Ends the wait for the answers of messages in flight. */
  #onAllAnswered: (() => void) | undefined;
  /** Monotonic instant of a round that some work has asked for before the next poll. */
  #alarmMs = Infinity;
  #settling: Promise<void> | undefined;
  /** The silences that waiting messages were already checked against, with the instant of their last edit. */
  #silences: ReadonlyMap<string, number> = new Map();
  #claimedMs = -Infinity;
  #caredMs = -Infinity;
  #measuredMs = -Infinity;
  /** Until the next round, if nothing wakes it. */
  #dueInMs = pollMs;

  constructor(deps: DispatcherDeps) {
    this.#deps = deps;
    const { store, epoch, clock, metrics, settings } = deps;
    this.#claimedBy = `${deps.sender.pod}/${deps.sender.boot}`;
    const logger = deps.logger.child({ component: 'dispatcher' });
    const sending: SendDeps = { ...deps.sending, clock };
    const secrets = createSecretReader({ cluster: deps.cluster, rules: deps.secretRules, clock });
    const findSpec = (uid: string): ChannelSpec | undefined => deps.channels.find(uid)?.decoded.spec;
    const shared = { store, epoch, claimedBy: this.#claimedBy, findSpec, secrets, sending, metrics, clock, logger };
    const onChannelChanged = deps.onChannelChanged;
    this.#care = new ChannelCare({ ...shared, onChannelChanged, rulesOf: deps.rulesOf });
    this.#settler = new Settler({ ...shared, onChannelChanged, onRecovered: (uid) => this.#care.recovered(uid) });
    const paceOf = (uid: string): Pace | undefined => {
      const spec = findSpec(uid);
      return spec && getChannel(spec.type).paceOf(spec);
    };
    this.#inFlight = new InFlight({ paceOf, monotonicMs: () => clock.monotonicMs() });
    this.#pipeline = {
      ...shared,
      rulesOf: deps.rulesOf,
      clusterName: settings.clusterName,
      externalUrl: settings.externalUrl,
      source: settings.source,
      heldBy: (delivery) => this.#heldBy(delivery),
      random: deps.random ?? Math.random,
      onFolded: (channel, kinds) => {
        for (const [kind, count] of kinds) {
          metrics.ended({ channel, kind }, 'digested', count);
          metrics.suppressed('digested', count);
        }
      },
    };
  }

  start(signal: AbortSignal): void {
    this.#signal = signal;
    this.#ending = AbortSignal.any([signal, this.#stopping.signal]);
    this.#ending.addEventListener(
      'abort',
      () => {
        this.wake();
        this.#onAllAnswered?.();
      },
      { once: true },
    );
    this.#track(this.#run());
  }

  wake(): void {
    this.#isWoken = true;
    this.#onWoken?.();
  }

  async turn<T>(channelUid: string, work: () => Promise<T>): Promise<T> {
    try {
      return await this.#inFlight.inTurn(channelUid, async () => {
        await this.#deps.guard?.whenOpen(this.#ending);
        return work();
      });
    } finally {
      this.#inFlight.ended();
    }
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the dispatcher stops'));
    this.wake();
    const done = new AbortController();
    const late = this.#deps.clock.sleep(stopMs, AbortSignal.any([done.signal, this.#signal])).catch(() => {});
    await Promise.race([late, this.#allEnded()]);
    done.abort(woken);
    this.#deps.metrics.stopped();
  }

  async #allEnded(): Promise<void> {
    // Work that ends may have begun to write its answers.
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  #track(work: Promise<void>): void {
    const followed = work
      // Each part handles its own failures; this one logs an unexpected error.
      .catch((error: unknown) => this.#deps.logger.error('a part of the dispatcher failed', { error }))
      .finally(() => this.#running.delete(followed));
    this.#running.add(followed);
  }

  get #ends(): boolean {
    return this.#signal.aborted || this.#stopping.signal.aborted;
  }

  async #run(): Promise<void> {
    const begin = async (): Promise<void> => {
      await this.#deps.store.fenced(this.#deps.epoch, (tx) =>
        takeClaimsOfPod(tx, { pod: this.#deps.sender.pod, claimedBy: this.#claimedBy }),
      );
    };
    while (!this.#ends && !(await this.#attempt(begin))) continue;
    this.#track(this.#freeEarlierClaims());
    while (!this.#ends) {
      this.#isWoken = false;
      const isGood = await this.#attempt(() => this.#round());
      if (isGood && !this.#ends) await this.#untilWoken();
    }
  }

  /** Frees the claims of earlier leaders as soon as none of them can begin a send, so that their messages are sent again. */
  async #freeEarlierClaims(): Promise<void> {
    const { store, epoch, clock, guard } = this.#deps;
    if (guard === undefined) return;
    await clock.sleep(Math.max(0, guard.earlierEndMs - clock.monotonicMs()), this.#ending).catch(() => {}); // It ends.
    const free = async (): Promise<void> => {
      await store.fenced(epoch, (tx) => takeClaimsOfEarlierTerms(tx));
    };
    while (!this.#ends && !(await this.#attempt(free))) continue;
    this.wake();
  }

  async #round(): Promise<void> {
    if (this.#caredMs === -Infinity) await this.#maintain();
    // New messages go first; the upkeep of channels can wait for them.
    const isPutOff = await this.#claim();
    await this.#maintain();
    this.#dueInMs = pollMs;
    // The next round looks up when it is due.
    if (isPutOff || this.#isWoken) return;
    const now = this.#deps.store.now();
    const dueAt = await findNextDue(this.#deps.store, now);
    this.#dueInMs = dueAt === undefined ? pollMs : Math.min(pollMs, Math.max(1, dueAt - now));
  }

  async #maintain(): Promise<void> {
    const now = this.#deps.clock.monotonicMs();
    if (now - this.#caredMs >= careEveryMs) {
      await this.#care.maintain();
      for (const channel of await this.#care.listToLookAt()) this.#lookAt(channel);
      this.#caredMs = now;
    }
    if (now - this.#measuredMs >= measureEveryMs) {
      await this.#care.measure();
      this.#measuredMs = now;
    }
    if ((await this.#care.tellAnew()) > 0) this.wake();
  }

  /** Claims due messages and begins to send them. True: it claimed none, and a later round will. */
  async #claim(): Promise<boolean> {
    const { store, epoch, clock, settings, dependents } = this.#deps;
    const inFlight = this.#inFlight;
    if (inFlight.room === 0 || this.#settler.isStuck) return true;
    const gatheredMs = clock.monotonicMs() - this.#claimedMs;
    if (inFlight.isBusy && gatheredMs < gatherMs) {
      this.#wakeIn(gatherMs - gatheredMs);
      return true;
    }
    const onlyTests = await this.#isGrace();
    // The clock is read before the claim, since the time that the claim takes is missing from that of the send.
    const claimedMs = clock.monotonicMs();
    this.#claimedMs = claimedMs;
    const { left, silences, claimed } = await store.fenced(epoch, async (tx) => {
      const silenced = await leaveToSilences(tx, this.#silences);
      const left = !onlyTests && (await dependents.any(tx)) ? await leaveToParents(tx) : [];
      const taken = await claimDeliveries(tx, {
        claimedBy: this.#claimedBy,
        onlyTests,
        room: inFlight.room,
        roomOn: (uid) => inFlight.roomOn(uid),
        inFlightOn: (uid) => inFlight.claimedOn(uid),
        fullChannels: inFlight.fullChannels(),
        globalLimit: settings.globalLimit,
        limitOf: (uid) => this.#limitOf(uid),
      });
      const by = { freeze: this.#deps.freeze, claimedBy: this.#claimedBy };
      const all = [...silenced.left, ...left];
      return { left: all, silences: silenced.seen, claimed: await freezeClaimed(tx, taken, by) };
    });
    this.#silences = silences;
    this.#tellLeft(left);
    if (claimed.length === 0) return false;
    for (const { channelUid } of claimed) inFlight.claim(channelUid);
    const unwanted = findUnwanted(store, claimed);
    for (const delivery of claimed) this.#track(this.#deliver(delivery, { unwanted, claimedMs }));
    return false;
  }

  #tellLeft(left: readonly TakenBack[]): void {
    const { metrics } = this.#deps;
    for (const message of left) metrics.ended(message, 'cancelled');
    for (const [reason, messages] of Map.groupBy(left, (message) => message.reason))
      metrics.suppressed(reason, new Set(messages.map(({ alertId }) => alertId)).size);
  }

  /** Whether the startup grace lasts: only tests go out, and the ledger says why the other due messages wait. */
  async #isGrace(): Promise<boolean> {
    const { store, epoch, clock, metrics, settings, hasEvaluated } = this.#deps;
    const leftMs = settings.startedMs + settings.startupGraceMs - clock.monotonicMs();
    if (leftMs <= 0 && hasEvaluated()) {
      this.#heldByGrace.clear();
      return false;
    }
    const untilAt = leftMs > 0 ? store.now() + Math.ceil(leftMs) : undefined;
    const known = this.#heldByGrace;
    const held = await store.fenced(epoch, (tx) => recordHeldByGrace(tx, { untilAt, known }));
    for (const id of held) known.add(id);
    if (held.length > 0) metrics.suppressed('startupGrace', held.length);
    return true;
  }

  #limitOf(uid: string): ReturnType<ClaimRequest['limitOf']> {
    const spec = this.#deps.channels.find(uid)?.decoded.spec;
    const { maxAlertsPerHour = 100, burstLimit = 10 } = spec?.rateLimiting ?? {};
    const sharesToken = spec?.type === 'webhook' && spec.webhook.format === 'alertmanager';
    return { maxPerHour: maxAlertsPerHour, burst: burstLimit, sharesToken };
  }

  #heldBy({ heldBy, id, channelUid }: ClaimedDelivery): Hold {
    if (heldBy !== undefined) return heldBy;
    return this.#heldByGrace.has(id) ? 'startupGrace' : (this.#care.lastHoldOf(channelUid) ?? 'order');
  }

  /** Takes one claimed message through the pipeline and keeps its answer for the next settlement. */
  async #deliver(
    delivery: ClaimedDelivery,
    of: { readonly unwanted: ReturnType<typeof findUnwanted>; readonly claimedMs: number },
  ): Promise<void> {
    const { clock } = this.#deps;
    const signal = this.#signal;
    const { guard } = this.#deps;
    const mayBegin = (): boolean =>
      !this.#ends && claimMs - (clock.monotonicMs() - of.claimedMs) > sendLimitMs && (guard?.isOpen() ?? true);
    let judged: Judged;
    try {
      judged = await this.#inFlight.inTurn(delivery.channelUid, async () => {
        await guard?.whenOpen(this.#ending);
        return deliver(delivery, await of.unwanted, this.#pipeline, { signal, mayBegin });
      });
    } catch (error) {
      if (signal.aborted) return;
      judged = await this.#putBack(delivery, error);
    }
    if (signal.aborted) return;
    this.#settler.add(judged);
    if (this.#inFlight.sending === 0) this.#onAllAnswered?.();
    if (this.#settling === undefined) {
      this.#settling = this.#settleAll().finally(() => {
        this.#settling = undefined;
      });
      this.#track(this.#settling);
    }
  }

  /** Puts a message back after a failure that is not the answer of a receiver; its channel counts no failure. */
  async #putBack(delivery: ClaimedDelivery, error: unknown): Promise<Judged> {
    const { store } = this.#deps;
    await this.#attempt(() => Promise.reject(error));
    const nextAt = store.now() + errorPauseMs;
    return { delivery, settlement: { kind: 'putBack', nextAt }, channelType: undefined, attempt: undefined };
  }

  /** Writes all answers, and keeps them in memory for as long as the database is away. */
  async #settleAll(): Promise<void> {
    while (this.#settler.waiting > 0 && !this.#signal.aborted) {
      await this.#attempt(async () => {
        await this.#gatherAnswers();
        // Answers that arrive meanwhile are written by the next transaction.
        const written = await this.#settler.settle();
        for (const { delivery, settlement } of written) {
          this.#settled(delivery.channelUid);
          if (settlement.kind === 'delivered' && saysLess(delivery)) this.#deps.onMoreToTell?.(delivery.channelUid);
        }
      }, this.#signal);
    }
  }

  /** Waits for the answers of messages in flight: one transaction each would hold the connection that recordings need. */
  async #gatherAnswers(): Promise<void> {
    if (this.#inFlight.sending === 0 || this.#ends) return;
    const gathered = Promise.withResolvers<void>();
    const alarm = new AbortController();
    this.#onAllAnswered = gathered.resolve;
    this.#deps.clock.sleep(gatherAnswersMs, alarm.signal).then(gathered.resolve, gathered.resolve);
    await gathered.promise;
    this.#onAllAnswered = undefined;
    alarm.abort(woken);
  }

  #settled(channelUid: string): void {
    const inFlight = this.#inFlight;
    inFlight.settled(channelUid);
    const pauseMs = inFlight.pauseLeftMs(channelUid);
    if (pauseMs > 0) this.#wakeIn(pauseMs);
    if (inFlight.isNearlyIdle(channelUid)) this.wake();
    else this.#wakeIn(gatherMs);
  }

  /** Asks for a round after this time. One alarm, for the earliest such round, is enough. */
  #wakeIn(ms: number): void {
    const { clock } = this.#deps;
    const atMs = clock.monotonicMs() + ms;
    if (this.#alarmMs <= atMs) return;
    this.#alarmMs = atMs;
    clock.sleep(ms, this.#ending).then(
      () => {
        if (this.#alarmMs === atMs) this.#alarmMs = Infinity;
        this.wake();
      },
      () => {}, // It ends.
    );
  }

  #lookAt(channel: { readonly uid: string; readonly name: string }): void {
    const look = async (): Promise<void> => {
      await this.#attempt(async () => {
        if (await this.#care.lookAt(channel, this.#signal)) this.wake();
      });
    };
    this.#track(look());
  }

  /** Does the work; true: it succeeded. Otherwise reports the error and pauses, until `waiting` aborts, so that a caller may try again. */
  async #attempt(work: () => Promise<void>, waiting: AbortSignal = this.#ending): Promise<boolean> {
    const { clock, database, logger, onFenced } = this.#deps;
    const signal = this.#signal;
    try {
      await work();
      return true;
    } catch (error) {
      if (signal.aborted) return false;
      if (error instanceof FencedError) {
        onFenced();
        // The term ends now and aborts the signal.
        await clock.sleep(errorPauseMs, signal).catch(() => {});
        return false;
      }
      if (database.isAway(error)) await database.whenBack(error, waiting);
      else logger.error('the outbox could not be worked on', { error });
      await clock.sleep(errorPauseMs, waiting).catch(() => {});
      return false;
    }
  }

  async #untilWoken(): Promise<void> {
    if (this.#isWoken) return;
    const waiting = Promise.withResolvers<void>();
    const alarm = new AbortController();
    this.#onWoken = waiting.resolve;
    this.#deps.clock.sleep(this.#dueInMs, alarm.signal).then(waiting.resolve, waiting.resolve);
    await waiting.promise;
    this.#onWoken = undefined;
    alarm.abort(woken);
  }
}

/** Whether the message leaves out facts of its alerts, as a digest and each further message about an alert do. */
function saysLess({ kind, payload }: ClaimedDelivery): boolean {
  if (kind === 'digest') return true;
  const message = payload?.message;
  return message !== undefined && 'alert' in message.data && message.data.alert.notification > 1;
}
