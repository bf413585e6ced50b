export * from './text/nearest.ts';
export * from './json.ts';
export * from './instant.ts';
export {
  dayMs,
  formatDuration,
  hourMs,
  minuteMs,
  parseDuration,
  parseResourceDuration,
  resourceDurationMaxLength,
  resourceDurationPattern,
} from './duration.ts';
export type * from './objects/job.ts';
export { elapsedMs, judgeConditions, type JobCondition } from './execution/outcome.ts';
export type * from './objects/pod.ts';
export * from './objects/cron-job.ts';
export type * from './objects/namespace.ts';
export { toAttempts, type Attempt } from './execution/attempts.ts';
export * from './execution/evidence.ts';
export {
  addFacts,
  factNamePattern,
  factsTailLines,
  isOutputKnown,
  lastFacts,
  mostFactPods,
  podsWithOutput,
  readFacts,
  withoutFacts,
} from './execution/output-facts.ts';
export { findExitCause, type ExitCause } from './execution/exit-cause.ts';
export * from './execution/failure-reason.ts';
export {
  hopelessWaitAtEnd,
  hopelessWaitOf,
  isHopelessReason,
  refusalIn,
  refusedCreate,
  type CreateRefusal,
  type HopelessWait,
} from './execution/hopeless-wait.ts';
export { firstRunAt } from './execution/ran.ts';
export { faultOf, faultOfMiss, faultOfRun, type Fault } from './execution/fault.ts';
export * from './execution/not-started.ts';
export { answerInThread, durationInWords, isGroupName, refText, suspendedJob } from '../contract/index.ts';
export { groupNameOf, groupOf, groupUidOf, toGroupFacts, type KeptGroup } from './objects/job-group.ts';
export * from './execution/origin.ts';
export { isOver, nextSnapshot, type JobSnapshot, judgeVanished, toExecution } from './execution/to-execution.ts';
export {
  executionStatuses,
  executionTriggers,
  type Execution,
  type ExecutionStatus,
  type ExecutionTrigger,
} from './execution/execution.ts';
export * from './execution/decisive-line.ts';
export * from './text/search-log.ts';
export * from './text/mask-line.ts';
export { compileRegex, findRegexProblem, RegexError } from './fixes/regex.ts';
export {
  besideBuiltIn,
  compileFix,
  compileFixes,
  renderSuggestion,
  tryFix,
  type Fix,
  type SuggestionValues,
  type TriedFix,
} from './fixes/best-match.ts';
export { type FixFacts, type FixPattern } from './fixes/pattern.ts';
export * from './fixes/suggest.ts';
export * from './changes/log-difference.ts';
export * from './changes/side-by-side.ts';
export * from './changes/compare-runs.ts';
export * from './watch/judges-from.ts';
export * from './health/other-installation.ts';
export * from './health/problem.ts';
export * from './health/symptoms.ts';
export * from './stats/percentile.ts';
export * from './stats/run-counts.ts';
export {
  decodeSketch,
  encodeSketch,
  mergeSketches,
  sketchOf,
  sketchPercentile,
  sketchSize,
  withoutSketch,
  type Sketch,
} from './stats/sketch.ts';
export { lateAfterMs, startSkewP99, slotGapMs, epochAt, startDelayOf } from './slots/tolerance.ts';
export { isFarOff, postponementOf, type Postponement } from './slots/clock-guard.ts';
export type * from './slots/run.ts';
export * from './slots/settle.ts';
export type { Gap } from './slots/traces.ts';
export * from './slots/zone-offset.ts';
export { instantOfChange, sameSpec, specSince, type SpecEpoch } from './slots/epoch.ts';
export * from './mute/maintenance.ts';
export type {
  AlertMessage,
  DigestCause,
  DigestedAlert,
  DigestMessage,
  FailurePlace,
  FrozenMessage,
  Heading,
  Message,
  MessageAlert,
  MessageContext,
  MessageCronJob,
  MessageEvidence,
  MessageJob,
  MessageLinks,
  Outgoing,
  TestMessage,
  DrillMessage,
} from './delivery/message.ts';
export * from './delivery/channel-proof.ts';
export { isAboutAlert } from './delivery/message.ts';
export {
  failureOf,
  toAlertFacts,
  withEvidence,
  withoutAbsent,
  type AlertEvidenceFacts,
  type AlertFacts,
  type AlertRun,
} from './delivery/alert-context.ts';
export * from './delivery/message-evidence.ts';
export { toHolding, type HoldingVerdict } from './delivery/to-holding.ts';
export { alertWords, codesExplaining, raisedTypes, sentenceOf } from './alert-types/index.ts';
export type { Finding, WordedAlert } from './alert-types/finding.ts';
export { missedCause } from './alert-types/of-absence.ts';
export { rateWords } from './alert-types/of-targets.ts';
export { endsWithSuccess, isEdge, joinsStorms, lacksSuccess, nameFinding, stormTypes } from './alert-types/traits.ts';
export {
  closeCauseInWords,
  closingTitleOf,
  headingOf,
  firstNoticeTitleOf,
  titleOf,
  titleOfMessage,
  type Closing,
} from './delivery/title.ts';
export { counted, spanInWords } from './delivery/wording.ts';
export { mapTexts, toSafeMessage } from './delivery/safe-message.ts';
export * from './delivery/secret-shape.ts';
export {
  messagePlaceholders,
  parseTemplate,
  suggestionPlaceholders,
  wrongPlaceholders,
  type Template,
} from './template/parse.ts';
export { cutEnd, inBytes, keepEnd } from './text/cut.ts';
export { toPlainLine, toPlainText } from './text/plain-text.ts';
export * from './redaction/redact.ts';
export { redactionMarginBytes, toSafeLog, type SafeLog } from './redaction/safe-log.ts';
export * from './alert/identity.ts';
export type {
  ActiveAlert,
  AlertFinding,
  AlertNotice,
  AlertRecord,
  AlertRules,
  AlertStep,
  AlertWorld,
  AwaitedEvidence,
  CloseCause,
  Decision,
  FindingVerdict,
  HeldBefore,
  HoldingFinding,
  ToldBefore,
} from './alert/alert.ts';
export { follow, type Followed } from './alert/follow.ts';
export * from './alert/life.ts';
export { wayOf, type ChannelAtSend } from './alert/route-steps.ts';
export {
  ancestorsOf,
  holdingParent,
  mostDependencies,
  parentsOf,
  toNamedRef,
  type Dependencies,
  type HeldForParents,
  type ParentAlert,
} from './alert/dependency.ts';
export { askAgainMs, toMutable } from './alert/step.ts';
export type { Flips } from './alert/flapping.ts';
export {
  namedChannels,
  routesOf,
  type Admitting,
  type ChannelRef,
  type Routes,
  type Routing,
  type ToldTo,
} from './alert/routes.ts';
export {
  annotationProblemsOf,
  effectiveOf,
  ownerOf,
  type Effective,
  type OwnSettings,
  type Said,
  type SlaSpec,
  type WrittenRoute,
} from './settings/effective.ts';
export * from './settings/earlier-words.ts';
export { type Annotations } from './settings/words.ts';
export {
  CoverageJudge,
  outcomeOf,
  routeOf,
  type ChannelReach,
  type Coverage,
  type ReachFacts,
  type Route,
  type RouteMoment,
  type RouteRules,
} from './alert/route.ts';
export { alertSeverity } from './alert/severity.ts';
export * from './alert/rung.ts';
export {
  messageHold,
  muteOf,
  type EarlierMute,
  type EarlierWindows,
  type MessageHold,
  type Mute,
} from './alert/holds.ts';
export * from './mute/silence.ts';
export * from './limits/token-bucket.ts';
export * from './delivery/completion.ts';
export * from './delivery/backoff.ts';
export { nextDeliveryState, statesBefore } from './delivery/transitions.ts';
export * from './delivery/channel-hold.ts';
export {
  digestBody,
  digestDueAt,
  foldable,
  gather,
  isDigestOver,
  isLate,
  stormWindowMs,
  type OpenDigest,
} from './delivery/digest.ts';
export * from './detect/chain.ts';
export * from './detect/facts-reach.ts';
export { inhibitionOf, jobReasonOf, toPossibleCause, type PossibleCause } from './detect/inhibition.ts';
export { jobFailed, runsNeeded, type JobFailedRule, type JudgedRun } from './detect/job-failed.ts';
export { deadManDue, type DeadManRule } from './detect/dead-man.ts';
export { disappeared, toAbsence, type Absence, type Expected, type LastWriter } from './detect/disappeared.ts';
export { awaitsRecord, type EndedRun } from './detect/duration-limits.ts';
export type { Baseline } from './detect/duration-regression.ts';
export type { FinishByFacts } from './detect/finish-by.ts';
export type { JobStuckFacts, PastJob, UnfinishedJob } from './detect/job-stuck.ts';
export type { JudgedSlot } from './detect/missed-schedule.ts';
export { outputRunsNeeded, type OutputAssertion, type OutputHistory, type OutputRun } from './detect/output.ts';
export { levelsAcross, levelsPassed, type DetectionPast, type LevelsByRules } from './detect/levels-passed.ts';
export type { PassedLevel, Suspension } from './detect/passed-level.ts';
export { isRateBelow, rateBelowSince, rateHeldSince, type RatedRun, type RatePast } from './detect/success-rate.ts';
export { statedZone } from './schedule/parse.ts';
export { dailyInstants } from './schedule/daily-instants.ts';
export { quiet, type Figures, type Verdict } from './detect/verdict.ts';
export * from './retention/cutoffs.ts';
export { expectedSlots, nthExpectedAfter } from './slots/expected.ts';
export * from './detect/lint.ts';
export { lintCronJob } from './detect/lint-cron-job.ts';
export {
  lintLevels,
  readAdviceIgnore,
  type LintCode,
  type LintedCronJob,
  type LintFacts,
  type LintFinding,
  type OwnOfLinted,
} from './detect/lint-finding.ts';
export * from './preview/preview.ts';
export * from './preview/patch.ts';
export * from './preview/judged-values.ts';
export * from './preview/lane.ts';
export * from './preview/suggest-limits.ts';
export { tellTruth, truthOf } from './preview/truth.ts';
export type { PreviewedCronJob, PreviewedParent, PreviewedRun, PreviewedSlot } from './preview/history.ts';
export {
  brokenTarget,
  brokenWords,
  budgetOf,
  cronJobWords,
  defaultWindowDays,
  deadlineStep,
  evictedStep,
  exitInWords,
  failuresLeft,
  holdsOf,
  instantIn,
  judgeDay,
  judgeLimit,
  judgeRate,
  killedStep,
  limitInWords,
  missingIn,
  noSla,
  openRunOf,
  printDatedWords,
  printWords,
  rateBudget,
  rateWindows,
  runWords,
  sharedCause,
  slaOf,
  slaTargetsOf,
  hasOutcome,
  standingFactsOf,
  standingOf,
  statusOf,
  stepOf,
  suspendedCause,
  toVerdict,
  verdictOf,
  waitingCause,
  type BrokenTarget,
  type Budget,
  type OpenAlertFacts,
  type SlaTargets,
  type SlaTargetSpec,
  type Standing,
  type Suspended,
  type VerdictAddition,
  type VerdictFacts,
  type WaitingJob,
} from './verdict/index.ts';
export { columnsOf, countStarts, floorTo, isTexture, type WallSpan } from './wall/span.ts';
export * from './wall/cells.ts';
export * from './forecast/plan.ts';
export * from './forecast/risks.ts';
export * from './forecast/upcoming.ts';
export type { ZoneClock } from './schedule/zone-clock.ts';
export * from './rollout/rollout.ts';
export * from './rendering/render.ts';
export * from './rendering/example.ts';
export * from './rendering/chat/payload.ts';
export { toDocument } from './rendering/message-document.ts';
export * from './rendering/email-payload.ts';
export { pagingPayload, type PagingPayload } from './rendering/paging-payload.ts';
export * from './rendering/webhook-payload.ts';
export * from './rendering/alertmanager-alerts.ts';
export {
  emailTlsModes,
  neededSecrets,
  pagingSeverities,
  webhookMethods,
  type ChannelTarget,
  type ChatTarget,
  type EmailTarget,
  type Form,
  type NeededSecret,
  type PagingTarget,
  type SecretKeyRef,
  type TargetOf,
  type WebhookTarget,
} from './rendering/target.ts';
