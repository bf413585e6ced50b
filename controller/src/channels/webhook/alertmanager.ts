import {
  cutEnd,
  toSafeMessage,
  type AlertNews,
  type DrillMessage,
  type Instant,
  type Message,
  type Outgoing,
} from '@cronjob-monitor/shared/domain';
import type { Form, SendDeps, SendRequest } from '../channel.ts';
import { toDocument } from '../message-document.ts';
import { delivered, failed, type Failed, type Outcome } from '../outcome.ts';
import { reach } from '../reach.ts';
import { sendAndJudge } from '../send-and-judge.ts';
import type { WebhookTarget } from '../target.ts';
import { addressRefused, failedInTransport, nameUnknown } from '../transport-failure.ts';
import type { WebhookPayload } from './payload.ts';
import { mergeHeaders, type WebhookCredentials } from './send.ts';

/** An alert as POST /api/v2/alerts takes it: https://github.com/prometheus/alertmanager/blob/main/api/v2/openapi.yaml */
export interface AlertmanagerAlert {
  /** Its identity there: the same for the whole life of an alert, but for its severity. */
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
/** Most characters of an annotation. */
const most = { message: 1_500, fix: 1_500 } as const;

/** The body of a request about one message; empty for what Alertmanager does itself: it gets the alerts of a digest one by one. */
export function alertmanagerPayload(outgoing: Outgoing, form: Form, now: Instant): WebhookPayload {
  return { body: JSON.stringify(alertsOf(outgoing, form, now)) };
}

export function alertsOf(
  { message, source, createdAt }: Pick<Outgoing, 'message' | 'source' | 'createdAt'>,
  form: Form,
  now: Instant,
): AlertmanagerAlert[] {
  if (message.kind === 'digest') return [];
  const safe = toSafeMessage(message, mostLogBytes);
  if (safe.kind === 'test') return [testAlert(safe, source, createdAt)];
  if (safe.kind === 'drill') return [drillAlert(safe.data, { source, startsAt: createdAt, now })];
  return [toAlert(safe as AlertNews, { source, form, now })];
}

function testAlert(message: Extract<Message, { kind: 'test' }>, source: string, at: Instant): AlertmanagerAlert {
  const { cluster, channel } = message.data;
  const { title, message: description } = toDocument(message);
  return {
    labels: present({ alertname: 'ChannelTest', source, cluster, severity: 'info', channel }),
    annotations: present({ summary: title, description: cut(description, most.message) }),
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
    annotations: present({ summary: title, description: cut(message, most.message), link }),
    startsAt: new Date(Math.min(startsAt, endsAt)).toISOString(),
    endsAt: new Date(endsAt).toISOString(),
    ...(link !== null && URL.canParse(link) && { generatorURL: link }),
  };
}

function toAlert(
  message: AlertNews,
  { source, form, now }: { readonly source: string; readonly form: Form; readonly now: Instant },
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
      monitor: `${monitor.namespace}/${monitor.name}`,
      subject: alert.subject,
    }),
    annotations: present({
      summary: title,
      ...(form === 'full' && {
        description: cut(description, most.message),
        suggested_fix: cut(fix, most.fix),
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

/** The cut says so. */
function cut(text: string, length: number): string {
  return text.length <= length ? text : `${cutEnd(text, length)}\n(cut after ${length} characters)`;
}

/** Alertmanager drops empty labels, and what is dropped there must not be part of the identity here. */
function present(given: Readonly<Record<string, string | null | undefined>>): Record<string, string> {
  return Object.fromEntries(Object.entries(given).filter((entry): entry is [string, string] => Boolean(entry[1])));
}

/** The same for the same labels, in whatever order. */
export function identityOf(labels: Readonly<Record<string, string>>): string {
  return JSON.stringify(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The peers of one Alertmanager: base addresses, and the headers of the spec. */
export interface Peers {
  readonly urls: readonly URL[];
  readonly headers: Readonly<Record<string, string>>;
}

/** What one peer said. */
export interface PeerAnswer {
  /** Address and port. */
  readonly peer: string;
  readonly outcome: Outcome;
}

/** Most addresses of one name that are peers. */
const mostAddresses = 8;

/** Sends alerts to every peer at once, since peers do not hand on alerts to one another. Rejects only with the reason of an aborted signal. */
export async function postAlerts(
  { urls, headers }: Peers,
  body: string,
  { deps, form, signal }: { readonly deps: SendDeps; readonly form: Form; readonly signal: AbortSignal },
): Promise<PeerAnswer[]> {
  const answers = urls.map(async (base): Promise<PeerAnswer[]> => {
    const reached = await reach(base.hostname, deps);
    if ('refused' in reached) {
      const failure = reached.refused === 'address' ? addressRefused : nameUnknown;
      return [{ peer: base.host, outcome: failedInTransport(failure) }];
    }
    const request = { url: under(base, 'alerts'), method: 'POST', headers: mergeHeaders(headers, {}), body } as const;
    return Promise.all(
      reached.addresses.slice(0, mostAddresses).map(async (address) => ({
        peer: reached.addresses.length > 1 ? `${base.host} ${address}` : base.host,
        // The name is not resolved again: each of its addresses is a peer of its own.
        outcome: await sendAndJudge(request, form, { ...deps, resolve: async () => [address] }, signal),
      })),
    );
  });
  return (await Promise.all(answers)).flat();
}

export function under(base: URL, path: string): URL {
  const url = new URL(base);
  url.pathname = `${base.pathname.replace(/\/+$/, '')}/api/v2/${path}`;
  return url;
}

/** One message. It is sent when one peer has it: the others get it with what is sent again each minute. */
export async function sendToAlertmanager(
  { outgoing, target, credentials, form }: SendRequest<WebhookTarget, WebhookCredentials>,
  deps: SendDeps,
  signal: AbortSignal,
): Promise<Outcome> {
  const { body } = alertmanagerPayload(outgoing, form, deps.clock.now());
  const peers = { urls: credentials.urls, headers: target.webhook.headers };
  return together(await postAlerts(peers, body, { deps, form, signal }));
}

/** What the answers of all peers mean for the message. */
export function together(answers: readonly PeerAnswer[]): Outcome {
  const took = answers.filter(({ outcome }) => outcome.kind === 'delivered');
  const accepted = took.map(({ peer }) => peer);
  const refused = answers.filter(({ outcome }) => outcome.kind !== 'delivered').map(({ peer }) => peer);
  const [first] = took;
  if (first?.outcome.kind === 'delivered') {
    return delivered({ httpStatus: first.outcome.httpStatus, progress: { accepted, refused } });
  }
  const failures = answers
    .map(({ outcome }) => outcome)
    .filter((outcome): outcome is Failed => outcome.kind === 'failed');
  // One that may still take it decides; else what the first said.
  const decides = failures.find(({ next }) => next === 'retry') ?? failures[0];
  if (decides === undefined) return failed('invalid', 'secret', 'it names no peer of an Alertmanager');
  const maybeSent = failures.some((failure) => failure.maybeSent);
  return failures.length === 1
    ? decides
    : { ...decides, maybeSent, message: `None of ${failures.length} peers took it: ${decides.message}` };
}
