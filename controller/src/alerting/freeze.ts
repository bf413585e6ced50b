import type { Ref } from '@cronjob-monitor/shared/contract';
import {
  type AlertFacts,
  type AlertFinding,
  type AlertMessage,
  type AlertRecord,
  closeCauseInWords,
  type Closing,
  closingTitleOf,
  type Fault,
  type Finding,
  firstNoticeTitleOf,
  type FrozenMessage,
  headingOf,
  type HeldBefore,
  type Instant,
  isAboutAlert,
  type Message,
  type MessageAlert,
  type MessageContext,
  type MessageCronJob,
  type MessageEvidence,
  type MessageJob,
  type MessageLinks,
  nameFinding,
  noEvidence,
  refText,
  shortIdOf,
  spanInWords,
  titleOf,
  toAlertFacts,
  toSafeMessage,
} from '@cronjob-monitor/shared/domain';

export interface MessageRequest {
  readonly kind: 'firing' | 'reminder' | 'flapping' | 'closing';
  /** The alert as the transaction stores it with this message. */
  readonly alert: AlertRecord;
  readonly finding: Pick<AlertFinding, 'monitor' | 'cronJob' | 'verdict'>;
  /** Number of the decision to tell, from 1 on. */
  readonly notification: number;
  readonly held: HeldBefore | undefined;
  /** Evidence of the alert's run; undefined: none is stored, or the message is only about the end of the alert. */
  readonly evidence?: MessageEvidence | undefined;
  /** A closing that is the first message of its channel, so it tells the beginning and the end. */
  readonly isFirstNotice?: boolean | undefined;
  /** Evidence of the alert's run is still being taken. */
  readonly awaitsEvidence?: boolean | undefined;
  readonly at: Instant;
}

/** Words a message from values alone, without input or output: a transaction calls it, and calls it again when it is retried. */
export type FreezeMessage = (request: MessageRequest) => FrozenMessage;

/** What a message says of a CronJob besides its name. */
export interface ToldCronJob {
  readonly schedule: string;
  readonly timeZone: string | undefined;
  readonly lastSuccessAt: Instant | undefined;
  readonly nextRunAt: Instant | undefined;
  /** Annotation `cronjob-monitor.io/runbook`. */
  readonly runbook: string | undefined;
}

export interface FreezeDeps {
  /** `cluster.name`. */
  readonly clusterName: string | undefined;
  /** `ui.external-url`; without it messages have no links. */
  readonly externalUrl: string | undefined;
  /** Reads the caches; undefined: the CronJob is deleted. */
  readonly findCronJob: (uid: string) => ToldCronJob | undefined;
  /** The owner, also of a deleted CronJob that is remembered. Absent: no owners are configured. */
  readonly ownerOf?: (cronJob: Ref) => string | undefined;
}

/** Words messages from the alert, its finding and the caches; unknown values are null (alerting.md section 10). */
export function createFreeze(deps: FreezeDeps): FreezeMessage {
  return (request) => {
    const facts = toAlertFacts(request.alert.context);
    const whole: Message = { kind: request.kind, data: wordMessage(request, facts, deps) };
    const message = toSafeMessage(whole);
    return {
      message,
      heading: headingOf(message),
      place: facts.place ?? null,
      jobUid: facts.jobUid,
      owner: deps.ownerOf?.(request.finding.cronJob),
    } satisfies FrozenMessage;
  };
}

/** The frozen message with newer evidence; all other fields stay. */
export function withLearned(
  frozen: FrozenMessage,
  facts: AlertFacts,
  evidence: MessageEvidence,
  fault?: Fault,
): FrozenMessage {
  const { message } = frozen;
  if (!isAboutAlert(message)) return frozen;
  const alert = fault ? { ...message.data.alert, ...fault, scope: fault.scope ?? null } : message.data.alert;
  const data = { ...message.data, alert, context: contextOf(facts, evidence) };
  return {
    ...frozen,
    message: toSafeMessage({ kind: message.kind, data }),
    place: facts.place ?? null,
  };
}

/** The context known as the message is written; evidence that arrives in time replaces it. */
function contextAtOnce({ finding: { verdict }, evidence, awaitsEvidence }: MessageRequest, facts: AlertFacts) {
  const awaited = verdict.kind === 'holds' ? verdict.awaited : undefined;
  const known = evidence ?? (awaited && { ...noEvidence, pods: awaited.pods });
  return { ...contextOf(facts, known), pending: awaited !== undefined || awaitsEvidence === true };
}

function contextOf(facts: AlertFacts, evidence: MessageEvidence | undefined): MessageContext {
  return {
    ...(evidence ?? noEvidence),
    pending: false,
    suggestedFix: facts.suggestedFix ?? null,
    logsUnavailable: evidence?.logs == null ? (evidence?.logsUnavailable ?? facts.logsUnavailable ?? null) : null,
    changes: facts.changes ?? null,
  };
}

function wordMessage(request: MessageRequest, facts: AlertFacts, deps: FreezeDeps): AlertMessage {
  const { finding } = request;
  const { cronJob, monitor } = finding;
  const told = deps.findCronJob(cronJob.uid);
  return {
    cluster: deps.clusterName ?? null,
    alert: alertOf(request, facts),
    monitor: { namespace: monitor.namespace, name: monitor.name },
    cronjob: cronJobOf(cronJob, told),
    job: jobOf(facts),
    context: contextAtOnce(request, facts),
    links: linksOf(request, facts, told, deps.externalUrl),
  };
}

function alertOf(request: MessageRequest, facts: AlertFacts): MessageAlert {
  const { kind, alert, held, at } = request;
  const isFirstNotice = request.isFirstNotice === true;
  const heldSeconds = held === undefined ? 0 : Math.max(0, Math.floor((at - held.sinceAt) / 1_000));
  return {
    id: alert.id,
    shortId: shortIdOf(alert.id),
    type: alert.type,
    subject: alert.subject ?? null,
    severity: alert.severity,
    state: alert.state,
    title: kind === 'closing' ? closingTitle(request, facts) : firingTitle(alert, facts),
    message: kind === 'closing' ? closingMessage(request) : alert.message,
    since: toWire(alert.sinceAt),
    detectedAt: toWire(alert.detectedAt),
    endedAt: toWireOrNull(isFirstNotice ? endOf(request) : alert.endedAt),
    closeCause: alert.closeCause ?? null,
    cause: alert.fault?.cause ?? null,
    scope: alert.fault?.scope ?? null,
    occurrences: alert.count,
    notification: request.notification,
    // A hold of zero seconds only asks whether a storm begins; messages do not mention it.
    heldBy: heldSeconds > 0 ? (held?.by ?? null) : null,
    heldSeconds,
    // A late beginning makes a closing late only where the closing is the first notice.
    delayed: alert.delayed && (kind !== 'closing' || isFirstNotice),
    flapping: kind === 'flapping' || alert.flappingUntil !== undefined,
    firstNotice: isFirstNotice,
  };
}

function firingTitle(alert: AlertRecord, facts: AlertFacts): string {
  const cronjob = { namespace: alert.namespace, name: alert.cronJobName };
  const finding = foundOf(alert, facts);
  if (finding !== undefined) return titleOf(alert.severity, cronjob, finding);
  const what = nameFinding(alert.type, alert.subject);
  return `${alert.severity.toUpperCase()} ${refText(cronjob)}: ${what}`;
}

/** The finding as the alert stores it; undefined: another version wrote the alert. */
function foundOf({ type, subject, figures }: AlertRecord, { verdict }: AlertFacts): Finding | undefined {
  if (verdict === undefined) return undefined;
  const known = { measured: undefined, limit: undefined, unit: undefined, ...(figures as object | undefined) }; // as toHolding made them
  return { type, subject, figures: known, ...verdict };
}

function closingTitle({ alert, finding, at, isFirstNotice }: MessageRequest, facts: AlertFacts): string {
  const closing: Closing = {
    cronjob: { namespace: alert.namespace, name: alert.cronJobName },
    type: alert.type,
    subject: alert.subject,
    state: alert.state === 'expired' ? 'expired' : 'resolved',
    closeCause: alert.closeCause,
    sinceAt: alert.sinceAt,
    endedAt: alert.endedAt ?? at,
  };
  if (isFirstNotice !== true) return closingTitleOf(closing);
  return firstNoticeTitleOf({
    ...closing,
    finding: foundOf(alert, facts),
    failedAt: alert.type === 'jobFailed' ? facts.run?.finishedAt : undefined,
    succeededAt: byEndedAtOf(finding),
    timeZone: facts.verdict?.timeZone ?? 'UTC',
  });
}

/** How long the alert lasted, what ended it, and what it was about. */
function closingMessage({ alert, finding, at, isFirstNotice }: MessageRequest): string {
  const lasted = spanInWords((endOf({ alert, finding, at, isFirstNotice }) - alert.sinceAt) / 1_000);
  const { verdict } = finding;
  const by = verdict.kind === 'quiet' ? verdict.by : undefined;
  const ended =
    alert.state === 'expired'
      ? `It cannot be judged any more${alert.closeCause === undefined ? '' : ` (${closeCauseInWords(alert.closeCause)})`}, after ${lasted}.`
      : `It ended${by === undefined ? '' : ` with run ${by}`} after ${lasted}.`;
  if (isFirstNotice !== true) return `${ended} It was: ${alert.message}`;
  const hasPassed = (alert.endedAt ?? at) < alert.detectedAt;
  const why = hasPassed ? 'it had ended when it was found' : 'what held it back lasted longer than it did';
  return `${alert.message} ${ended} This is the first message about it: ${why}.`;
}

/** An alert that one message tells whole lasted until the run that cleared it ended, whenever the service noticed. */
function endOf({
  alert,
  finding,
  at,
  isFirstNotice,
}: Pick<MessageRequest, 'alert' | 'finding' | 'at' | 'isFirstNotice'>): Instant {
  const byEndedAt = isFirstNotice === true ? byEndedAtOf(finding) : undefined;
  return Math.max(byEndedAt ?? alert.endedAt ?? at, alert.sinceAt);
}

function byEndedAtOf({ verdict }: Pick<AlertFinding, 'verdict'>): Instant | undefined {
  return verdict.kind === 'quiet' ? verdict.byEndedAt : undefined;
}

function cronJobOf(
  { namespace, name, uid, lastSuccessAt }: MessageRequest['finding']['cronJob'],
  told: ToldCronJob | undefined,
): MessageCronJob {
  return {
    namespace,
    name,
    uid,
    // A group of Jobs has no schedule.
    schedule: told?.schedule || null,
    timezone: told?.timeZone ?? null,
    lastSuccess: toWireOrNull(told?.lastSuccessAt ?? lastSuccessAt),
    nextRun: toWireOrNull(told?.nextRunAt),
  };
}

/** Null: the alert is about no run. */
function jobOf({ jobName, exitCode, reason, run }: AlertFacts): MessageJob | null {
  if (jobName === undefined) return null;
  return {
    name: jobName,
    trigger: run?.trigger ?? null,
    scheduledTime: toWireOrNull(run?.scheduledAt),
    startTime: toWireOrNull(run?.startedAt),
    completionTime: toWireOrNull(run?.finishedAt),
    durationSeconds: run?.durationMs === undefined ? null : run.durationMs / 1_000,
    exitCode: exitCode ?? null,
    reason: reason ?? null,
    attempts: run?.attempts ?? null,
  };
}

function linksOf(
  { alert, finding }: MessageRequest,
  { jobName }: AlertFacts,
  told: ToldCronJob | undefined,
  externalUrl: string | undefined,
): MessageLinks {
  const runbook = told?.runbook ?? null;
  if (externalUrl === undefined) return { cronjob: null, alert: null, execution: null, runbook };
  const base = externalUrl.replace(/\/+$/, '');
  const page = (...parts: readonly string[]): string => [base, ...parts.map(encodeURIComponent)].join('/');
  const { namespace, name } = finding.cronJob;
  return {
    cronjob: page('cronjobs', namespace, name),
    alert: page('alerts', alert.id),
    execution: jobName === undefined ? null : page('cronjobs', namespace, name, 'runs', jobName),
    runbook,
  };
}

function toWire(at: Instant): string {
  return new Date(at).toISOString();
}

function toWireOrNull(at: Instant | undefined): string | null {
  return at === undefined ? null : toWire(at);
}
