export { type ChannelSeen, type ClusterCaches, createCaches, createReflectors } from './cluster-view.ts';
export { isSelectorUnderstood, toMonitorSeen, type MonitorSeen } from './monitor-seen.ts';
export { createSelection, dependsOn, type Selection } from './selection.ts';
export { selectedInGap, SelectionStarts } from './selection-starts.ts';
export { JobGroups } from './job-groups.ts';
export { isExcluded } from './selection.ts';
