import type { CronJobFacts, Instant } from '@cronjob-monitor/shared/domain';
import type { Cluster, StatusWriter } from '@cronjob-monitor/shared/kube';
import type { Clock, Logger, ProblemList } from '@cronjob-monitor/shared/process';
import type { Store } from '@cronjob-monitor/shared/store';
import type { EvidenceTaking } from '../evidence/index.ts';
import type { FleetFigures } from '../figures/fleet-figures.ts';
import type { SendGuard } from '../leadership/index.ts';
import type {
  DeliveryMetrics,
  FleetMetrics,
  OutboundHeartbeatMetrics,
  ProductMetrics,
  ReconcileMetrics,
  SlaMetrics,
  UpkeepMetrics,
  VerdictMetrics,
} from '../metrics/index.ts';
import type { Outlook, SpecSightings, WordSightings } from '../reconcilers/cronjob/index.ts';
import type { JobIntake } from '../reconcilers/job/index.ts';
import type { Queues } from '../reconcilers/queues.ts';
import type { BlindSpans, Circuit } from '../runtime/index.ts';
import type { ClusterCaches, JobGroups, Selection, SelectionStarts } from '../selection/index.ts';
import type { ControllerSettings } from '../settings/settings.ts';

/** What the work of a leader is made of. */
export interface LeaderWorkDeps {
  readonly settings: ControllerSettings;
  readonly cluster: Cluster;
  readonly store: Store;
  readonly caches: ClusterCaches;
  readonly selection: Selection;
  readonly groups: JobGroups;
  readonly intake: JobIntake;
  readonly queues: Queues;
  readonly circuit: Circuit;
  readonly problems: ProblemList;
  /** Which installation this is: monitors carry it in their status. */
  readonly writtenBy: () => StatusWriter | undefined;
  readonly reconcileMetrics: ReconcileMetrics;
  readonly productMetrics: ProductMetrics;
  readonly clock: Clock;
  readonly logger: Logger;
  /** When all caches were filled, and up to when everything about CronJobs and Jobs is known. */
  readonly syncedAt: () => Instant;
  readonly freshThroughAt: () => Instant | undefined;
  /** From when on what happens to CronJobs and Jobs cannot be seen; undefined: it is seen. */
  readonly blindFromAt: () => Instant | undefined;
  readonly background: (name: string, work: Promise<void>) => void;
  readonly deliveryMetrics: DeliveryMetrics;
  readonly verdictMetrics: VerdictMetrics;
  readonly upkeepMetrics: UpkeepMetrics;
  readonly fleetMetrics: FleetMetrics;
  readonly slaMetrics: SlaMetrics;
  readonly heartbeatMetrics: OutboundHeartbeatMetrics;
  /** Since the last event or bookmark, by kind. */
  readonly watchAgesMs: () => Readonly<Record<string, number>>;
  /** Edits of CronJobs that were received and are not written down. */
  readonly sightings: SpecSightings;
  /** What owners were seen to say before about how runs are judged. */
  readonly words: WordSightings;
  /** Since when monitors select what they did not select before, as far as it was seen. */
  readonly starts: SelectionStarts;
  /** Spans in which a watch broke so that events may be lost. */
  readonly blind: BlindSpans;
  /** Monotonic instant of the start of the process. */
  readonly startedMs: number;
  /** Keeps messages from being sent by a leader that may not be one any more; undefined: claims say who sends. */
  readonly guard: SendGuard | undefined;
}

/** What judging and telling are made of besides. */
export interface VerdictWorkDeps extends LeaderWorkDeps {
  readonly evidence: Pick<EvidenceTaking, 'knownOf' | 'onMessagesCompleted'>;
  readonly figures: Pick<FleetFigures, 'judged' | 'measureSla'>;
  readonly outlookOf: (cronJob: CronJobFacts, now: Instant) => Outlook;
  /** Alerts of these CronJobs were written. */
  readonly onAlertsMoved: (cronJobUids: Iterable<string>) => void;
  /** True: the database is away, and all wait for it. */
  readonly isAway: (error: unknown) => boolean;
}
