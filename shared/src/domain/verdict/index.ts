export {
  brokenWords,
  cronJobWords,
  runWords,
  suspendedCause,
  type BrokenTarget,
  type CronJobWordFacts,
  type Suspended,
  type WaitingJob,
} from './cron-job-words.ts';
export { durationInWords, exitInWords, instantIn, limitInWords } from './figures.ts';
export { holdsOf } from './holds.ts';
export { deadlineStep, evictedStep, killedStep } from './patch-steps.ts';
export { printDatedWords, printWords } from './print-words.ts';
export { hasOutcome, standingOf, statusOf, type Standing, type StandingFacts } from './standing.ts';
export { missingIn, openRunOf, stepOf, waitingCause, type StepFacts } from './step.ts';
export {
  brokenTarget,
  budgetOf,
  defaultWindowDays,
  failuresLeft,
  judgeDay,
  judgeLimit,
  judgeRate,
  noSla,
  rateBudget,
  rateWindows,
  slaOf,
  slaTargetsOf,
  type Budget,
  type SlaTargets,
  type SlaTargetSpec,
} from './targets.ts';
export {
  standingFactsOf,
  toVerdict,
  verdictOf,
  type OpenAlertFacts,
  type VerdictAddition,
  type VerdictFacts,
} from './verdict-of.ts';
