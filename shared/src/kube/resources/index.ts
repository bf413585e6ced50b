export { decodeMonitorSpec, type DecodedSpec } from './decode-monitor.ts';
export type * from './monitor-spec.ts';
export { alertRulesOf, ownOfLinted, routeRulesOf, windowsOf } from './alert-rules.ts';
export { detectionRulesOf, groupRulesOf } from './detection-rules.ts';
export { decodeChannelSpec, type ChannelSpec, type DecodedChannel } from './decode-channel.ts';
export type { DrillSpec } from './channel-fields.ts';
export { findUnknownFields } from './unknown-fields.ts';
export type { SpecChecks, SpecNote, SpecProblem } from './reading.ts';
export {
  mayBeWatched,
  reachOf,
  refusalOf,
  selectsCronJob,
  type Selecting,
  withoutNeedlessFallbacks,
  type Reach,
  type ReachRules,
  type Refusal,
  type RefusalReason,
} from './reach.ts';
export { toConditions, toTimeText, type Condition, type ConditionVerdict } from './condition.ts';
export {
  judgeMonitor,
  monitorConditionTypes,
  phaseOf,
  type MonitorFacts,
  type ScheduleFault,
} from './monitor-conditions.ts';
export {
  maxCronJobsInStatus,
  toMonitorStatus,
  type ActiveAlertFacts,
  type CronJobHealth,
  type MonitoredHealth,
  type MonitorStatus,
  type StatusWriter,
} from './monitor-status.ts';
export { isSame, statusDueAt } from './status-writes.ts';
export {
  judgeChannel,
  lacksLabel,
  mayReadSecret,
  toChannelStatus,
  unlabelledSecret,
  type ChannelFacts,
  type ChannelFigures,
  type ChannelStatus,
  type DeliveryFault,
  type SecretFinding,
  type SecretRules,
} from './channel-status.ts';
