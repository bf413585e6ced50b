import type { Channel } from '../channel.ts';
import { findSecretUrl, isUnusable } from '../secret-value.ts';
import { chatPayload, type ChatPayload, sendChat, type ChatCredentials } from './send.ts';

/** A room of a chat service, by its incoming webhook: one message a second. */
export const chat: Channel<'chat', ChatCredentials, ChatPayload> = {
  type: 'chat',
  pace: { inFlight: 1, gapMs: 1_000 },
  credentialsOf: ({ chat: { webhookSecretRef } }, secrets) => {
    const url = findSecretUrl(webhookSecretRef, secrets);
    return isUnusable(url) ? url : { url };
  },
  hostOf: (_target, { url }) => url.hostname,
  payloadOf: chatPayload,
  send: sendChat,
};
