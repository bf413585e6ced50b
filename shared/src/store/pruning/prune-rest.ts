import type { Instant } from '../../domain/index.ts';
import { forgetChanges } from '../changes.ts';
import type { Store } from '../database.ts';
import { forgetHeartbeats } from '../heartbeats.ts';
import { Batches, type BatchLimits } from './batches.ts';
import { pruneAlerts } from './prune-alerts.ts';
import { pruneCatalog } from './prune-catalog.ts';
import { pruneEpochs, pruneLooseEvidence, pruneRollups, pruneTemplates } from './prune-figures.ts';
import { pruneLooseEnds, pruneMessages, pruneSilences } from './prune-messages.ts';

/** What is older than each of these goes. */
export interface RestCutoffs {
  /** End of an alert; age of what belongs to none. */
  readonly alertsBefore: Instant;
  readonly silencesBefore: Instant;
  /** End of a message: then its payload goes, and a test wholly. */
  readonly payloadsBefore: Instant;
  /** Messages made before it were looked at already. */
  readonly payloadsFrom: Instant;
  /** Days since 1970. */
  readonly rollupsBeforeDay: number;
  /** The longest that a run can be kept: nothing older can refer to a spec or a text. */
  readonly runsBefore: Instant;
  readonly templatesBefore: Instant;
  readonly objectsBefore: Instant;
  readonly changesBefore: Instant;
  readonly heartbeatsBefore: Instant;
}

export type RestKind =
  | 'alerts'
  | 'deliveries'
  | 'decisions'
  | 'payloads'
  | 'silences'
  | 'rollups'
  | 'specEpochs'
  | 'templates'
  | 'looseEvidence'
  | 'cronJobs'
  | 'monitors'
  | 'channels'
  | 'changes'
  | 'heartbeats';

export interface RemovedRest {
  readonly counts: Readonly<Record<RestKind, number>>;
  readonly completed: boolean;
}

/** Everything that ages by itself, beside the history of CronJobs (storage.md section 7). Live alerts, messages on their way and silences in force stay. */
export async function pruneRest(store: Store, limits: BatchLimits, cutoffs: RestCutoffs): Promise<RemovedRest> {
  const batches = new Batches(store, limits);
  // What grows fastest first: it goes even where the time is short.
  const changes = await batches.repeat((tx) => forgetChanges(tx, cutoffs.changesBefore));
  const heartbeats = await batches.inTransaction((tx) => forgetHeartbeats(tx, cutoffs.heartbeatsBefore));
  const alerts = await pruneAlerts(batches, cutoffs.alertsBefore);
  const messages = await pruneMessages(store, batches, {
    from: cutoffs.payloadsFrom,
    endedBefore: cutoffs.payloadsBefore,
  });
  const loose = await pruneLooseEnds(store, batches, cutoffs.alertsBefore);
  const silences = await pruneSilences(batches, cutoffs.silencesBefore);
  const rollups = await pruneRollups(batches, cutoffs.rollupsBeforeDay);
  const specEpochs = await pruneEpochs(batches, cutoffs.runsBefore);
  const templates = await pruneTemplates(batches, cutoffs.templatesBefore);
  const looseEvidence = await pruneLooseEvidence(batches, cutoffs.runsBefore);
  const objects = await pruneCatalog(batches, cutoffs.objectsBefore);
  return {
    counts: {
      alerts: alerts.alerts,
      deliveries: alerts.deliveries + messages.tests + loose.deliveries,
      decisions: alerts.decisions + loose.decisions,
      payloads: messages.payloads,
      silences,
      rollups,
      specEpochs,
      templates,
      looseEvidence,
      ...objects,
      changes,
      heartbeats,
    },
    completed: batches.completed,
  };
}
