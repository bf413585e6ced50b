export { createAddressRules, type AddressRules } from './address-rules.ts';
export { createUrlCall } from './call-url.ts';
export type { Form, Pace, Secrets, SendDeps } from './channel.ts';
export { connectLimitMs, sendLimitMs } from './limits.ts';
export { failed, type Delivered, type Failed, type NextStep, type Outcome, type Progress } from './outcome.ts';
export { resolveByMachine, type ResolveHost } from './reach.ts';
export { channels, getChannel, type Attempt, type RegisteredChannel } from './registry.ts';
export type { ChannelTarget, SecretKeyRef } from './target.ts';
