import {
  closeCauseInWords,
  closingTitleOf,
  headingOf,
  nameFinding,
  noEvidence,
  shortIdOf,
  spanInWords,
  titleOf,
  toAlertFacts,
  toSafeMessage,
  type AlertFacts,
  type AlertMessage,
  type FrozenMessage,
  type Instant,
  type Message,
  type MessageAlert,
  type MessageContext,
  type MessageCronJob,
  type MessageEvidence,
  type MessageJob,
  type MessageLinks,
} from '@cronjob-monitor/shared/domain';
import type { AlertRecord } from '@cronjob-monitor/shared/store';
import type { AlertFinding, MessageRequest, RaiseDeps } from './finding.ts';

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
  /** From memory; undefined: it is gone. */
  readonly findCronJob: (uid: string) => ToldCronJob | undefined;
}

/** Most of a log that a message carries, bytes: no receiver takes more. alerting.md section 10. */
export const maxFrozenLogBytes = 16 * 1024;

/** Words messages from the alert, its finding and what is in memory. What is not known is null. alerting.md section 10. */
export function createFreeze(deps: FreezeDeps): RaiseDeps['freeze'] {
  return (request) => {
    const facts = toAlertFacts(request.alert.context);
    const whole: Message = { kind: request.kind, data: wordMessage(request, facts, deps) };
    const message = toSafeMessage(whole, maxFrozenLogBytes);
    return { message, heading: headingOf(message), place: facts.place ?? null } satisfies FrozenMessage;
  };
}

/** A message that is frozen already, with what was learned of its run since; it says the same of everything else. */
export function withLearned(frozen: FrozenMessage, facts: AlertFacts, evidence: MessageEvidence): FrozenMessage {
  const { message } = frozen;
  if (message.kind === 'digest' || message.kind === 'test') return frozen;
  const data = { ...message.data, context: contextOf(facts, evidence) };
  return {
    ...frozen,
    message: toSafeMessage({ kind: message.kind, data }, maxFrozenLogBytes),
    place: facts.place ?? null,
  };
}

/** A message that waits for its log says so, should it have to go without. What comes in time takes the place of this. */
function awaitsLogs({ verdict, rules }: AlertFinding): boolean {
  if (verdict.kind !== 'holds' || verdict.contextDueAt === undefined) return false;
  return rules.alerting?.includeContext?.logs === true;
}

function contextOf(facts: AlertFacts, evidence: MessageEvidence | undefined): MessageContext {
  return {
    ...(evidence ?? noEvidence),
    suggestedFix: facts.suggestedFix ?? null,
    logsUnavailable: evidence?.logs == null ? (evidence?.logsUnavailable ?? facts.logsUnavailable ?? null) : null,
    changes: facts.changes ?? null,
  };
}

function wordMessage(request: MessageRequest, facts: AlertFacts, deps: FreezeDeps): AlertMessage {
  const { finding, evidence } = request;
  const { cronJob, monitor } = finding;
  const told = deps.findCronJob(cronJob.uid);
  return {
    cluster: deps.clusterName ?? null,
    alert: alertOf(request, facts),
    monitor: { namespace: monitor.namespace, name: monitor.name },
    cronjob: cronJobOf(cronJob, told),
    job: jobOf(facts),
    context: contextOf(awaitsLogs(finding) ? { logsUnavailable: 'timeout', ...facts } : facts, evidence),
    links: linksOf(request, facts, told, deps.externalUrl),
  };
}

function alertOf(request: MessageRequest, facts: AlertFacts): MessageAlert {
  const { kind, alert, held, at } = request;
  return {
    id: alert.id,
    shortId: shortIdOf(alert.id),
    type: alert.type,
    subject: alert.subject ?? null,
    severity: alert.severity,
    state: alert.state,
    title: kind === 'closing' ? closingTitle(alert, at) : firingTitle(alert, facts),
    message: kind === 'closing' ? closingMessage(request) : alert.message,
    since: toWire(alert.sinceAt),
    detectedAt: toWire(alert.detectedAt),
    endedAt: toWireOrNull(alert.endedAt),
    closeCause: alert.closeCause ?? null,
    occurrences: alert.count,
    notification: request.notification,
    heldBy: held?.by ?? null,
    heldSeconds: held === undefined ? 0 : Math.max(0, Math.floor((at - held.sinceAt) / 1_000)),
    delayed: alert.delayed,
    flapping: kind === 'flapping' || alert.flappingUntil !== undefined,
  };
}

function firingTitle(alert: AlertRecord, { verdict }: AlertFacts): string {
  const cronjob = { namespace: alert.namespace, name: alert.cronJobName };
  if (verdict === undefined) {
    const what = nameFinding(alert.type, alert.subject);
    return `${alert.severity.toUpperCase()} ${cronjob.namespace}/${cronjob.name}: ${what}`;
  }
  const figures = { measured: undefined, limit: undefined, unit: undefined, ...(alert.figures as object | undefined) }; // as toHolding made them
  return titleOf(alert.severity, cronjob, { type: alert.type, subject: alert.subject, figures, ...verdict });
}

function closingTitle(alert: AlertRecord, at: Instant): string {
  return closingTitleOf({
    cronjob: { namespace: alert.namespace, name: alert.cronJobName },
    type: alert.type,
    subject: alert.subject,
    state: alert.state === 'expired' ? 'expired' : 'resolved',
    closeCause: alert.closeCause,
    sinceAt: alert.sinceAt,
    endedAt: alert.endedAt ?? at,
  });
}

/** How long it lasted and what ended it, and what it was about. */
function closingMessage({ alert, finding, at }: MessageRequest): string {
  const lasted = spanInWords(((alert.endedAt ?? at) - alert.sinceAt) / 1_000);
  const { verdict } = finding;
  const by = verdict.kind === 'quiet' ? verdict.by : undefined;
  const ended =
    alert.state === 'expired'
      ? `It cannot be judged any more${alert.closeCause === undefined ? '' : ` (${closeCauseInWords(alert.closeCause)})`}, after ${lasted}.`
      : `It ended${by === undefined ? '' : ` with run ${by}`} after ${lasted}.`;
  return `${ended} It was: ${alert.message}`;
}

function cronJobOf(
  { namespace, name, uid }: MessageRequest['finding']['cronJob'],
  told: ToldCronJob | undefined,
): MessageCronJob {
  return {
    namespace,
    name,
    uid,
    schedule: told?.schedule ?? null,
    timezone: told?.timeZone ?? null,
    lastSuccess: toWireOrNull(told?.lastSuccessAt),
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

/** Addresses of the pages of the user interface. */
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
