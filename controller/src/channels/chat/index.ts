import { chatPayload, chatServices, chatUrlProblem } from '@cronjob-monitor/shared/domain';
import type { Channel } from '../channel.ts';
import { findSecretUrl, isUnusable } from '../secret-value.ts';
import { sendChat, type ChatCredentials } from './send.ts';

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
