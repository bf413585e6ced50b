export {
  createOwnCertificate,
  type KeyPair,
  createCertificateSource,
  type CertificateFiles,
  type CertificateSource,
  type CertificateSourceDeps,
} from './certificate-source.ts';
export { systemClock, type Clock } from './clock.ts';
export { HeapHaste } from './heap.ts';
export { createLifecycle, type Lifecycle, type LifecycleDeps, type Stop } from './lifecycle.ts';
export { createLogger, type LogFields, type Logger, type LoggerOptions, type LogLevel } from './logger.ts';
export {
  createNeighbourMetrics,
  createProcessMetrics,
  type NeighbourMetrics,
  type ProcessMetrics,
  type Registry,
  watchSymptoms,
  type SymptomWatchDeps,
} from './metrics/index.ts';
export {
  createMetricsListener,
  type MetricsListener,
  type MetricsListenerDeps,
  createConfiguredMetrics,
} from './metrics-listener.ts';
export { ProblemList, type ProblemSource } from './problem-list.ts';
export { createProbes, type Probes, type ProbesDeps } from './probes.ts';
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
export { BudgetError, createBudgetedThread, type BudgetedThread, type BudgetedThreadDeps } from './worker.ts';
