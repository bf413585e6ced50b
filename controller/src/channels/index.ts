export { createAddressRules, type AddressRules } from './address-rules.ts';
export * from './outbound-http.ts';
export { type Pace, type Secrets, type SendDeps, sendLimitMs } from './channel.ts';
export { failed, type Failed, type NextStep, type Outcome, type Progress } from './outcome.ts';
export { postAlerts, type Peers, alertmanagerPeersOf } from './webhook/index.ts';
export * from './webhook/alertmanager-mutes.ts';
export * from './registry.ts';
export type { ChannelTarget } from '@cronjob-monitor/shared/domain';
