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
import type { Outgoing } from '@cronjob-monitor/shared/domain';
import type { Cluster, Redaction } from '@cronjob-monitor/shared/kube';
import type { Clock } from '@cronjob-monitor/shared/process';
import type { Store, StoredSilence } from '@cronjob-monitor/shared/store';
import { acknowledge, unacknowledge, type AcknowledgeWish } from './acknowledge.ts';
import { deleteHistory, prune } from './prune.ts';
import { readOwnSettings, readRouteRules, type RouteRulesOf } from './own-settings.ts';
import { previewMonitor, suggestMonitorLimits, type PreviewSource, type PreviewWish } from './preview-monitor.ts';
import { type LogWish, readLogs, type ReadLog } from './read-logs.ts';
import { redrive } from './redrive.ts';
import { renderMessages } from './render-messages.ts';
import { changeSilence, createSilence, draftSilence, endSilence, type SilenceDraft } from './silence.ts';
import { searchLogs, type SearchThread, type SearchWish } from './search-logs.ts';
import { setSuspended } from './suspend.ts';
import { testChannel, type Sender, type TestWish } from './test-channel.ts';
import { testPattern, type PatternThread } from './test-pattern.ts';
import type { PatternQuestion } from './try-pattern.ts';
import { triggerCronJob, type TriggerWish } from './trigger.ts';

export { partBudgetMs, type SearchThread } from './search-logs.ts';
export type { SearchAnswer, SearchQuestion } from './search-program.ts';
export type { PreviewWish } from './preview-monitor.ts';
export type { SilenceDraft } from './silence.ts';
export type { PatternThread } from './test-pattern.ts';
export type { PatternAnswer, PatternQuestion } from './try-pattern.ts';

/** What changes something or leaves the store, bound to what it needs. */
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
  /** Who is told of what about these CronJobs, or about all. */
  readRouteRules(cronJobIds?: readonly number[]): Promise<RouteRulesOf>;
  /** What is in force for a CronJob, and who says so. */
  readOwnSettings(cronJobId: number): Promise<Pick<CronJobDetail, 'settings' | 'annotationProblems'>>;
}

/** A signal that never aborts. */
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
