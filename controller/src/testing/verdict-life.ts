import type { Instant } from '@cronjob-monitor/shared/domain';
import type { Clock, Logger } from '@cronjob-monitor/shared/process';
import {
  claimDeliveries,
  projectChannel,
  settleDelivery,
  type CountedRunOf,
  type Store,
  type Tx,
} from '@cronjob-monitor/shared/store';
import { createFreeze, type RaisedAlert } from '../alerting/index.ts';
import { createDigests, type Digests } from '../outbox/index.ts';
import { createClockWatch } from '../evaluate/clock-watch.ts';
import type { ClusterCaches } from '../selection/cluster-view.ts';
import { settleSlots, type LedgerDeps } from '../evaluate/index.ts';
import { createEvaluation, type Evaluation } from '../term/evaluation.ts';
import { isExcluded } from '../selection/selection.ts';
import type { JobIntake } from '../reconcilers/job/intake.ts';
import { Moves } from '../figures/moves.ts';
import { createMonitorRecords, reconcileMonitor } from '../reconcilers/monitor/index.ts';
import { rulesOfAlerts } from '../evaluate/monitor-rules.ts';
import { createSelection, toMonitorSeen, type MonitorSeen, type Selection } from '../selection/index.ts';
import { settings } from './recording-fixture.ts';
import { LoopClock } from './loop-clock.ts';

/** Who watches, and whom they tell. */
export interface VerdictOptions {
  readonly monitors: readonly { readonly namespace: string; readonly name: string; readonly spec: object }[];
  /** Names of channels that take every message. */
  readonly channels: readonly string[];
  /** 0 when absent: no storms. */
  readonly stormThreshold?: number;
  /** The API server's clock minus ours, milliseconds; absent: they agree. */
  readonly serverOffsetMs?: () => number;
}

/** What of one process verdicts are made of. */
interface VerdictSources {
  readonly store: Store;
  readonly epoch: number;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly caches: ClusterCaches;
  readonly intake: Pick<JobIntake, 'pods'>;
  readonly ledger: () => LedgerDeps | undefined;
  readonly syncedAt: () => Instant;
  readonly defaultZone: string;
}

/** Asked, rechecked, three schedulers one after the other, and what ages. */
const loops = 4;
const scheduledMs = 60_000;

/** The part of a controller that judges and tells, of one process: evaluation, alerts, and an outbox whose messages all arrive. */
export class VerdictLife {
  readonly selection: Selection;
  readonly #from: VerdictSources;
  readonly #monitors: readonly MonitorSeen[];
  readonly #records;
  readonly #evaluation: Evaluation;
  readonly #digests: Digests;
  readonly #moves = new Moves();
  readonly #clock: LoopClock;
  readonly #ending = new AbortController();
  #isRunning = false;

  constructor(options: VerdictOptions, from: VerdictSources) {
    this.#from = from;
    const { store, epoch, caches, logger, defaultZone } = from;
    this.#clock = new LoopClock(from.clock);
    this.#monitors = options.monitors.flatMap(({ namespace, name, spec }) => {
      const metadata = { namespace, name, uid: `monitor-${namespace}-${name}`, generation: 1 };
      return toMonitorSeen({ metadata, spec }, settings.monitorDefaults, {}) ?? [];
    });
    const monitors = {
      values: () => this.#monitors,
      findByName: (namespace: string, name: string) =>
        this.#monitors.find((monitor) => monitor.namespace === namespace && monitor.name === name),
    };
    this.selection = createSelection({
      monitors,
      namespaces: caches.namespaces,
      cronJobs: caches.cronJobs,
      rules: settings.reach,
      defaultZone,
      ownerLabel: undefined,
    });
    store.onMoves(this.#moves.take);
    this.#records = createMonitorRecords({ store, epoch, moves: this.#moves });
    const postponedBecause = createClockWatch({
      clock: this.#clock,
      databaseOffsetMs: () => store.clockOffsetMs(),
      serverOffsetMs: options.serverOffsetMs ?? (() => 0),
      onStepped: (byMs) => this.#evaluation.stepped(byMs),
    });
    this.#digests = createDigests({
      store,
      epoch,
      threshold: options.stormThreshold ?? 0,
      fleet: () => caches.cronJobs.size,
      isControllerStale: () => false,
      rulesOf: (alerts) => rulesOfAlerts(store, alerts, monitors, this.selection),
      clusterName: undefined,
      externalUrl: undefined,
    });
    this.#evaluation = createEvaluation({
      settings: {
        defaultZone,
        schedulers: {
          ...settings.schedulers,
          deadManSwitchMs: scheduledMs,
          stuckJobCheckMs: scheduledMs,
          slaRecalculationMs: 5 * scheduledMs,
        },
      },
      store,
      // Monitors are asked by name alone.
      caches: { ...caches, monitors: monitors as unknown as ClusterCaches['monitors'] },
      selection: this.selection,
      words: { listSince: () => [] },
      groupEndedAt: () => undefined,
      podsOf: (uid) => from.intake.pods.podsOf(uid),
      goneJobsOf: () => [],
      refusalOf: () => undefined,
      clock: this.#clock,
      logger,
      term: {
        epoch,
        signal: this.#ending.signal,
        fenced: () => this.#ending.abort(new Error('fenced')),
      },
      syncedAt: from.syncedAt,
      watchedUntilAt: undefined,
      isSuccession: false,
      freshThroughAt: () => from.ledger()?.freshThroughAt(),
      blindFromAt: () => {
        const at = from.ledger()?.freshThroughAt();
        return at !== undefined && at < from.clock.now() ? at : undefined;
      },
      knownOf: () => undefined,
      freeze: createFreeze({ clusterName: undefined, externalUrl: undefined, findCronJob: () => undefined }),
      settleSlots: async (tx, ids, now) => {
        const ledger = from.ledger();
        return ledger ? settleSlots(tx, ids, ledger, now) : new Map<number, never>();
      },
      digests: this.#digests,
      whenCaughtUp: () => Promise.resolve(),
      postponedBecause,
      prune: () => Promise.resolve(),
      sealDays: () => Promise.resolve(),
      lookAtNight: () => Promise.resolve(),
      measureSla: () => Promise.resolve(),
      onSettled: () => {},
      onRaised: () => {},
      onRan: () => {},
      isAway: () => false,
    });
    this.#channels = options.channels;
  }

  readonly #channels: readonly string[];

  judge(tx: Tx, counted: readonly CountedRunOf[]): Promise<RaisedAlert[]> {
    return this.#evaluation.judge(tx, counted);
  }

  recorded(cronJobUid: string): void {
    this.#evaluation.recorded(cronJobUid);
  }

  ask(cronJobUids: readonly string[]): void {
    this.#evaluation.ask(cronJobUids);
  }

  isExcluded(cronJobUid: string, at: Instant): boolean {
    return isExcluded(this.selection, cronJobUid, at);
  }

  /** Rows of monitors and channels; to be repeated when CronJobs have got theirs. */
  async project(): Promise<void> {
    const { store, epoch, caches, clock } = this.#from;
    this.selection.invalidate();
    for (const name of this.#channels) {
      const channel = { uid: `channel-${name}`, name, type: 'webhook', generation: 1, spec: {} } as const;
      const judged = { ready: true, reason: 'Validated', message: '', secretVersion: undefined };
      await store.fenced(epoch, (tx) => projectChannel(tx, { ...channel, ...judged }, store.now()));
    }
    for (const { uid } of this.#monitors) {
      await reconcileMonitor(
        uid,
        {
          sources: {
            monitors: { find: (wanted) => this.#monitors.find((monitor) => monitor.uid === wanted) },
            channels: caches.channels,
            selection: this.selection,
            scheduleProblemOf: () => undefined,
          },
          records: this.#records,
          cluster: { patchMonitorStatus: () => Promise.resolve() },
          clock,
          onTargetsAdded: () => {},
          onJudgedOtherwise: (uids) => this.ask(uids),
        },
        this.#ending.signal,
      );
    }
  }

  /** All that is due by now is judged and told. */
  async work(): Promise<void> {
    if (!this.#isRunning) {
      this.#isRunning = true;
      await this.#digests.load();
      void this.#evaluation.run(this.#ending.signal);
    }
    await this.#clock.letRun(loops);
    await this.#send();
  }

  end(): void {
    this.#ending.abort(new Error('the process ends'));
  }

  async #send(): Promise<void> {
    const { store, epoch } = this.#from;
    const claimedBy = 'pod/boot';
    for (;;) {
      const claimed = await store.fenced(epoch, (tx) => claimDeliveries(tx, { ...roomForAll, claimedBy }));
      if (claimed.length === 0) return;
      for (const { id: deliveryId } of claimed) {
        const settlement = { kind: 'delivered', httpStatus: 200 } as const;
        await store.fenced(epoch, (tx) => settleDelivery(tx, { deliveryId, claimedBy, settlement }));
      }
    }
  }
}

const roomForAll = {
  onlyTests: false,
  room: 64,
  roomOn: () => 64,
  fullChannels: [],
  globalLimit: { periodMs: 1, burst: 100_000 },
  limitOf: () => ({ maxPerHour: 100_000, burst: 100_000 }),
};
