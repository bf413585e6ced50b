export { toChannelSeen, type ChannelSeen, type ClusterCaches, createCaches, createReflectors } from './cluster-view.ts';
export { toMonitorSeen, type MonitorSeen } from './monitor-seen.ts';
export { createSelection, type Selection, type SelectionSources } from './selection.ts';
export { selectedInGap, SelectionStarts, type SelectionStartsDeps } from './selection-starts.ts';
export { isExcluded } from './exclusion.ts';
