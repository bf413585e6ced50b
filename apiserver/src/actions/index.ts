import type {
  ChannelTestResult,
  CronJobDetail,
  DeleteHistoryResult,
  LimitSuggestions,
  LogSearchResult,
  LogSource,
  MonitorPreview,
  PatternTestResult,
  PruneInput,
  PruneResult,
  Ref,
  RenderedMessage,
  SuspendResult,
  TriggerResult,
} from '@cronjob-monitor/shared/contract';
import { dayMs, mapTexts, objectOf, type Outgoing, renderMessage } from '@cronjob-monitor/shared/domain';
import { type Cluster, decodeChannelSpec, type Redaction } from '@cronjob-monitor/shared/kube';
import type { Clock } from '@cronjob-monitor/shared/process';
import {
  deleteHistory as deleteStored,
  findDelivery,
  pruneHistory,
  type Store,
  type StoredSilence,
  updateRedriven,
} from '@cronjob-monitor/shared/store';
import { acknowledge, type AcknowledgeWish, unacknowledge } from './acknowledge.ts';
import { readOwnSettings, readRouteRules, type RouteRulesOf } from './own-settings.ts';
import { previewMonitor, type PreviewSource, type PreviewWish, suggestMonitorLimits } from './preview-monitor.ts';
import { type LogWish, type ReadLog, readLogs } from './read-logs.ts';
import { changeSilence, createSilence, draftSilence, endSilence, type SilenceDraft } from './silence.ts';
import { searchLogs, type SearchThread, type SearchWish } from './search-logs.ts';
import { type Sender, testChannel, type TestWish } from './test-channel.ts';
import { type PatternThread, testPattern } from './test-pattern.ts';
import type { PatternQuestion } from './try-pattern.ts';
import { triggerCronJob, type TriggerWish } from './trigger.ts';
import { getPresentCronJob, throwClusterRefusal } from './present-cron-job.ts';
import { ApiError, notFound } from '../errors.ts';
import { toWireInstant } from '../wire-values.ts';

export { partBudgetMs, type SearchThread } from './search-logs.ts';
export type { SearchAnswer, SearchQuestion } from './search-program.ts';
export type { PreviewWish } from './preview-monitor.ts';
export type { SilenceDraft } from './silence.ts';
export type { PatternThread } from './test-pattern.ts';
export type { PatternAnswer, PatternQuestion } from './try-pattern.ts';

/** Operations that write or reach beyond the store, bound to their dependencies. */
export interface Actions {
  deleteHistory(cronJob: Ref): Promise<DeleteHistoryResult>;
  prune(input: Required<PruneInput>): Promise<PruneResult>;
  /** The signal aborts when its caller has gone. */
  readLogs(wish: LogWish, how: { readonly source: LogSource; readonly signal: AbortSignal }): Promise<ReadLog>;
  searchLogs(wish: SearchWish, signal: AbortSignal): Promise<LogSearchResult>;
  trigger(wish: TriggerWish): Promise<TriggerResult>;
  setSuspended(cronJob: Ref, suspended: boolean): Promise<SuspendResult>;
  acknowledge(wish: AcknowledgeWish): Promise<void>;
  unacknowledge(alertId: string, by: string): Promise<boolean>;
  /** The silence as it would be; nothing is kept. */
  draftSilence(draft: SilenceDraft): StoredSilence;
  createSilence(draft: SilenceDraft, id?: string): Promise<StoredSilence>;
  changeSilence(id: string, draft: SilenceDraft): Promise<StoredSilence>;
  endSilence(id: string): Promise<StoredSilence>;
  redrive(deliveryId: string, by: string): Promise<{ readonly changed: boolean }>;
  testChannel(wish: TestWish): Promise<ChannelTestResult>;
  /** Messages as a channel with this spec sends them; null: it cannot be used. */
  renderMessages(spec: unknown, outgoing: readonly Outgoing[]): Promise<readonly (RenderedMessage | null)[]>;
  testPattern(question: PatternQuestion): Promise<PatternTestResult>;
  previewMonitor(wish: PreviewWish): Promise<MonitorPreview>;
  /** Undefined: there is no such monitor. */
  suggestLimits(wish: Omit<PreviewWish, 'spec' | 'days'>): Promise<LimitSuggestions | undefined>;
  /** Routing rules of these CronJobs, or of all. */
  readRouteRules(cronJobIds?: readonly number[]): Promise<RouteRulesOf>;
  /** Settings in force for a CronJob, each with its source. */
  readOwnSettings(cronJobId: number): Promise<Pick<CronJobDetail, 'settings' | 'annotationProblems'>>;
}

const never = new AbortController().signal;

export function createActions(deps: {
  readonly store: Store;
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly settings: Sender['settings'] & PreviewSource['settings'];
  readonly patternThread: PatternThread;
  readonly searchThread: SearchThread;
  readonly redaction: Pick<Redaction, 'log' | 'messages'>;
}): Actions {
  const { store } = deps;
  return {
    deleteHistory: (cronJob) => deleteHistory(store, cronJob),
    prune: (input) => prune(store, input),
    readLogs: (wish, how) => readLogs(deps, wish, how),
    searchLogs: (wish, signal) => searchLogs(deps, wish, signal),
    // Every call to the cluster has a time limit of its own.
    trigger: (wish) => triggerCronJob(deps, wish, never),
    setSuspended: (cronJob, suspended) => setSuspended(deps.cluster, cronJob, suspended, never),
    acknowledge: (wish) => acknowledge(store, wish),
    unacknowledge: (alertId, by) => unacknowledge(store, alertId, by),
    draftSilence: (draft) => draftSilence(draft, store.now()),
    createSilence: (draft, id) => createSilence(store, draft, id),
    changeSilence: (id, draft) => changeSilence(store, id, draft),
    endSilence: (id) => endSilence(store, id),
    redrive: (deliveryId, by) => redrive(store, deliveryId, by),
    testChannel: (wish) => testChannel(deps, wish),
    renderMessages: (spec, outgoing) => renderMessages(deps, spec, outgoing),
    testPattern: (question) => testPattern(deps.patternThread, question),
    previewMonitor: (wish) => previewMonitor(deps, wish),
    suggestLimits: (wish) => suggestMonitorLimits(deps, wish),
    readRouteRules: (cronJobIds) => readRouteRules(deps, cronJobIds),
    readOwnSettings: (cronJobId) => readOwnSettings(deps, cronJobId),
  };
}

/** Suspends or resumes a CronJob. When it is so already nothing is written. */
async function setSuspended(
  cluster: Cluster,
  key: Ref,
  suspended: boolean,
  signal: AbortSignal,
): Promise<SuspendResult> {
  const cronJob = await getPresentCronJob(cluster, key, signal);
  const isSo = (objectOf(cronJob['spec'])['suspend'] === true) === suspended;
  if (!isSo) {
    await cluster
      .setSuspended(key, suspended, signal)
      .catch((error: unknown) =>
        throwClusterRefusal(error, { verb: 'patch', resource: 'cronjobs', namespace: key.namespace }),
      );
  }
  return { success: true, message: messageOf(suspended, isSo), suspended, changed: !isSo };
}

function messageOf(suspended: boolean, wasSo: boolean): string {
  if (wasSo) return suspended ? 'Suspended already' : 'Not suspended';
  return suspended ? 'Suspended' : 'Resumed';
}

/** Sends a message again that was given up or is parked. `changed` false: it waits or is being sent already. */
async function redrive(store: Store, id: string, by: string): Promise<{ readonly changed: boolean }> {
  if (await store.transaction((tx) => updateRedriven(tx, id, by))) return { changed: true };
  const delivery = await findDelivery(store, id);
  if (!delivery) throw notFound('Delivery', id, 'neverSeen');
  const { state } = delivery;
  if (state === 'ready' || state === 'claimed') return { changed: false };
  const isLeft = state === 'dead' || state === 'parked';
  const lacks = delivery.kind === 'drill' ? 'its drill is over' : 'what it said is no longer kept';
  const why = isLeft ? lacks : `it is ${state}`;
  throw new ApiError('NOT_REDRIVABLE', `The delivery cannot be sent again: ${why}`, { details: { state } });
}

/** One call deletes for this long at most; the next call goes on. */
const budgetMs = 25_000;

/** Removes history older than `olderThanDays`, or counts it by the same predicate. */
async function prune(store: Store, input: Required<PruneInput>): Promise<PruneResult> {
  const { olderThanDays, dryRun, pruneLogsOnly } = input;
  const cutoff = store.now() - olderThanDays * dayMs;
  const removed = await pruneHistory(store, { before: cutoff, evidenceOnly: pruneLogsOnly, dryRun, budgetMs });
  const deletedCount = pruneLogsOnly ? 0 : removed.executions;
  const what = pruneLogsOnly ? `${removed.logs} logs` : `${deletedCount} executions`;
  return {
    success: true,
    dryRun,
    pruneLogsOnly,
    olderThanDays,
    cutoff: toWireInstant(cutoff),
    deletedCount,
    logsDeleted: removed.logs,
    eventsDeleted: removed.events,
    slotsDeleted: removed.slots,
    message: `${what} ${dryRun ? 'would be deleted' : removed.completed ? 'deleted' : 'deleted, more are left'}`,
    completed: removed.completed,
  };
}

/** Removes all history of a name for good. Jobs that are still in the cluster are not recorded again. */
async function deleteHistory(store: Store, { namespace, name }: Ref): Promise<DeleteHistoryResult> {
  const removed = await deleteStored(store, { namespace, name }, { budgetMs });
  return {
    success: true,
    deletedCount: removed.executions,
    message: removed.completed ? `${removed.executions} deleted` : `${removed.executions} deleted, more are left`,
    completed: removed.completed,
  };
}

/**
 * Messages as the channel with this spec would send them. Texts are redacted once more by the expressions in force now, since a message
 * may be older than they are. Null: the spec cannot be used, so nothing is sent.
 */
async function renderMessages(
  { redaction }: { readonly redaction: Pick<Redaction, 'messages'> },
  spec: unknown,
  outgoing: readonly Outgoing[],
): Promise<readonly (RenderedMessage | null)[]> {
  const { spec: target } = decodeChannelSpec({ spec });
  if (!target) return outgoing.map(() => null);
  return Promise.all(
    outgoing.map(async (one) => {
      const message = await redacted(redaction, one.message);
      const heading = await redacted(redaction, one.heading);
      return renderMessage({ ...one, message, heading }, target);
    }),
  );
}

/** The same value with its texts redacted; names of fields stay. */
async function redacted<Value>(redaction: Pick<Redaction, 'messages'>, value: Value): Promise<Value> {
  const texts: string[] = [];
  mapTexts(value, (text) => {
    texts.push(text);
    return text;
  });
  const safe = await redaction.messages(texts);
  let index = 0;
  return mapTexts(value, () => safe[index++] ?? '') as Value; // the same shape: only texts differ
}
