import { toldWords, wordOfReason, type Hold, type Suppression } from '../../contract/vocabulary.ts';
import { changeLine, digestedLine, eventLine, podLine } from '../delivery/context-lines.ts';
import { nameFinding } from '../alert-types/traits.ts';
import type {
  AlertMessage,
  AlertNews,
  DigestMessage,
  DrillMessage,
  Message,
  TestMessage,
} from '../delivery/message.ts';
import { closeCauseInWords, titleOfMessage } from '../delivery/title.ts';
import { spanInWords, toLocalTime } from '../delivery/wording.ts';
import { faultInWords } from '../execution/fault.ts';
import { refText } from '../../contract/wording.ts';

/** A message as a reader meets it, for media made of text: in parts, not yet escaped. Parts that it does not have are empty. */
export interface MessageDocument {
  /** What is so now: the first thing to know of a message that threads with others. */
  readonly state: string;
  readonly title: string;
  readonly message: string;
  readonly facts: readonly Fact[];
  readonly fix: string;
  readonly log: string;
  /** That the log is cut, or why it is missing. */
  readonly logNote: string;
  readonly events: readonly string[];
  readonly pods: readonly string[];
  /** What differs from the last success; undefined: not compared. */
  readonly changes: readonly string[] | undefined;
  /** Alerts of a digest. */
  readonly alerts: readonly string[];
  readonly links: readonly Link[];
  /** That it was held back or is late. */
  readonly notes: readonly string[];
  /** Monitor, cluster, id. */
  readonly origin: readonly string[];
}

type FactName =
  | 'namespace'
  | 'cronjob'
  | 'job'
  | 'exitCode'
  | 'reason'
  | 'cause'
  | 'since'
  | 'lastSuccess'
  | 'nextRun'
  | 'count'
  | 'group';

interface Fact {
  readonly name: FactName;
  readonly label: string;
  readonly value: string;
}

interface Link {
  readonly text: string;
  /** http or https. */
  readonly href: string;
}

export const emptyDocument: MessageDocument = {
  state: '',
  title: '',
  message: '',
  facts: [],
  fix: '',
  log: '',
  logNote: '',
  events: [],
  pods: [],
  changes: undefined,
  alerts: [],
  links: [],
  notes: [],
  origin: [],
};

/** Most alerts of a digest that are named. */
const mostNamed = 20;
/** A message held no longer than this says nothing of it. */
const unremarkableSeconds = 60;

export function toDocument(message: Message): MessageDocument {
  const title = titleOfMessage(message);
  if (message.kind === 'digest') return { ...documentOfDigest(message.data), title };
  if (message.kind === 'test') return { ...documentOfTest(message.data), title };
  if (message.kind === 'drill') return { ...documentOfDrill(message.data), title };
  return { ...documentOfAlert(message.data), title, state: stateInWords(message.kind, message.data) };
}

function documentOfAlert(data: AlertMessage): MessageDocument {
  const { alert, context, monitor, cluster, links } = data;
  return {
    ...emptyDocument,
    message: alert.message,
    facts: factsOf(data),
    fix: context.suggestedFix ?? '',
    log: context.logs ?? '',
    logNote: logNoteOf(context),
    events: eventsOf(context),
    pods: podsOf(context),
    changes: context.changes?.map(changeLine),
    links: [
      ...toLink('Alert', links.alert),
      ...toLink('CronJob', links.cronjob),
      ...toLink('Run', links.execution),
      ...toLink('Runbook', links.runbook),
    ],
    notes: notesOf(alert),
    origin: [`#${alert.shortId}`, `monitor ${refText(monitor)}`, ...clusterOf(cluster)],
  };
}

function digestMessage({ cause, ended }: DigestMessage['digest']): string {
  if (cause === 'firstPass')
    return 'They failed before this service began to watch: what comes from now on is told one by one.';
  if (cause === 'scope') return 'One cause for all of them: they are told together.';
  if (cause !== 'storm') return 'More alerts than this channel takes at once: they are told together.';
  return ended
    ? 'The trouble that many CronJobs had at the same time is over.'
    : 'Many CronJobs have trouble at the same time: the cause is probably one for all of them.';
}

function documentOfDigest({ digest, cluster, links }: DigestMessage): MessageDocument {
  const more = digest.total - Math.min(digest.alerts.length, mostNamed);
  return {
    ...emptyDocument,
    state: digest.cause === 'storm' ? (digest.ended ? 'STORM OVER' : 'STORM') : 'DIGEST',
    message: digestMessage(digest),
    facts: digest.counts.map(({ type, severity, count }) => ({
      name: 'group',
      label: `${nameFinding(type, null)}, ${severity}`,
      value: String(count),
    })),
    alerts: [
      ...digest.alerts.slice(0, mostNamed).map(digestedLine),
      ...(more > 0 && digest.alerts.length > 0 ? [`and ${more} more`] : []),
    ],
    links: toLink('Alerts', links.alerts),
    origin: clusterOf(cluster),
  };
}

function documentOfTest({ message, cluster, links }: TestMessage): MessageDocument {
  return {
    ...emptyDocument,
    state: 'TEST',
    message,
    links: toLink('Channel', links.channel),
    origin: clusterOf(cluster),
  };
}

function documentOfDrill({ message, cluster, links, drill }: DrillMessage): MessageDocument {
  return {
    ...emptyDocument,
    state: drill.news === 'unproved' ? 'NOT PROVED' : 'DRILL',
    message,
    links: [...toLink('I read this', links.drill), ...toLink('Channel', links.channel)],
    origin: clusterOf(cluster),
  };
}

function stateInWords(kind: AlertNews['kind'], { alert }: AlertMessage): string {
  if (kind === 'reminder') return 'STILL ACTIVE';
  if (kind === 'flapping') return 'FLAPPING: it changes all the time, the next message comes when it is stable';
  if (kind === 'firing') return 'ACTIVE';
  if (alert.state === 'resolved') return 'RESOLVED';
  return `CLOSED${alert.closeCause === null ? '' : `: ${closeCauseInWords(alert.closeCause)}`}`;
}

function factsOf({ alert, cronjob, job }: AlertMessage): Fact[] {
  const zone = cronjob.timezone ?? 'UTC';
  const facts: [FactName, string, string | null | undefined][] = [
    ['namespace', 'Namespace', cronjob.namespace],
    ['cronjob', 'CronJob', cronjob.name],
    ['job', 'Job', job?.name],
    ['exitCode', 'Exit code', job?.exitCode?.toString()],
    ['reason', 'Reason', job?.reason],
    ['cause', 'Cause', faultOf(alert)],
    ['since', 'Since', timeInWords(alert.since, zone)],
    ['lastSuccess', 'Last success', timeInWords(cronjob.lastSuccess, zone)],
    ['nextRun', 'Next run', timeInWords(cronjob.nextRun, zone)],
    ['count', 'Count', String(alert.occurrences)],
  ];
  return facts.flatMap(([name, label, value]) => (value == null ? [] : [{ name, label, value }]));
}

/** What waited through an upgrade may not know of it. */
function faultOf({ cause, scope }: Partial<AlertMessage['alert']>): string | null {
  return cause == null ? null : faultInWords({ cause, scope: scope ?? undefined });
}

function timeInWords(instant: string | null, timeZone: string): string | null {
  const at = instant === null ? Number.NaN : Date.parse(instant);
  if (Number.isNaN(at)) return null;
  const { date, time, zone } = toLocalTime(at, timeZone);
  return `${date} ${time} ${zone}`;
}

function logNoteOf({ logs, logsTruncated, logsUnavailable, pending }: AlertMessage['context']): string {
  if (pending) return 'Log and events of the run are still being read: they are kept with the alert.';
  if (logs === null) return logsUnavailable === null ? '' : `No log: ${logsUnavailable}`;
  return logsTruncated ? 'Earlier lines are left out.' : '';
}

function eventsOf({ events, eventsTruncated }: AlertMessage['context']): string[] {
  const lines = events?.map(eventLine) ?? [];
  return eventsTruncated === true && lines.length > 0 ? ['Earlier events are left out.', ...lines] : lines;
}

function podsOf({ pods, podsTruncated }: AlertMessage['context']): string[] {
  const lines = pods?.map(podLine) ?? [];
  return podsTruncated === true ? ['Earlier pods are left out.', ...lines] : lines;
}

function notesOf({ heldBy, heldSeconds, delayed, flapping, firstNotice }: AlertMessage['alert']): string[] {
  // What its turn had to wait for stands in the message.
  const isHeld = heldBy !== null && heldBy !== 'after' && heldSeconds > unremarkableSeconds;
  return [
    ...(isHeld ? [`held back for ${spanInWords(heldSeconds)}${holdText(heldBy)}`] : []),
    ...(delayed ? ['delayed: it happened while the service did not watch'] : []),
    ...(flapping ? ['flapping'] : []),
    ...(firstNotice ? ['the first message about it: it was over before one could be sent'] : []),
  ];
}

function holdText(heldBy: HeldBy): string {
  const word = wordOfReason[heldBy];
  if (word !== undefined) return `: ${toldWords[word].toLowerCase()}`;
  const holder = holders[heldBy];
  return holder === undefined ? '' : ` by ${holder}`;
}

type HeldBy = Hold | Suppression | 'alertDelay';

/** What held it that has none of the four words. */
const holders: Readonly<Partial<Record<HeldBy, string>>> = {
  alertDelay: 'the alert delay of the monitor',
  monitorGone: 'the deletion of the monitor',
  startupGrace: 'the start of the service',
  backoff: 'failed attempts',
  circuit: 'a channel that failed',
  parked: 'a channel that had to be mended',
  invalid: 'a channel that had to be mended',
  order: 'earlier messages',
  after: 'the channels before it',
};

function clusterOf(cluster: string | null): string[] {
  return cluster === null ? [] : [`cluster ${cluster}`];
}

/** Only what a browser may open: a runbook is what a person wrote into an annotation. */
function toLink(text: string, href: string | null): Link[] {
  const url = href === null ? null : URL.parse(href);
  const isWeb = url?.protocol === 'https:' || url?.protocol === 'http:';
  return url && isWeb ? [{ text, href: url.href.replaceAll('|', '%7C').replaceAll("'", '%27') }] : [];
}
