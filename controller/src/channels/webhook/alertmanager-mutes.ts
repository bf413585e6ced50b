import { identityOf, toPlainLine, type Instant, objectOf, textsOf } from '@cronjob-monitor/shared/domain';
import type { SendDeps } from '../channel.ts';
import { sendHttp } from '../outbound-http.ts';
import { under, type Peers, mergeHeaders } from './index.ts';

/** Why an Alertmanager keeps an alert from people. */
export type Mute =
  | {
      readonly by: 'silence';
      readonly author: string | undefined;
      readonly comment: string | undefined;
      readonly untilAt: Instant | undefined;
    }
  | { readonly by: 'inhibited' }
  | { readonly by: 'interval'; readonly names: readonly string[] };

/** Most of an answer that is read: thousands of alerts with their logs. */
const mostAnswerBytes = 32 * 1024 * 1024;
/** Most silences that are asked about in one look; alerts of further ones are silenced without a word by whom. */
const mostSilences = 50;

interface StatusThere {
  readonly silencedBy: readonly string[];
  readonly inhibitedBy: readonly string[];
  readonly mutedBy: readonly string[];
}

/**
 * What the first peer that answers says of our alerts: those that it keeps from people, by the identity of their labels. Its own status
 * decides, so that matchers are read by one program alone. Undefined: none answered. Rejects only with the reason of an aborted signal.
 */
export async function readMutes(
  peers: Peers,
  source: string,
  { deps, signal }: { readonly deps: SendDeps; readonly signal: AbortSignal },
): Promise<ReadonlyMap<string, Mute> | undefined> {
  for (const base of peers.urls) {
    const ask = (path: string, query = ''): Promise<unknown> =>
      askPeer(Object.assign(under(base, path), { search: query }), peers.headers, { deps, signal });
    // One after the other: the second is asked when the first is away.
    const alerts = await ask('alerts', `filter=${encodeURIComponent(`source="${source}"`)}`);
    if (!Array.isArray(alerts)) continue;
    const muted = alerts.flatMap((alert) => toMuted(alert) ?? []);
    const ids = [...new Set(muted.flatMap(({ status }) => status.silencedBy[0] ?? []))].slice(0, mostSilences);
    const silences = new Map<string, unknown>();
    for (const id of ids) silences.set(id, await ask(`silence/${encodeURIComponent(id)}`));
    return new Map(muted.map(({ labels, status }) => [identityOf(labels), toMute(status, silences)]));
  }
  return undefined;
}

/** The JSON of an answer; undefined: there was none. */
async function askPeer(
  url: URL,
  headers: Peers['headers'],
  { deps, signal }: { readonly deps: SendDeps; readonly signal: AbortSignal },
): Promise<unknown> {
  const request = { url, method: 'GET', headers: mergeHeaders(headers, {}), body: '', mostAnswerBytes } as const;
  const result = await sendHttp(request, deps, signal);
  if ('failure' in result || result.answer.status !== 200) return undefined;
  try {
    return JSON.parse(result.answer.text);
  } catch {
    return undefined; // Something else answers there, or more than is read.
  }
}

function toMuted(
  alert: unknown,
): { readonly labels: Readonly<Record<string, string>>; readonly status: StatusThere } | undefined {
  const { labels, status } = objectOf(alert);
  const { silencedBy, inhibitedBy, mutedBy } = objectOf(status);
  const said = { silencedBy: textsOf(silencedBy), inhibitedBy: textsOf(inhibitedBy), mutedBy: textsOf(mutedBy) };
  const isMuted = said.silencedBy.length + said.inhibitedBy.length + said.mutedBy.length > 0;
  return isMuted ? { labels: objectOf(labels) as Readonly<Record<string, string>>, status: said } : undefined;
}

function toMute({ silencedBy, mutedBy }: StatusThere, silences: ReadonlyMap<string, unknown>): Mute {
  const [id] = silencedBy;
  if (id !== undefined) {
    const { createdBy, comment, endsAt } = objectOf(silences.get(id));
    const untilAt = typeof endsAt === 'string' ? Date.parse(endsAt) : Number.NaN;
    return {
      by: 'silence',
      author: shortText(createdBy),
      comment: shortText(comment),
      untilAt: Number.isNaN(untilAt) ? undefined : untilAt,
    };
  }
  return mutedBy.length > 0
    ? { by: 'interval', names: mutedBy.flatMap((name) => shortText(name) ?? []) }
    : { by: 'inhibited' };
}

/** Text of people there: one line of at most 200 characters. */
function shortText(value: unknown): string | undefined {
  const text = typeof value === 'string' ? toPlainLine(value.slice(0, 1_000)).trim() : '';
  return text === '' ? undefined : text.length > 200 ? `${text.slice(0, 199)}…` : text;
}
