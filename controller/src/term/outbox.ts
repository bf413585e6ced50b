import type { Ref } from '@cronjob-monitor/shared/contract';
import { ownerOf as ownerAmong } from '@cronjob-monitor/shared/domain';
import { alertRulesOf } from '@cronjob-monitor/shared/kube';
import { withinLimit } from '@cronjob-monitor/shared/process';
import { findClusterState, newId, putClusterState } from '@cronjob-monitor/shared/store';
import { createFreeze, type FreezeMessage, type ToldCronJob } from '../alerting/index.ts';
import {
  AlertmanagerUpkeep,
  createDispatcher,
  createSecretReader,
  Dependents,
  Drills,
  type Dispatcher,
  type DispatcherDeps,
} from '../outbox/index.ts';
import { Connections, createAddressRules } from '../channels/index.ts';
import type { Term } from '../leadership/index.ts';
import type { LeaderWorkDeps, VerdictWorkDeps } from './deps.ts';

/** How long a term waits for the name of its cluster: it is asked for once in the life of a database. */
const nameWithinMs = 2_000;

/** All that sends: the messages that are due, what Alertmanagers are told again, and drills. */
export class Outbox {
  /** How long the status of a channel or a monitor may wait for what else happens there: messages go first. */
  static readonly statusMs = 1_500;
  readonly freeze: FreezeMessage;
  /** Where may be sent to, and how names are resolved. */
  readonly sending: DispatcherDeps['sending'];
  /** Learns which CronJobs wait for others. */
  readonly dependents = new Dependents();
  readonly #deps: VerdictWorkDeps;
  readonly #term: Term;
  readonly #dispatcher: Dispatcher;
  readonly #alertmanagers: AlertmanagerUpkeep;
  readonly #drills: Drills;

  /**
   * What names the cluster to receivers that keep alerts of many: of the UID of the cluster, which no other has. Kept, since alerts are known
   * there by it; where the cluster does not say, an id of our own is as good.
   */
  static async sourceOf({ store, cluster, clock }: LeaderWorkDeps, epoch: number): Promise<string> {
    const known = await findClusterState(store, 'clusterUid');
    const uid = typeof known === 'string' ? known : await askOnce();
    return `cronjob-monitor-${uid.replaceAll('-', '').slice(0, 8)}`;

    async function askOnce(): Promise<string> {
      const found = await withinLimit({ clock, ms: nameWithinMs }, (signal) => cluster.clusterUid(signal)).catch(() =>
        newId(clock.now()).split('-').reverse().join('-'),
      );
      await store.fenced(epoch, (tx) => putClusterState(tx, 'clusterUid', found));
      return found;
    }
  }

  /** `source` names the cluster to receivers that keep alerts of many. Nothing is told before `hasEvaluated`. */
  constructor(
    deps: VerdictWorkDeps,
    term: Term,
    { source, hasEvaluated }: { readonly source: string; readonly hasEvaluated: () => boolean },
  ) {
    const { settings, store, caches, cluster, circuit, clock, logger } = deps;
    const { clusterName, externalUrl } = settings;
    this.#deps = deps;
    this.#term = term;
    this.sending = { addresses: createAddressRules(settings.channels), connections: new Connections() };
    const ownerOf = ({ namespace, name }: Ref): string | undefined => {
      const { selection } = deps;
      return ownerAmong(selection.ownOf(selection.findNamed(namespace, name)), settings.ownerLabel);
    };
    this.freeze = createFreeze({ clusterName, externalUrl, findCronJob: (uid) => this.#findTold(uid), ownerOf });
    const shared = {
      store,
      epoch: term.epoch,
      channels: caches.channels,
      database: {
        isAway: deps.isAway,
        whenBack: (_error: unknown, asking: AbortSignal) => circuit.whenClosed(asking),
      },
      onFenced: () => term.fenced(),
      clock,
      logger,
    };
    this.#dispatcher = this.#createDispatcher({ ...shared, hasEvaluated }, source);
    this.#alertmanagers = new AlertmanagerUpkeep({
      ...shared,
      secrets: createSecretReader({ cluster, rules: settings.secrets, clock }),
      sending: { ...this.sending, clock },
      freeze: this.freeze,
      ownerOf,
      source,
      turn: (channelUid, work) => this.#dispatcher.turn(channelUid, work),
      metrics: deps.deliveryMetrics,
    });
    this.#drills = new Drills({
      ...shared,
      words: { clusterName, externalUrl },
      onTold: () => this.wake(),
      onChannelChanged: (uid) => deps.queues.AlertChannel.addAt(uid, clock.now()),
    });
  }

  /** Something may be due. */
  wake(): void {
    this.#dispatcher.wake();
  }

  /** Messages on their way arrive also after `stopping`; the rest ends with it. */
  start(stopping: AbortSignal): void {
    this.#dispatcher.start(this.#term.signal);
    this.#deps.evidence.onMessagesCompleted(() => this.wake());
    this.#deps.background('alertmanagers', this.#alertmanagers.run(stopping));
    this.#deps.background('drills', this.#drills.run(stopping));
  }

  /** Resolves when messages on their way have arrived. */
  stop(): Promise<void> {
    return this.#dispatcher.stop();
  }

  #createDispatcher(
    shared: Pick<
      DispatcherDeps,
      'store' | 'epoch' | 'channels' | 'database' | 'onFenced' | 'clock' | 'logger' | 'hasEvaluated'
    >,
    source: string,
  ): Dispatcher {
    const { settings, caches, selection, queues, clock } = this.#deps;
    return createDispatcher({
      ...shared,
      sender: { pod: settings.podName, boot: settings.identity },
      cluster: this.#deps.cluster,
      secretRules: settings.secrets,
      sending: this.sending,
      metrics: this.#deps.deliveryMetrics,
      settings: {
        globalLimit: settings.globalLimit,
        startedMs: this.#deps.startedMs,
        startupGraceMs: settings.schedulers.startupGraceMs,
        clusterName: settings.clusterName,
        externalUrl: settings.externalUrl,
        source,
      },
      dependents: this.dependents,
      freeze: this.freeze,
      onMoreToTell: (channelUid) => this.#alertmanagers.soon(channelUid),
      rulesOf: ({ monitor, namespace, cronJobName }) => {
        const seen = caches.monitors.findByName(monitor.namespace, monitor.name);
        const effective = seen && selection.effectiveOf(seen, selection.findNamed(namespace, cronJobName));
        return effective && alertRulesOf(effective);
      },
      guard: this.#deps.guard,
      // Many messages settle in a moment: one status tells of all of them.
      onChannelChanged: (uid) => queues.AlertChannel.addAt(uid, clock.now() + Outbox.statusMs),
    });
  }

  #findTold(uid: string): ToldCronJob | undefined {
    const cronJob = this.#deps.selection.findCronJob(uid);
    if (!cronJob) return undefined;
    const { schedule, timeZone, lastSuccessAt, notes } = cronJob;
    const { nextRunAt } = this.#deps.outlookOf(cronJob, this.#deps.clock.now());
    return { schedule, timeZone, lastSuccessAt, nextRunAt, runbook: notes.runbook };
  }
}
