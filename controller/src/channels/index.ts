export { createAddressRules, type AddressRules } from './address-rules.ts';
export { createUrlCall } from './call-url.ts';
export type { Form, Pace, Secrets, SendDeps } from './channel.ts';
export { connectLimitMs, sendLimitMs } from './limits.ts';
export { failed, type Delivered, type Failed, type NextStep, type Outcome, type Progress } from './outcome.ts';
export { resolveByMachine, type ResolveHost } from './reach.ts';
export {
  alertsOf,
  heldOpenMs,
  identityOf,
  postAlerts,
  type AlertmanagerAlert,
  type Peers,
} from './webhook/alertmanager.ts';
export { alertmanagerPeersOf } from './webhook/index.ts';
export { readMutes, type Mute } from './webhook/alertmanager-mutes.ts';
export { channels, getChannel, type Attempt, type RegisteredChannel } from './registry.ts';
export type { ChannelTarget, SecretKeyRef } from './target.ts';
