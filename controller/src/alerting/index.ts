export { completeAlerts, isExplainedBy, podStatusOf, type IncludedContext, type LearnedOfRun } from './complete.ts';
export { createDispatcher } from './dispatcher.ts';
export type { Dispatcher, DispatcherDeps } from './dispatcher-deps.ts';
export { createFreeze, type FreezeDeps, type ToldCronJob } from './freeze.ts';
export { toldAtOnce, type KnownOfRun, type ToldAtOnce } from './known-of-run.ts';
export { raise } from './raise.ts';
export type {
  AlertFinding,
  AlertRules,
  CloseCause,
  FindingVerdict,
  HeldBefore,
  HoldingFinding,
  MessageRequest,
  RaiseDeps,
  RaisedAlert,
} from './finding.ts';
export { createStorms, type StormDeps, type Storms } from './storms.ts';
