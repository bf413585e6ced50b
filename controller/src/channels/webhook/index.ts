import {
  alertmanagerPayload,
  basesOf,
  type Form,
  headerProblem,
  isAboutAlert,
  webhookPayload,
  type WebhookPayload,
  type WebhookTarget,
  webhookUrlProblem,
} from '@cronjob-monitor/shared/domain';
import type { Channel, Secrets, SendDeps, SendRequest } from '../channel.ts';
import { findSecretUrls, findSecretValue, isUnusable, unusable } from '../secret-value.ts';
import { validateHeaderValue } from 'node:http';
import { createHmac } from 'node:crypto';
import { type Outcome, delivered, failed, type Failed } from '../outcome.ts';
import { sendAndJudge } from '../send-and-judge.ts';
import { reach } from '../reach.ts';
import { addressRefused, failedInTransport, nameUnknown } from '../transport-failure.ts';

/** JSON to any address, signed when a key is given; or alerts to the peers of an Alertmanager. */
export const webhook: Channel<'webhook', WebhookCredentials, WebhookPayload> = {
  type: 'webhook',
  // One at a time to an Alertmanager: what is sent again must not overtake an end.
  paceOf: ({ webhook: { format } }) => ({ inFlight: format === 'alertmanager' ? 1 : 2, gapMs: 0 }),
  credentialsOf: ({ webhook: { urlSecretRef, signingSecretRef, format } }, secrets) => {
    const urls = findSecretUrls(urlSecretRef, secrets, {
      problemOf: (value) => webhookUrlProblem(format, value),
      partsOf: format === 'alertmanager' ? basesOf : (value) => [value],
    });
    if (isUnusable(urls)) return urls;
    if (!signingSecretRef) return { urls, signingKeys: [] };
    const value = findSecretValue(signingSecretRef, secrets);
    if (typeof value !== 'string') return value;
    const signingKeys = readSigningKeys(value);
    const { namespace, name, key } = signingSecretRef;
    if (signingKeys) return { urls, signingKeys };
    return unusable(`Secret ${namespace}/${name}: ${key} holds no signing key (whsec_ and 24 to 64 bytes in base64)`);
  },
  hostsOf: ({ webhook: { headers } }, { urls }) => {
    const problem = findHeaderProblem(headers);
    return problem === undefined ? urls.map(({ hostname }) => hostname) : unusable(problem, 'rejected');
  },
  payloadOf: (outgoing, target, form) =>
    target.webhook.format === 'alertmanager'
      ? alertmanagerPayload(outgoing, form, outgoing.createdAt)
      : webhookPayload(outgoing, target, form),
  send: (request, deps, signal) =>
    request.target.webhook.format === 'alertmanager'
      ? sendToAlertmanager(request, deps, signal)
      : sendWebhook(request, deps, signal),
};

/** The peers of a channel of the format alertmanager; undefined: they cannot be sent to, which its condition says. */
export function alertmanagerPeersOf(target: WebhookTarget, secrets: Secrets): Peers | undefined {
  const { headers } = target.webhook;
  const credentials = webhook.credentialsOf(target, secrets);
  return isUnusable(credentials) || findHeaderProblem(headers) !== undefined
    ? undefined
    : { urls: credentials.urls, headers };
}

interface WebhookCredentials {
  /** One, or the peers of an Alertmanager. */
  readonly urls: readonly URL[];
  /** Empty: unsigned. */
  readonly signingKeys: readonly Buffer[];
}

async function sendWebhook(
  request: SendRequest<WebhookTarget, WebhookCredentials>,
  deps: SendDeps,
  signal: AbortSignal,
): Promise<Outcome> {
  const { outgoing, target, credentials, form } = request;
  const { method, headers } = target.webhook;
  const { body } = webhookPayload(outgoing, target, form);
  const ours = ownHeaders(request, body, Math.floor(deps.clock.now() / 1_000));
  const [url] = credentials.urls;
  if (url === undefined) throw new Error('a webhook without an address was not refused');
  return sendAndJudge({ url, method, headers: mergeHeaders(headers, ours), body }, form, deps, signal);
}

/** The id stays the same on every attempt; time, number and signature are those of this one. */
function ownHeaders(
  { outgoing, credentials, attempt }: SendRequest<WebhookTarget, WebhookCredentials>,
  body: string,
  timestamp: number,
): Record<string, string> {
  const id = outgoing.deliveryId;
  const { signingKeys } = credentials;
  return {
    'webhook-id': id,
    'idempotency-key': id,
    'webhook-timestamp': String(timestamp),
    'x-monitor-delivery-attempt': String(attempt),
    ...(signingKeys.length > 0 && { 'webhook-signature': sign(signingKeys, { id, timestamp, body }) }),
  };
}

/** What keeps the headers of a spec from being sent, by the name of the first such header; never its value. */
export function findHeaderProblem(headers: Readonly<Record<string, string>>): string | undefined {
  for (const [name, value] of Object.entries(headers)) {
    if (headerProblem(name) !== undefined) return 'spec.webhook.headers names a header that is set by the service';
    if (!isSendable(name, value)) return `the value of the header ${name} cannot be sent`;
  }
  return undefined;
}

/** All headers of a request: those of the spec, `content-type` too, and above them ours. Names in lower case. */
export function mergeHeaders(
  fromSpec: Readonly<Record<string, string>>,
  ours: Readonly<Record<string, string>>,
): Record<string, string> {
  const given = Object.entries(fromSpec).map(([name, value]) => [name.toLowerCase(), value]);
  return { 'content-type': 'application/json', 'user-agent': 'cronjob-monitor', ...Object.fromEntries(given), ...ours };
}

function isSendable(name: string, value: string): boolean {
  try {
    validateHeaderValue(name, value);
    return true;
  } catch {
    return false; // Its message may repeat the value.
  }
}

const prefix = 'whsec_';
const fewestBytes = 24;
const mostBytes = 64;
/** A second key while receivers change from one to the other. */
const mostKeys = 2;

/**
 * The keys in the value of a Secret: one, or two apart by blanks or a comma. Undefined where the value has another shape. No
 * sentence tells a wrong key from a right one.
 */
export function readSigningKeys(value: string): readonly Buffer[] | undefined {
  const keys = value
    .split(/[\s,]+/)
    .filter((text) => text !== '')
    .map(toKey);
  const good = keys.filter((key) => key !== undefined);
  return good.length === keys.length && good.length >= 1 && good.length <= mostKeys ? good : undefined;
}

/**
 * The value of `webhook-signature`: one signature for each key over id, time and body.
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export function sign(
  keys: readonly Buffer[],
  { id, timestamp, body }: { readonly id: string; readonly timestamp: number; readonly body: string },
): string {
  const content = `${id}.${timestamp}.${body}`;
  return keys.map((key) => `v1,${createHmac('sha256', key).update(content).digest('base64')}`).join(' ');
}

function toKey(text: string): Buffer | undefined {
  const encoded = text.startsWith(prefix) ? text.slice(prefix.length) : '';
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(encoded)) return undefined;
  const key = Buffer.from(encoded, 'base64');
  return key.length >= fewestBytes && key.length <= mostBytes ? key : undefined;
}

/** The peers of one Alertmanager: base addresses, and the headers of the spec. */
export interface Peers {
  readonly urls: readonly URL[];
  readonly headers: Readonly<Record<string, string>>;
}

/** What one peer said. */
interface PeerAnswer {
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
async function sendToAlertmanager(
  { outgoing, target, credentials, form }: SendRequest<WebhookTarget, WebhookCredentials>,
  deps: SendDeps,
  signal: AbortSignal,
): Promise<Outcome> {
  const { body } = alertmanagerPayload(outgoing, form, deps.clock.now());
  const peers = { urls: credentials.urls, headers: target.webhook.headers };
  const outcome = together(await postAlerts(peers, body, { deps, form, signal }));
  if (!outcome.progress || !isAboutAlert(outgoing.message)) return outcome;
  return { ...outcome, progress: { ...outcome.progress, owner: outgoing.owner ?? null } };
}

/** What the answers of all peers mean for the message. */
function together(answers: readonly PeerAnswer[]): Outcome {
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
