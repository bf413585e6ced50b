import type { AlertSubject, AlertType, MessageSeverity, Ref, Severity } from '../../contract/index.ts';
import { refText } from '../../contract/wording.ts';
import type { Instant } from '../instant.ts';
import { describeEnded, describeFinding, endInWords } from '../alert-types/index.ts';
import { nameFinding } from '../alert-types/traits.ts';
import type { Finding } from '../alert-types/finding.ts';
import type { AlertMessage, DigestMessage, Heading, Message } from './message.ts';
import { counted, spanInWords, timeOn, toLocalTime } from './wording.ts';

/** Title of a message about something that holds: `WARNING prod/nightly: run failed, exit 137 (OOMKilled), 3rd in a row`. */
export function titleOf(severity: Severity, cronjob: Ref, finding: Finding): string {
  return `${severity.toUpperCase()} ${refText(cronjob)}: ${describeFinding(finding)}`;
}

/** An alert that has ended. */
export interface Closing {
  readonly cronjob: Ref;
  readonly type: AlertType;
  readonly subject: AlertSubject | null | undefined;
  readonly state: 'resolved' | 'expired';
  /** Of an expired one. */
  readonly closeCause: string | null | undefined;
  readonly sinceAt: Instant;
  readonly endedAt: Instant;
}

/** `RESOLVED prod/nightly: job failed, after 3 h 12 min`, `CLOSED prod/nightly: job failed, CronJob deleted` */
export function closingTitleOf(closing: Closing): string {
  const { cronjob, type, subject, state, closeCause, sinceAt, endedAt } = closing;
  const what = `${refText(cronjob)}: ${nameFinding(type, subject)}`;
  if (state === 'resolved') return `RESOLVED ${what}, after ${spanInWords((endedAt - sinceAt) / 1_000)}`;
  return `CLOSED ${what}${closeCause == null ? '' : `, ${closeCauseInWords(closeCause)}`}`;
}

/** An alert that ended before a message about it had left. */
export interface FirstNotice extends Closing {
  /** What it was about; undefined: it is not known any more. */
  readonly finding: Finding | undefined;
  /** The newest run that failed had ended then; undefined: it is about no run, or that is not known. */
  readonly failedAt: Instant | undefined;
  /** End of the run that cleared it; undefined: no run did. */
  readonly succeededAt: Instant | undefined;
  /** Zone of the CronJob, IANA. */
  readonly timeZone: string;
}

/**
 * Both times of what began and ended unheard:
 * `RESOLVED prod/backup: run failed at 22:50, exit 3; succeeded again at 22:51 UTC`
 */
export function firstNoticeTitleOf(notice: FirstNotice): string {
  const { cronjob, type, subject, state, closeCause, finding, sinceAt, endedAt, failedAt, succeededAt, timeZone } =
    notice;
  const end = toLocalTime(succeededAt ?? endedAt, timeZone);
  const begin = timeOn(end.date, failedAt ?? sinceAt, timeZone);
  const what = finding === undefined ? `${nameFinding(type, subject)} at ${begin}` : describeEnded(finding, begin);
  const word = state === 'resolved' ? 'RESOLVED' : 'CLOSED';
  const ended = closeCause == null ? 'closed' : closeCauseInWords(closeCause);
  const how = state === 'expired' ? ended : endInWords({ type, subject }, succeededAt !== undefined);
  return `${word} ${refText(cronjob)}: ${what}; ${how} at ${end.time} ${end.zone}`;
}

const closeCauses: Readonly<Record<string, string>> = {
  cronJobDeleted: 'CronJob deleted',
  cronJobRecreated: 'CronJob created anew',
  monitorDeleted: 'monitor deleted',
  deselected: 'no longer selected',
  notConfigured: 'no longer configured',
  paused: 'CronJob suspended',
  noRuns: 'no runs in its window any more',
  namespaceDeleted: 'namespace deleted',
  forgotten: 'no Job of the group for a while',
};

/** Why an alert cannot be judged any more; an unknown cause is said as it is. */
export function closeCauseInWords(closeCause: string): string {
  return Object.hasOwn(closeCauses, closeCause) ? (closeCauses[closeCause] ?? closeCause) : closeCause;
}

/** The heading of a stream, from its first message: it does not change when the alert does. */
export function headingOf(message: Message): Heading {
  const severity = severityOf(message);
  if (message.kind === 'test') return { severity, text: `test of channel ${message.data.channel}` };
  if (message.kind === 'drill') return { severity, text: message.data.title };
  if (message.kind === 'digest') return { severity, text: digestInWords(message.data) };
  return { severity, text: nameAlert(message.data) };
}

/** One line that says all: the first a reader sees. */
export function titleOfMessage(message: Message): string {
  if (message.kind === 'test') return `TEST of channel ${message.data.channel}`;
  if (message.kind === 'drill') return message.data.title;
  if (message.kind === 'digest') return `${severityOf(message).toUpperCase()} ${digestInWords(message.data)}`;
  const { title, severity } = message.data.alert;
  return title === '' ? `${severity.toUpperCase()} ${nameAlert(message.data)}` : title;
}

/** Tests and drills are `info`, that a channel is not proved is a `warning`, a digest is as severe as the worst it stands for. */
export function severityOf(message: Message): MessageSeverity {
  if (message.kind === 'test') return 'info';
  if (message.kind === 'drill') return message.data.drill.news === 'unproved' ? 'warning' : 'info';
  if (message.kind !== 'digest') return message.data.alert.severity;
  const { counts, alerts } = message.data.digest;
  const told = [...counts, ...alerts].map(({ severity }) => severity);
  if (told.includes('critical')) return 'critical';
  return told.includes('warning') ? 'warning' : 'info';
}

function nameAlert({ alert, cronjob }: AlertMessage): string {
  return `${refText(cronjob)}: ${nameFinding(alert.type, alert.subject)}`;
}

function digestInWords({ digest }: DigestMessage): string {
  const { cause, ended, total, recovered, before } = digest;
  const recovery = recovered > 0 ? `, ${recovered} recovered` : '';
  if (cause === 'rateLimit') return `${counted(total, 'alert')} held back by the rate limit${recovery}`;
  if (cause === 'scope') {
    const named = namedIn(digest);
    return `${digest.scope ?? 'one cause'}: ${named} ${before > 0 ? 'more ' : ''}${named === 1 ? 'CronJob' : 'CronJobs'} failed${recovery}`;
  }
  if (cause === 'firstPass') {
    const failing = namedIn({ ...digest, alerts: digest.alerts.filter(({ endedAt }) => endedAt === null) });
    const were = (many: number): string => (many === 1 ? 'was' : 'were');
    const over = `${counted(recovered, 'alert')} ${were(recovered)} over`;
    if (failing === 0) return `${over} when watching began`;
    return `${counted(failing, 'CronJob')} ${were(failing)} failing when watching began${recovered > 0 ? `, ${over}` : ''}`;
  }
  if (!ended) return `alert storm: ${before > 0 ? `${total} more` : total} ${total === 1 ? 'alert' : 'alerts'}`;
  const held = total - recovered;
  return held === 0
    ? `alert storm over: nothing holds any more${recovery}`
    : `alert storm over: ${counted(held, 'alert')} still ${held === 1 ? 'holds' : 'hold'}${recovery}`;
}

function namedIn({ alerts }: DigestMessage['digest']): number {
  return new Set(alerts.map(refText)).size;
}
