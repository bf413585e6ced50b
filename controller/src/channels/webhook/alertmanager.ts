import { alertmanagerPayload, isAboutAlert, type Form, type WebhookTarget } from '@cronjob-monitor/shared/domain';
import type { SendDeps, SendRequest } from '../channel.ts';
import { delivered, failed, type Failed, type Outcome } from '../outcome.ts';
import { reach } from '../reach.ts';
import { sendAndJudge } from '../send-and-judge.ts';
import { addressRefused, failedInTransport, nameUnknown } from '../transport-failure.ts';
import { mergeHeaders, type WebhookCredentials } from './send.ts';

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
export async function sendToAlertmanager(
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
