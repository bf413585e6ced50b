export {
  createOwnCertificate,
  type KeyPair,
  createCertificateSource,
  type CertificateSource,
} from './certificate-source.ts';
export { systemClock, type Clock } from './clock.ts';
export { HeapHaste } from './heap.ts';
export { createLifecycle, type Lifecycle } from './lifecycle.ts';
export { createLogger, type LogFields, type Logger, type LoggerOptions, type LogLevel } from './logger.ts';
export {
  createNeighbourMetrics,
  createProcessMetrics,
  type NeighbourMetrics,
  type ProcessMetrics,
  type Registry,
} from './metrics/index.ts';
export { watchSymptoms, type SymptomWatchDeps } from './metrics/symptom-watch.ts';
export { createMetricsListener, createConfiguredMetrics } from './metrics-listener.ts';
export { ProblemList } from './problem-list.ts';
export { createProbes, type Probes } from './probes.ts';
export {
  hashOf,
  KeptAnswers,
  ReviewAsker,
  ReviewCache,
  reviewHoldsMs,
  type Review,
  type ReviewCacheDeps,
} from './review-cache.ts';
export { runProcess, installSignals, type Ending } from './run-process.ts';
export { orAborted, startTimeLimit, TimeLimitError, withinLimit, type TimeLimit } from './time-limit.ts';
export { BudgetError, createBudgetedThread, type BudgetedThread } from './worker.ts';
