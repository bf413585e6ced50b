export { decodeMonitorSpec, type DecodedSpec } from './decode-monitor.ts';
export type * from './monitor-spec.ts';
export * from './alert-rules.ts';
export * from './detection-rules.ts';
export * from './decode-channel.ts';
export type { DrillSpec } from './channel-fields.ts';
export * from './unknown-fields.ts';
export type { SpecChecks } from './reading.ts';
export * from './reach.ts';
export { toConditions, toTimeText, type Condition } from './condition.ts';
export { judgeMonitor, phaseOf, type MonitorFacts, type ScheduleFault } from './monitor-conditions.ts';
export {
  maxCronJobsInStatus,
  toMonitorStatus,
  type CronJobHealth,
  type MonitoredHealth,
  type StatusWriter,
} from './monitor-status.ts';
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
export * from './status-writes.ts';
