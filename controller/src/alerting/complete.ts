import {
  dedupKeyOf,
  isAboutAlert,
  isCompletable,
  keepEnd,
  inBytes,
  toAlertFacts,
  toMessageEvidence,
  updateKeptMs,
  withEvidence,
  type AlertEvidenceFacts,
  type Attempt,
  type Evidence,
  type Fault,
  type FailurePlace,
  type FrozenMessage,
  type Instant,
  toMessagePods,
  withoutAbsent,
  type AwaitedEvidence,
  eventsIn,
} from '@cronjob-monitor/shared/domain';
import {
  cronJobIdsOf,
  insertDelivery,
  listAlertsOfRuns,
  listIncomplete,
  listRoutedChannels,
  lockCronJobs,
  newId,
  packEvidence,
  recordDecisions,
  releaseWaiting,
  replaceEvidence,
  updateAlertContexts,
  updateExecutionFaults,
  updateExecutionFixes,
  type AlertOfRun,
  type AlertRecord,
  type IncompleteMessage,
  type PackedEvidence,
  type RoutedChannel,
  type Store,
  type Tx,
} from '@cronjob-monitor/shared/store';
import type { AlertPodStatus, ExecutionChange, Ref } from '@cronjob-monitor/shared/contract';
import { withLearned } from './freeze.ts';

interface IncludedContext {
  readonly logs: boolean;
  readonly logLines: number;
  readonly includeInitContainerLogs: boolean;
  readonly events: boolean;
  readonly podStatus: boolean;
  readonly suggestedFixes: boolean;
}

/** Evidence and explanations that were read of a run after its alerts had been raised. */
export interface LearnedOfRun {
  readonly cronJobUid: string;
  readonly jobUid: string;
  /** Creation of the Job. */
  readonly createdAt: Instant;
  /** The log that explains the run, or why that log is missing; undefined: no log was worth reading. */
  readonly log: Evidence | undefined;
  readonly initLogs: readonly Evidence[];
  readonly events: Evidence | undefined;
  readonly attempts: Evidence | undefined;
  readonly podStatus: AlertPodStatus | undefined;
  readonly place: FailurePlace | undefined;
  readonly changes: readonly ExecutionChange[] | undefined;
  /** The fault that all evidence shows; undefined: the evidence adds nothing to what the row says. */
  readonly fault: Fault | undefined;
  /** The decisive lines of its logs; undefined: the run goes on, or its logs are empty. */
  readonly decisive: Evidence | undefined;
  /** The suggestion for the run's own row. */
  readonly fix: string | undefined;
  /** The suggestion by this monitor's patterns. */
  readonly fixOf: (monitor: Ref) => string | undefined;
  /** Undefined: the monitor is deleted, or includes no context. */
  readonly includeOf: (monitor: Ref) => IncludedContext | undefined;
}

/** Bytes of one log that an alert stores at most. */
const mostLogBytes = 64 * 1024;
const mostEvents = 20;

/**
 * Adds the explanations of these runs to the alerts that are about them, as far as the monitors include them. Messages that waited leave at
 * once with the explanation. A message that left without it gets an update where the channel can change a message; a message about another run
 * stays as it is. The first evidence of a run wins. Returns how many messages leave now, updates among them.
 */
// oxlint-disable-next-line max-params -- where, for which leader, what was learned, and the alerts, where they are known
export async function completeAlerts(
  store: Store,
  epoch: number,
  explained: readonly LearnedOfRun[],
  alerts?: readonly AlertOfRun[],
): Promise<number> {
  const ofRun = new Map(explained.map((learned) => [learned.jobUid, learned]));
  const gains = new Map<string, Gain>();
  for (const found of alerts ?? (await listAlertsOfRuns(store, explained))) {
    const learned = ofRun.get(found.jobUid);
    const gain = learned && gainOf(found, learned);
    if (gain) gains.set(keyOf(found), gain);
  }
  const fixes = explained.flatMap(({ jobUid, fix }) => (fix === undefined ? [] : [{ jobUid, fix }]));
  const faults = explained.flatMap(({ jobUid, fault }) => (fault === undefined ? [] : [{ jobUid, fault }]));
  if (gains.size === 0 && fixes.length === 0 && faults.length === 0) return 0;
  const packed = await packEvidence([...gains.values()].flatMap(({ pieces }) => pieces));
  return store.fenced(epoch, async (tx) => {
    const runs = explained.filter(({ jobUid }) => [...gains.values()].some((gain) => gain.jobUid === jobUid));
    const cronJobUids = runs.map(({ cronJobUid }) => cronJobUid);
    await lockCronJobs(tx, [...(await cronJobIdsOf(tx, cronJobUids)).values()]);
    await updateExecutionFixes(tx, fixes);
    await updateExecutionFaults(tx, faults);
    const found = await listAlertsOfRuns(tx, runs);
    const completed = found.flatMap((of): Completed[] => {
      const gain = gains.get(keyOf(of));
      return gain === undefined ? [] : [{ alert: of.alert, gain }];
    });
    return keepGains(tx, completed, packed);
  });
}

const keyOf = ({ alert, jobUid }: AlertOfRun): string => `${alert.id} ${jobUid}`;

/** Whether the alert already has the explanation of this run. */
export function isExplainedBy({ context }: Pick<AlertRecord, 'context'>, jobUid: string): boolean {
  return toAlertFacts(context).evidenceOf === jobUid;
}

interface Gain {
  readonly jobUid: string;
  readonly facts: AlertEvidenceFacts;
  readonly fault: Fault | undefined;
  readonly pieces: readonly Evidence[];
}

/** Undefined: the monitor includes no context, or the alert has it already. */
function gainOf({ alert, monitor, jobUid }: AlertOfRun, learned: LearnedOfRun): Gain | undefined {
  const include = learned.includeOf(monitor);
  if (include === undefined || isExplainedBy(alert, jobUid)) return undefined;
  const pieces = piecesOf(alert.id, include, learned);
  return { jobUid, facts: factsOf(monitor, include, learned), fault: learned.fault, pieces };
}

interface Completed {
  readonly alert: AlertRecord;
  readonly gain: Gain;
}

/** Writes all gains with as many statements as one gain takes. Returns how many messages leave now, updates among them. */
async function keepGains(tx: Tx, completed: readonly Completed[], packed: PackedEvidence): Promise<number> {
  if (completed.length === 0) return 0;
  const ids = completed.map(({ alert }) => alert.id);
  const gained = new Set(completed.flatMap(({ gain }) => gain.pieces));
  await replaceEvidence(
    tx,
    ids,
    packed.filter(([piece]) => gained.has(piece)),
  );
  await updateAlertContexts(
    tx,
    completed.map(({ alert: { id, context }, gain: { facts, fault } }) => ({
      id,
      context: withEvidence(context, facts),
      fault,
    })),
  );
  return (await releaseWaiting(tx, ids)) + (await insertUpdates(tx, completed));
}

/** Writes updates of messages that left without the evidence, where their channels can be completed. */
async function insertUpdates(tx: Tx, completed: readonly Completed[]): Promise<number> {
  const channels = [...(await listRoutedChannels(tx)).values()].filter(isCompletable);
  if (channels.length === 0) return 0;
  const of = new Map(completed.map((one) => [one.alert.id, one]));
  const alerts = completed.map(({ alert, gain }) => ({ alertId: alert.id, jobUid: gain.jobUid }));
  let inserted = 0;
  for (const message of await listIncomplete(tx, alerts)) {
    const channel = channels.find(({ uid }) => uid === message.channelUid);
    const one = of.get(message.alertId);
    if (!channel || !one) continue;
    const { facts, fault, pieces } = one.gain;
    const evidence = toMessageEvidence(pieces, facts.place?.container);
    const freeze = (payload: FrozenMessage): FrozenMessage => withLearned(payload, facts, evidence, fault);
    if (await insertUpdate(tx, { alert: one.alert, channel, message, freeze })) inserted++;
  }
  return inserted;
}

/** Writes the update of a message that has left: behind that message in its stream, under a key of its own. */
async function insertUpdate(
  tx: Tx,
  of: {
    readonly alert: AlertRecord;
    readonly channel: RoutedChannel;
    readonly message: IncompleteMessage;
    readonly freeze: (payload: FrozenMessage) => FrozenMessage;
  },
): Promise<boolean> {
  const { channel, freeze } = of;
  const { id: alertId, cronJobId } = of.alert;
  const { streamId, seq, severity, notifyNo, payload } = of.message;
  const now = tx.now();
  const id = newId(now);
  const frozen = freeze(payload);
  if (!isAboutAlert(frozen.message)) return false;
  const isNew = await insertDelivery(tx, {
    id,
    streamId,
    seq: seq + 1,
    alertId,
    channel,
    kind: 'update',
    severity,
    state: 'ready',
    dedupKey: dedupKeyOf({ alertId, kind: 'update', notifyNo, channelUid: channel.uid }),
    notifyNo,
    nextAt: now,
    createdAt: now,
    expiresAt: now + updateKeptMs,
    payload: { ...frozen, message: { kind: 'update', data: frozen.message.data } },
  });
  const deliveryId = { deliveryId: id, channelUid: channel.uid };
  if (isNew) await recordDecisions(tx, [{ action: 'queued', reason: 'update', alertId, cronJobId, ...deliveryId }]);
  return isNew;
}

function factsOf(monitor: Ref, include: IncludedContext, learned: LearnedOfRun): AlertEvidenceFacts {
  const { log, events, podStatus, place, changes, jobUid } = learned;
  return {
    evidenceOf: jobUid,
    suggestedFix: include.suggestedFixes ? learned.fixOf(monitor) : undefined,
    podStatus: include.podStatus ? podStatus : undefined,
    hasLogs: include.logs ? log?.body !== undefined : undefined,
    hasEvents: include.events ? events?.body !== undefined : undefined,
    logsUnavailable: include.logs && log?.body === undefined ? (log?.unavailable ?? 'podGone') : undefined,
    changes,
    place,
  };
}

/** The evidence to store with the alert, in the form in which a run stores it. */
function piecesOf(alertId: string, include: IncludedContext, learned: LearnedOfRun): Evidence[] {
  const { log, initLogs, events, attempts } = learned;
  const logs = [...(include.includeInitContainerLogs ? initLogs : []), ...(log ? [log] : [])];
  return [
    ...(include.logs ? logs.map((one) => lastLines(one, include.logLines)) : []),
    ...(include.events && events ? [lastEvents(events)] : []),
    ...(include.podStatus && attempts ? [attempts] : []),
  ].map((piece) => ({ ...piece, owner: alertId }));
}

function lastLines(log: Evidence, most: number): Evidence {
  if (log.body === undefined) return log;
  const lines = log.body.split('\n');
  const isEnded = lines.at(-1) === '';
  const kept = lines.slice(-(isEnded ? most + 1 : most)).join('\n');
  const body = keepEnd(kept, mostLogBytes, inBytes);
  return { ...log, body, truncated: log.truncated || body.length < log.body.length };
}

function lastEvents(events: Evidence): Evidence {
  if (events.body === undefined) return events;
  const all = eventsIn([events]);
  return { ...events, body: JSON.stringify(all.slice(-mostEvents)), truncated: all.length > mostEvents };
}

/** The pod status that the API shows: of the last failed attempt, else of the last attempt. */
export function podStatusOf(attempts: readonly Attempt[]): AlertPodStatus | undefined {
  const pod = attempts.findLast(({ phase }) => phase !== 'Succeeded') ?? attempts.at(-1);
  if (pod === undefined) return undefined;
  const told = pod.containers.findLast(({ reason }) => reason !== undefined);
  const isWaiting = told !== undefined && told.exitCode === undefined;
  return {
    phase: pod.phase,
    reason: pod.reason ?? (isWaiting ? null : (told?.reason ?? null)),
    node: pod.node ?? null,
    restarts: pod.containers.reduce((sum, { restarts }) => sum + restarts, 0),
    waiting: isWaiting ? (told.reason ?? null) : null,
  };
}

/** Facts about a run that are in memory while its evidence is still being read. */
export interface KnownOfRun {
  /** `evidence.message-wait`. */
  readonly messageWaitMs: number;
  /** Oldest first. */
  readonly attempts: readonly Attempt[];
  readonly place: FailurePlace | undefined;
  /** The suggestion by exit codes and reasons alone, with the patterns of this monitor. */
  readonly fixOf: (monitor: Ref) => string | undefined;
}

/** The part of these facts that a monitor includes: for the alert, and for its first message. */
export interface ToldAtOnce {
  readonly facts: AlertEvidenceFacts;
  readonly awaited: AwaitedEvidence;
}

/** `include` undefined: the whole context. */
export function toldAtOnce(
  known: KnownOfRun,
  monitor: Ref,
  include: { readonly podStatus: boolean; readonly suggestedFixes: boolean } | undefined,
): ToldAtOnce {
  const attempts = include?.podStatus === false ? [] : known.attempts;
  return {
    facts: withoutAbsent({
      podStatus: podStatusOf(attempts),
      suggestedFix: include?.suggestedFixes === false ? undefined : known.fixOf(monitor),
      place: known.place,
    }),
    awaited: { messageWaitMs: known.messageWaitMs, pods: attempts.length === 0 ? null : toMessagePods(attempts) },
  };
}
