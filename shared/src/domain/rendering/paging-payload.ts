import { digestedLine } from '../delivery/context-lines.ts';
import type { AlertMessage, DigestMessage, Message, Outgoing } from '../delivery/message.ts';
import { toSafeMessage, withoutDetails } from '../delivery/safe-message.ts';
import { severityOf, titleOfMessage } from '../delivery/title.ts';
import { cutEnd, inBytes } from '../text/cut.ts';
import { toDocument } from './message-document.ts';
import type { Form, PagingSeverity, PagingTarget } from './target.ts';
import { refText } from '../../contract/wording.ts';

/** Events in the order in which they are sent, without the routing key. */
export type PagingPayload = readonly [PagingEvent, ...PagingEvent[]];

export type PagingEvent =
  | { readonly event_action: 'resolve'; readonly dedup_key: string }
  | {
      readonly event_action: 'trigger';
      readonly dedup_key: string;
      readonly client: string;
      readonly client_url?: string;
      readonly links?: readonly { readonly href: string; readonly text: string }[];
      readonly payload: TriggerPayload;
    };

export interface TriggerPayload {
  readonly summary: string;
  readonly source: string;
  readonly severity: PagingSeverity;
  readonly timestamp: string;
  readonly component?: string;
  readonly group?: string;
  readonly class: string;
  readonly custom_details?: Details;
}

type Details = Readonly<Record<string, string | number | readonly string[]>>;

/**
 * Our bounds, within those of the receiver: 1,024 characters in a summary, 255 in a key, 512 KB in all.
 * https://developer.pagerduty.com/docs/send-alert-event
 */
const most = { summary: 1_024, logBytes: 8 * 1024, eventBytes: 64 * 1024, named: 50 };
const client = 'cronjob-monitor';

/**
 * What a paging service is told, in the form of PagerDuty's Events API v2. Opening, reminders and digests trigger, a closing
 * resolves; both by the key of the stream, which is an id of ours: clusters cannot collide. A test, and what was over before it was told, trigger and resolve at once;
 * a drill stays open until it is acknowledged or over.
 */
export function pagingPayload(outgoing: Outgoing, { paging }: PagingTarget, form: Form): PagingPayload {
  const dedupKey = `cjm-${outgoing.streamId}`;
  const safe = toSafeMessage(outgoing.message, most.logBytes);
  const resolve: PagingEvent = { event_action: 'resolve', dedup_key: dedupKey };
  if ((safe.kind === 'closing' && !safe.data.alert.firstNotice) || isOver(safe)) return [resolve];

  const isOwn = safe.kind === 'test' || safe.kind === 'drill';
  const severity = isOwn ? severityOf(safe) : (paging.severity ?? severityOf(safe));
  const message = form === 'full' ? safe : withoutDetails(safe);
  const payload: TriggerPayload = {
    summary: cutEnd(titleOfMessage(safe), most.summary),
    severity,
    ...about(message, new Date(outgoing.createdAt).toISOString()),
    ...(form === 'full' && { custom_details: fitting(detailsOf(message)) }),
  };
  const trigger: PagingEvent = { event_action: 'trigger', dedup_key: dedupKey, client, ...linksOf(safe), payload };
  return safe.kind === 'test' || safe.kind === 'closing' ? [trigger, resolve] : [trigger];
}

/** A storm that left nothing behind, a drill that ended. */
function isOver(message: Message): boolean {
  if (message.kind === 'drill') return message.data.drill.news === 'over';
  return (
    message.kind === 'digest' &&
    message.data.digest.ended &&
    message.data.digest.total === message.data.digest.recovered
  );
}

/** What it is about, for grouping and routing at the receiver. */
function about(
  message: Message,
  createdAt: string,
): Pick<TriggerPayload, 'source' | 'timestamp' | 'component' | 'group' | 'class'> {
  const cluster = message.data.cluster ?? client;
  if (message.kind === 'test' || message.kind === 'drill')
    return { source: cluster, timestamp: createdAt, class: message.kind };
  if (message.kind === 'digest') return { source: cluster, timestamp: createdAt, class: message.data.digest.cause };
  const { alert, cronjob } = message.data;
  return {
    source: `${cluster}/${refText(cronjob)}`,
    timestamp: alert.since,
    component: cronjob.name,
    group: cronjob.namespace,
    class: alert.type,
  };
}

function detailsOf(message: Message): Details {
  if (message.kind === 'test' || message.kind === 'drill') return { message: message.data.message };
  return message.kind === 'digest' ? detailsOfDigest(message.data) : detailsOfAlert(message.data);
}

/** Absent facts are left out: the receiver shows what it gets, null as a word. */
function detailsOfAlert(data: AlertMessage): Details {
  const { alert, monitor, cronjob, job, context } = data;
  const { logNote, events } = toDocument({ kind: 'firing', data });
  const details = {
    message: alert.message,
    monitor: refText(monitor),
    job: job?.name,
    exit_code: job?.exitCode,
    reason: job?.reason,
    cause: alert.cause,
    scope: alert.scope,
    count: alert.occurrences,
    last_success: cronjob.lastSuccess,
    suggested_fix: context.suggestedFix,
    logs: context.logs,
    logs_note: logNote || null,
    events: context.events && events,
  };
  return Object.fromEntries(Object.entries(details).flatMap(([key, value]) => (value == null ? [] : [[key, value]])));
}

function detailsOfDigest({ digest }: DigestMessage): Details {
  return {
    total: digest.total,
    counts: digest.counts.map(({ type, severity, count }) => `${type} ${severity}: ${count}`),
    alerts: digest.alerts.slice(0, most.named).map(digestedLine),
  };
}

/** Without its largest lists as long as the event would be too large; it says which. */
function fitting(details: Details): Details {
  const others = 8 * 1024; // all that is not details: summary, names, links
  let kept = details;
  for (const name of ['events', 'alerts', 'logs']) {
    if (inBytes(JSON.stringify(kept)) + others <= most.eventBytes) return kept;
    if (!(name in kept)) continue;
    const { [name]: _tooMuch, left_out: before, ...rest } = kept;
    kept = { ...rest, left_out: `${before === undefined ? '' : `${String(before)}, `}${name}` };
  }
  return kept;
}

function linksOf(message: Message): Pick<Extract<PagingEvent, { event_action: 'trigger' }>, 'client_url' | 'links'> {
  if (message.kind === 'test') return urlOf(message.data.links.channel);
  if (message.kind === 'drill') return urlOf(message.data.links.drill ?? message.data.links.channel);
  if (message.kind === 'digest') return urlOf(message.data.links.alerts);
  const { links } = message.data;
  const others = [
    { href: links.cronjob, text: 'CronJob' },
    { href: links.execution, text: 'Run' },
    { href: links.runbook, text: 'Runbook' },
  ].flatMap(({ href, text }) => (isWeb(href) ? [{ href, text }] : []));
  return { ...urlOf(links.alert), ...(others.length > 0 && { links: others }) };
}

function urlOf(href: string | null): { client_url?: string } {
  return isWeb(href) ? { client_url: href } : {};
}

function isWeb(href: string | null): href is string {
  return href !== null && /^https?:\/\//i.test(href) && URL.canParse(href);
}
