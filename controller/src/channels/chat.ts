import { chatPayload, chatServices, chatUrlProblem, type ChatTarget } from '@cronjob-monitor/shared/domain';
import type { Channel, SendDeps, SendRequest } from './channel.ts';
import { findSecretUrl, isUnusable } from './secret-value.ts';
import { longestMs, sendHttp } from './outbound-http.ts';
import { failed, type Outcome } from './outcome.ts';
import { jsonHeaders, judgeAnswer } from './send-and-judge.ts';
import { failedInTransport } from './transport-failure.ts';

/** A room of a chat service, by its incoming webhook: one message at a time. */
export const chat: Channel<'chat', ChatCredentials, object> = {
  type: 'chat',
  paceOf: ({ chat: { format } }) => ({ inFlight: 1, gapMs: chatServices[format].gapMs }),
  credentialsOf: ({ chat: { webhookSecretRef, format } }, secrets) => {
    const url = findSecretUrl(webhookSecretRef, secrets, (value) => chatUrlProblem(format, value));
    return isUnusable(url) ? url : { url };
  },
  hostsOf: (_target, { url }) => [url.hostname],
  payloadOf: chatPayload,
  send: sendChat,
};

/** The secret of this channel: the address is all that a sender needs. */
interface ChatCredentials {
  readonly url: URL;
}

async function sendChat(
  { outgoing, target, credentials, form }: SendRequest<ChatTarget, ChatCredentials>,
  deps: SendDeps,
  signal: AbortSignal,
): Promise<Outcome> {
  const format = chatServices[target.chat.format];
  const rendered = chatPayload(outgoing, target, form);
  const { url, body } = format.address?.(credentials.url, rendered, outgoing.deliveryId) ?? {
    url: credentials.url,
    body: rendered,
  };
  const request = { url, method: 'POST', headers: jsonHeaders, body: JSON.stringify(body) } as const;
  const result = await sendHttp(request, deps, signal);
  if ('failure' in result) return failedInTransport(result.failure);
  const { answer } = result;
  const asked = answer.retryAfterMs ?? format.patienceMsOf?.(answer.text);
  const outcome = judgeAnswer({ ...answer, retryAfterMs: asked && Math.min(asked, longestMs) }, form);
  if (outcome.kind === 'failed' || format.takes(answer)) return outcome;
  return failed('retry', 'serverError', `It answered ${answer.status} and did not say that it took the message`, {
    httpStatus: answer.status,
    maybeSent: true,
  });
}
