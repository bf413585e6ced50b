export type { Db, Move, Store, Tx } from './database.ts';
export { retryReasons } from './observer.ts';
export { databaseProblems, findMaxConnections, isWritable } from './database-problems.ts';
export { openStore, schemaOpener, type StoreDeps } from './open.ts';
export { toStoreSettings } from './from-config.ts';
export {
  describeSelf,
  findSelfDescription,
  hasName,
  inSchema,
  listSchemas,
  touchLists,
  type CatalogName,
  type SelfDescription,
} from './schemas.ts';
export { sslModes, type PoolSettings, type ServerSettings, type SslMode, type StoreSettings } from './settings.ts';
export { FencedError, PoolBusyError, StoreError } from './store-error.ts';
export { findInstalledAt, getSchemaState, migrate, type SchemaState } from './migrate.ts';
export { copyStore, type CopyRequest, type CopyStep, type TableProof } from './copying/copy-store.ts';

export {
  askAction,
  claimAction,
  endAction,
  expireAction,
  findAction,
  forgetResult,
  listAskedActions,
  listAgents,
  presentAgent,
  type AskedAction,
} from './actions.ts';
export { getLeader, takeEpoch, takeEpochAfter } from './leader.ts';
export { canExclude, openLockSession, type LockSession } from './leader-lock.ts';
export {
  beat,
  beatAsLeader,
  findLastBeatOfOthers,
  findLastWriter,
  findLeaderBeat,
  findLiveLeader,
  forgetHeartbeats,
  leaderBeatMs,
  listHeartbeats,
  type Heartbeat,
  type LeaderBeat,
} from './heartbeats.ts';

export { forgetCronJob, projectCronJob, projectCronJobs, type CronJobSeen } from './catalog/project-cron-job.ts';
export { listRollouts, listUnsettledRollouts, type RolloutRow } from './catalog/job-templates.ts';
export { decideStates, setBrokenTargets, setWaiting, type BrokenTargets } from './catalog/verdict-facts.ts';
export { cronJobIdsOf, listWatchedSince, lockCronJobs } from './catalog/cron-job-ids.ts';
export { listCronJobMarks, type CronJobMarks } from './catalog/cron-job-marks.ts';
export { forgetMonitor, listSpecs, markEvaluated, projectMonitor, type MonitorProjection } from './catalog/monitors.ts';
export { listJudgedCronJobs, type JudgedCronJob, type JudgingMonitor } from './catalog/judged-cron-jobs.ts';
export { toId16, newId } from './id16.ts';
export {
  markJudged,
  markUnjudged,
  mostRunsAtOnce,
  recordInside,
  recordRuns,
  type CountedRunOf,
} from './executions/record-runs.ts';
export { listTargetsOf, markWatchesJudged, setTargets, type MonitorTarget } from './catalog/monitor-targets.ts';
export { listPresentObjects } from './catalog/present-objects.ts';
export {
  findChannelFigures,
  type StoredChannelFigures,
  countQueued,
  findChannel,
  listChannelNames,
  listChannelStates,
  type CatalogChannelState,
  type ChannelQueue,
} from './catalog/list-channel-states.ts';
export { forgetChannel, projectChannel, type ChannelProjection } from './catalog/channels.ts';

export { listSpecEpochs } from './spec-epochs.ts';
export { findTemplate, getTemplateKey, recordTemplates, type NewTemplate } from './templates.ts';
export {
  findClusterState,
  findUnwatched,
  putClusterState,
  listFindings,
  putFindings,
  type UnwatchedCronJobs,
} from './cluster-state.ts';
export {
  forgetChanges,
  listChanges,
  recordChanges,
  type Change,
  type NumberedChange,
  findChangeBounds,
  findChangeMark,
} from './changes.ts';

export { listRecordedJobs, listSlotClaims } from './executions/recorded-jobs.ts';
export { listFactPoints, listNames, settleRunFacts, type FactPoint } from './executions/run-facts.ts';
export {
  findComparedRun,
  findComparedRuns,
  listComparedRuns,
  listRunsOfAnotherSpec,
  type RunOfCronJob,
  findComparedJob,
  type ComparedRuns,
} from './executions/compared-runs.ts';
export { updateExecutionFaults, updateExecutionFixes } from './executions/execution-fix.ts';
export { listIncompleteRuns, updateExecutionEvidence } from './executions/execution-evidence.ts';
export { listSuspendedSince, listSuspensions } from './suspensions.ts';
export { listActiveJobs, putActiveJobs, type ActiveJob } from './active-jobs.ts';
export {
  findEvidence,
  listDecisiveLines,
  listEvidence,
  listEvidenceOf,
  putEvidence,
  packEvidence,
  replaceEvidence,
  type PackedEvidence,
  type Evidence,
} from './evidence.ts';
export { listLogs, type KeptLog, type LogFilter, type LogPlace } from './list-logs.ts';
export { deleteHistory, pruneHistory, purgeCronJob, type RemovedHistory } from './retention.ts';
export {
  listClearedHistories,
  findCronJob,
  isCronJobSelected,
  listCronJobIds,
  listCronJobs,
  listCronJobsById,
  type CatalogCronJob,
  listNamespaces,
  listGenerations,
  listOwners,
} from './catalog/list-cron-jobs.ts';
export { pruneRest, type RemovedRest, type RestCutoffs, type RestKind, countRunsOfDay } from './pruning/prune-rest.ts';
export { listRetentionOwners, type RetentionOwner } from './pruning/prune-catalog.ts';

export type { CronJobFilter } from './catalog/cron-job-filter.ts';
export {
  countCronJobs,
  countTargets,
  listIdsInOrder,
  listRankedCronJobs,
  type RankedCronJob,
  listNamesOf,
  type MonitorCounts,
  type CronJobOrder,
} from './catalog/page-cron-jobs.ts';
export { listWindowCounts, rateDue, relistAll } from './catalog/cronjob-list.ts';
export {
  countScheduled,
  countWithMissed,
  gatherFigures,
  mostNamed,
  noRuns,
  rateVerdictOf,
  type CronJobFigures,
  type RateCounts,
  type Rates,
} from './catalog/rate-counts.ts';
export { listOutlines, type CronJobOutline } from './catalog/list-outlines.ts';
export {
  countMonitorPhases,
  findMonitor,
  listMonitors,
  listMonitorsOf,
  listMonitorsSince,
  type CatalogMonitor,
} from './catalog/list-monitors.ts';
export { listChannels, type CatalogChannel } from './catalog/list-channels.ts';
export {
  countDeliveries,
  findDelivery,
  listDeliveries,
  type DeliveryFilter,
  type StoredDelivery,
} from './deliveries/list-deliveries.ts';
export {
  countExecutions,
  findExecution,
  findNamedExecutions,
  type NamedRun,
  listExecutions,
  type ExecutionFilter,
  type ExecutionSort,
  type StoredExecution,
} from './executions/list-executions.ts';
export {
  listMedianDurations,
  measureDurations,
  measureDurationsOfEach,
  type DurationFigures,
} from './executions/measure-durations.ts';
export { countFleet } from './executions/count-fleet.ts';
export { countOutcomes, type OutcomeCounts } from './executions/count-outcomes.ts';
export { listLastFailures, listRecentRuns, type RecentEntry } from './executions/list-recent-runs.ts';
export { countAlertsOfMonitor, listAlertsOfMonitor, type AlertOfMonitor } from './alerts/list-alerts-of-monitor.ts';
export { countAlertsOfMonitors, listAlertStarts, type AlertStart, countOpenAlerts } from './alerts/count-alerts.ts';
export { readHistories, type StoredHistory } from './preview-history.ts';
export { findOldestExecution, measureStorage } from './measure-storage.ts';
export {
  findOldestDay,
  listDayDurations,
  listDays,
  listDaysOfEach,
  type DayCounts,
  type DayDurations,
  type DayOfCronJob,
  type DaysOf,
} from './executions/list-days.ts';
export { listLedgers, type StoredLedger } from './slots/ledgers.ts';
export { listLedgerRuns, type LedgerRun } from './slots/ledger-runs.ts';
export { answerSlots, recordSlots } from './slots/record-slots.ts';
export { listRecentSlots } from './slots/recent-slots.ts';
export { findStartSkew } from './slots/start-skew.ts';
export type { StoredSlot } from './slots/stored-slot.ts';
export { findOldestWatermark, moveWatermarks } from './slots/watermarks.ts';
export { countSlots, listSlots, type KnownSlot, type SlotFilter, listMissedSlots } from './list-slots.ts';
export { countLaneRuns, countWallRuns, countWallSlots, listIdsWithOutcome } from './wall-cells.ts';
export { countGridCells, listGridCells, type Cell, type CellWindow } from './list-grid-cells.ts';
export {
  countAlerts,
  findAlert,
  listAlerts,
  type AlertFilter,
  type AlertSort,
  type StoredAlert,
  listOpenAlerts,
  listLastAlerts,
} from './alerts/list-alerts.ts';
export {
  listAlertsAsTold,
  listToldThere,
  updateMutedThere,
  type AlertToldThere,
  type MutedThere,
} from './alerts/told-there.ts';
export { listTold, type ToldDelivery, type ToldFacts } from './alerts/list-told.ts';

export type { AlertRecord } from '../domain/index.ts';
export {
  insertAlerts,
  listDisappearances,
  listDueAlerts,
  movePendingDue,
  listLiveAlerts,
  lockAlert,
  lockLastEndedAlerts,
  lockLiveAlerts,
  isOnlySeen,
  updateAlert,
  updateSeen,
} from './alerts/write-alerts.ts';
export {
  findSilencesChangedAt,
  listCronJobsSilenced,
  listCronJobsToJudge,
  listCronJobsWithAlerts,
  listCronJobsWithBrokenTargets,
} from './alerts/list-judged-ids.ts';
export {
  findHeldForParents,
  findHolder,
  hasDependencies,
  listDependencies,
  listParentAlerts,
} from './alerts/dependencies.ts';
export { moveAlertCounters } from './alerts/move-alert-counters.ts';
export {
  findLastHold,
  listDecisions,
  recordDecisions,
  type AlertDecision,
  type StoredDecision,
} from './alert-decisions.ts';
export {
  findSilence,
  listKeptSilences,
  listSilences,
  lockSilence,
  putSilence,
  updateSilenceEnd,
  type StoredSilence,
} from './silences.ts';
export { listMutableAlerts, listMutedBySilence } from './muted-alerts.ts';
export {
  listAcknowledgements,
  listAlertsWithExpiredNote,
  putAcknowledgement,
  updateAcknowledgementEnd,
  type StoredAcknowledgement,
} from './acknowledgements.ts';
export { setDue, type DueWish, listDue, putDue, removeDue } from './set-due.ts';
export { listOwnSettings, updateDeclared } from './catalog/own-settings.ts';
export { listRoutedChannels, type RoutedChannel } from './catalog/routed-channels.ts';
export {
  afterCause,
  firstNoticeCause,
  keptMs,
  newChannelCause,
  type ClaimedDelivery,
  type NewDelivery,
} from './deliveries/delivery-record.ts';
export { findProof, listDrills, listLastDrills, listProofs, type StoredDrill } from './drills/drill-record.ts';
export { acknowledgeDrill, moveDrills, type EndedDrill } from './drills/move-drills.ts';
export { readEndedRuns, type EndedRuns } from './forecasting/ended-runs.ts';
export { foreseeRuns, type Foreseen, type HeardOf } from './forecasting/foresee-runs.ts';
export {
  judgeForecasts,
  keepForecasts,
  listUnjudgedNights,
  scoreForecasts,
  type Forecast,
  type ForecastScore,
} from './forecasting/forecasts.ts';
export { closeDrill, startDrill, tellUnproved } from './drills/tell-drills.ts';
export { insertDelivery, insertNewDeliveries } from './deliveries/insert-delivery.ts';
export {
  findStreamEnd,
  findTwin,
  foldLesserTwins,
  isStreamShared,
  listDeliveriesOfAlert,
  type AlertDelivery,
} from './deliveries/streams.ts';
export { cancelUnheard, updateCancelled, updateCancelledOfChannel } from './deliveries/cancel-delivery.ts';
export { findAdmission } from './deliveries/admit-rows.ts';
export { countAnswersByHour, findNewestMessage, listChannelAnswers } from './deliveries/channel-answers.ts';
export { claimDeliveries, claimMs, findNextDue, type ClaimRequest } from './deliveries/claim-deliveries.ts';
export { settleDeliveries, settleDelivery, type Settled, type Settlement } from './deliveries/settle-deliveries.ts';
export {
  takeClaimsOfEarlierTerms,
  takeClaimsOfPod,
  takeProbes,
  updateExpired,
  updateRedriven,
} from './deliveries/free-deliveries.ts';
export { listUnwanted, type UnwantedReason } from './deliveries/list-unwanted.ts';
export { foldScope, foldWaiting, type FoldRequest } from './deliveries/fold-waiting.ts';
export { findRung, hastenRungs, tellUnacknowledged, updateRungKept } from './deliveries/rungs.ts';
export {
  listBeingTold,
  lockDependentMessages,
  updateLookedAt,
  updateOwed,
  type DependentMessage,
} from './deliveries/dependent-messages.ts';
export { retellDead } from './deliveries/retell-dead.ts';
export { listChannelHolds, updateHoldChecked, updateHoldLifted, type HeldChannel } from './deliveries/channel-holds.ts';
export { findChannelFault, findProjectedChannel, type ProjectedChannel } from './deliveries/channel-fault.ts';
export { countOpenDeliveries, findOldestDue } from './deliveries/count-deliveries.ts';
export {
  closeScopes,
  findOpenDigest,
  insertDigest,
  insertDigestMessage,
  listGathered,
  listOpenDigests,
  listStormEntries,
  listToldInDigest,
  updateDigestOf,
  updateJoined,
  updateTold,
  updateToldInDigest,
  type DigestTelling,
  type GatheredAlert,
} from './deliveries/digests.ts';
export { updateHeldMessage } from './deliveries/held-message.ts';
export { recordHeldByGrace } from './deliveries/held-by-grace.ts';
export { sealRollups, type SealedRollups } from './sealing/seal-rollups.ts';
export { countRateFacts, listOldestSince, type RateFacts } from './facts/count-rate-facts.ts';
export { listAlertsOfRuns, updateAlertContexts, type AlertOfRun } from './alerts/alerts-of-run.ts';
export { listIncomplete, releaseWaiting, type IncompleteMessage } from './deliveries/waiting-messages.ts';
export { listAlertRuns } from './facts/list-alert-runs.ts';
export { listDueRuns, type SlotInterval } from './facts/list-due-runs.ts';
export { listJudgedRuns, type JudgedRunRow } from './facts/list-judged-runs.ts';
export { listLastScheduledRuns, type LastScheduledRuns } from './facts/list-last-scheduled-runs.ts';
export { listOutputRuns } from './facts/list-output-runs.ts';
export {
  measureLongestFailures,
  measureLongestOfDays,
  measureLongestRuns,
  type LongestRun,
} from './facts/measure-longest-runs.ts';
export { measureDurationShift, type DurationShift } from './facts/measure-duration-shift.ts';
export { listKeptGroups } from './catalog/job-groups.ts';
export {
  listKnownMonitors,
  listLastOfNames,
  listSeenAndGone,
  rowsOfExpected,
  type KnownMonitor,
  type LastOfName,
} from './catalog/expected.ts';
export { countFailures } from './facts/count-failures.ts';
export { measureLastDurations, type LastDurations } from './facts/measure-last-durations.ts';
