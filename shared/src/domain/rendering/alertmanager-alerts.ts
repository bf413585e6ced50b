import type { AlertNews, DrillMessage, Message, Outgoing } from '../delivery/message.ts';
import { toSafeMessage } from '../delivery/safe-message.ts';
import type { Instant } from '../instant.ts';
import { toDocument } from './message-document.ts';
import type { Form } from './target.ts';
import type { WebhookPayload } from './webhook-payload.ts';
import { refText } from '../../contract/wording.ts';

/** An alert as POST /api/v2/alerts takes it: https://github.com/prometheus/alertmanager/blob/main/api/v2/openapi.yaml */
export interface AlertmanagerAlert {
  /** Its identity there: the same for the whole life of an alert, but for its severity and its owner. */
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly startsAt: string;
  /** It ends by itself then, unless it is sent again. */
  readonly endsAt: string;
  readonly generatorURL?: string;
}

/** What is not sent again within this time has ended for Alertmanager: it outlives a failover and an upgrade. */
export const heldOpenMs = 15 * 60_000;
const testMs = 60_000;
const mostLogBytes = 2 * 1024;

/** The body of a request about one message; empty for what Alertmanager does itself: it gets the alerts of a digest one by one. */
export function alertmanagerPayload(outgoing: Outgoing, form: Form, now: Instant): WebhookPayload {
  return { body: JSON.stringify(alertsOf(outgoing, form, now)) };
}

export function alertsOf(
  { message, owner, source, createdAt }: Pick<Outgoing, 'message' | 'owner' | 'source' | 'createdAt'>,
  form: Form,
  now: Instant,
): AlertmanagerAlert[] {
  if (message.kind === 'digest') return [];
  const safe = toSafeMessage(message, mostLogBytes);
  if (safe.kind === 'test') return [testAlert(safe, source, createdAt)];
  if (safe.kind === 'drill') return [drillAlert(safe.data, { source, startsAt: createdAt, now })];
  return [toAlert(safe as AlertNews, { owner, source, form, now })];
}

function testAlert(message: Extract<Message, { kind: 'test' }>, source: string, at: Instant): AlertmanagerAlert {
  const { cluster, channel } = message.data;
  const { title, message: description } = toDocument(message);
  return {
    labels: present({ alertname: 'ChannelTest', source, cluster, severity: 'info', channel }),
    annotations: present({ summary: title, description }),
    startsAt: new Date(at).toISOString(),
    endsAt: new Date(at + testMs).toISOString(),
  };
}

/** Open until it is over, so that Alertmanager's routes, groups and repeats are proved with it; the drill's id tells one from the next. */
function drillAlert(
  { cluster, channel, drill, title, message, links }: DrillMessage,
  { source, startsAt, now }: { readonly source: string; readonly startsAt: Instant; readonly now: Instant },
): AlertmanagerAlert {
  const isUnproved = drill.news === 'unproved';
  const endsAt = drill.news === 'over' ? now : Date.parse(drill.untilAt);
  const link = links.drill ?? links.channel;
  return {
    labels: present({
      alertname: isUnproved ? 'ChannelNotProved' : 'ChannelDrill',
      source,
      cluster,
      severity: isUnproved ? 'warning' : 'info',
      channel,
      drill: drill.id,
    }),
    annotations: present({ summary: title, description: message, link }),
    startsAt: new Date(Math.min(startsAt, endsAt)).toISOString(),
    endsAt: new Date(endsAt).toISOString(),
    ...(link !== null && URL.canParse(link) && { generatorURL: link }),
  };
}

function toAlert(
  message: AlertNews,
  { owner, source, form, now }: Pick<Outgoing, 'owner' | 'source'> & { readonly form: Form; readonly now: Instant },
): AlertmanagerAlert {
  const { alert, cronjob, monitor, cluster, job } = message.data;
  const { title, message: description, fix, log, logNote, notes, links } = toDocument(message);
  const linkTo = (name: string): string | undefined => links.find(({ text }) => text === name)?.href;
  const startsAt = Date.parse(alert.since);
  const endedAt = alert.endedAt === null ? now : Date.parse(alert.endedAt);
  const endsAt = message.kind === 'closing' ? Math.max(startsAt, Math.min(endedAt, now)) : now + heldOpenMs;
  const generatorURL = linkTo('Alert');
  return {
    labels: present({
      alertname: alert.type.charAt(0).toUpperCase() + alert.type.slice(1),
      source,
      cluster,
      namespace: cronjob.namespace,
      cronjob: cronjob.name,
      severity: alert.severity,
      monitor: refText(monitor),
      owner,
      subject: alert.subject,
    }),
    annotations: present({
      summary: title,
      ...(form === 'full' && {
        description,
        suggested_fix: fix,
        runbook_url: linkTo('Runbook'),
        cronjob_url: linkTo('CronJob'),
        job: job?.name,
        exit_code: job?.exitCode?.toString(),
        reason: job?.reason,
        cause: alert.cause,
        scope: alert.scope,
        log: [logNote, log.trimEnd()].filter((part) => part !== '').join('\n'),
        note: notes.join('; '),
      }),
    }),
    startsAt: new Date(startsAt).toISOString(),
    endsAt: new Date(endsAt).toISOString(),
    ...(generatorURL !== undefined && { generatorURL }),
  };
}

/** Alertmanager drops empty labels, and what is dropped there must not be part of the identity here. */
export function present(given: Readonly<Record<string, string | null | undefined>>): Record<string, string> {
  return Object.fromEntries(Object.entries(given).filter((entry): entry is [string, string] => Boolean(entry[1])));
}

/** The same for the same labels, in whatever order. */
export function identityOf(labels: Readonly<Record<string, string>>): string {
  return JSON.stringify(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));
}
