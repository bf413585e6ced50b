import type { SendDeps, SendRequest } from '../channel.ts';
import type { Outcome } from '../outcome.ts';
import { jsonHeaders, sendAndJudge } from '../send-and-judge.ts';
import type { ChatTarget } from '../target.ts';
import { chatPayload } from './payload.ts';

/** The secret of this channel: the address is all that a sender needs. */
export interface ChatCredentials {
  readonly url: URL;
}

export async function sendChat(
  { outgoing, target, credentials, form }: SendRequest<ChatTarget, ChatCredentials>,
  deps: SendDeps,
  signal: AbortSignal,
): Promise<Outcome> {
  const body = JSON.stringify(chatPayload(outgoing, target, form));
  return sendAndJudge({ url: credentials.url, method: 'POST', headers: jsonHeaders, body }, form, deps, signal);
}
