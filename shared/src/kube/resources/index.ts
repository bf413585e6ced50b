export { decodeMonitorSpec, type DecodedSpec } from './decode-monitor.ts';
export type * from './monitor-spec.ts';
export { alertRulesOf, ownOfLinted, routeRulesOf, windowsOf } from './alert-rules.ts';
export { detectionRulesOf, groupRulesOf } from './detection-rules.ts';
export { decodeChannelSpec, type ChannelSpec, type DecodedChannel } from './decode-channel.ts';
export type { DrillSpec } from './channel-fields.ts';
export { findUnknownFields } from './unknown-fields.ts';
export type { SpecChecks } from './reading.ts';
export {
  mayBeWatched,
  reachOf,
  refusalOf,
  selectsCronJob,
  type Selecting,
  withoutNeedlessFallbacks,
  type Reach,
  type ReachRules,
  type RefusalReason,
} from './reach.ts';
export { toConditions, toTimeText, type Condition } from './condition.ts';
export { judgeMonitor, phaseOf, type MonitorFacts, type ScheduleFault } from './monitor-conditions.ts';
export {
  maxCronJobsInStatus,
  toMonitorStatus,
  type CronJobHealth,
  type MonitoredHealth,
  type StatusWriter,
} from './monitor-status.ts';
export { isSame, statusDueAt } from './status-writes.ts';
export {
  judgeChannel,
  lacksLabel,
  mayReadSecret,
  toChannelStatus,
  unlabelledSecret,
  type ChannelFigures,
  type ChannelStatus,
  type DeliveryFault,
  type SecretFinding,
  type SecretRules,
} from './channel-status.ts';
