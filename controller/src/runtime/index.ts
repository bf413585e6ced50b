export { ObjectCache } from './cache.ts';
export { ClusterOutage } from './cluster-outage.ts';
export { Circuit } from './circuit.ts';
export { resourceOf, type EventHandler, type ObjectEvent, type Projected, type Projection } from './objects.ts';
export {
  ReconcileLoop,
  TerminalError,
  type ComeBack,
  type ReconcileLoopDeps,
  type ReconcileMetrics,
  type ReconcileResult,
} from './reconcile-loop.ts';
export { Reflector, type ReflectorState, type WatchMetrics } from './reflector.ts';
export { ReflectorSet } from './reflector-set.ts';
export { Snapshots, type Snapshot } from './snapshots.ts';
export { Spool, type SpoolDeps, type SpoolEntry } from './spool.ts';
export { Spooling } from './spooling.ts';
export { WorkQueue, type QueueMetrics } from './work-queue.ts';
export { ListOffer, nextTurn } from './lists.ts';
export { BlindSpans } from './blind-spans.ts';
export type { BlindSpan } from './watch-progress.ts';
export { Batches } from './batches.ts';
export { isDatabaseAway, noticeOutage } from './database-away.ts';
