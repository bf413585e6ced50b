export * from './cluster-view.ts';
export { isSelectorUnderstood, toMonitorSeen, type MonitorSeen } from './monitor-seen.ts';
export * from './selection.ts';
export * from './selection-starts.ts';
export * from './job-groups.ts';
