import { chatPayload, chatServices, type ChatTarget } from '@cronjob-monitor/shared/domain';
import type { SendDeps, SendRequest } from '../channel.ts';
import { longestMs, sendHttp } from '../outbound-http.ts';
import { failed, type Outcome } from '../outcome.ts';
import { jsonHeaders, judgeAnswer } from '../send-and-judge.ts';
import { failedInTransport } from '../transport-failure.ts';

/** The secret of this channel: the address is all that a sender needs. */
export interface ChatCredentials {
  readonly url: URL;
}

export async function sendChat(
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
