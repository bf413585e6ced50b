export type { Db, Move, Store, Tx } from './database.ts';
export { retryReasons } from './observer.ts';
export * from './database-problems.ts';
export * from './open.ts';
export * from './settings.ts';
export * from './schemas.ts';
export { FencedError, PoolBusyError, StoreError } from './store-error.ts';
export { findInstalledAt, getSchemaState, migrate, type SchemaState } from './migrate.ts';
export * from './copying/copy-store.ts';

export * from './actions.ts';
export * from './leader.ts';
export * from './heartbeats.ts';

export * from './catalog/project-cron-job.ts';
export { listRollouts, listUnsettledRollouts, type RolloutRow } from './catalog/job-templates.ts';
export { decideStates, moveAlertCounters } from './catalog/cron-job-change.ts';
export * from './catalog/verdict-facts.ts';
export * from './catalog/cron-job-ids.ts';
export * from './catalog/cron-job-marks.ts';
export { forgetMonitor, listSpecs, markEvaluated, projectMonitor, type MonitorProjection } from './catalog/monitors.ts';
export * from './catalog/judged-cron-jobs.ts';
export { toId16, newId } from './id16.ts';
export * from './executions/record-runs.ts';
export * from './catalog/monitor-targets.ts';
export * from './catalog/list-channel-states.ts';
export * from './catalog/channels.ts';

export { listSpecEpochs } from './spec-epochs.ts';
export { findTemplate, getTemplateKey, recordTemplates, type NewTemplate } from './templates.ts';
export * from './cluster-state.ts';
export * from './changes.ts';

export { listRecordedJobs, listSlotClaims } from './executions/recorded-jobs.ts';
export { listFactPoints, listNames, settleRunFacts, type FactPoint } from './executions/run-facts.ts';
export * from './executions/compared-runs.ts';
export * from './executions/execution-evidence.ts';
export * from './suspensions.ts';
export * from './active-jobs.ts';
export * from './evidence.ts';
export * from './list-logs.ts';
export * from './retention.ts';
export * from './catalog/list-cron-jobs.ts';
export { pruneRest, type RemovedRest, type RestCutoffs, type RestKind, countRunsOfDay } from './pruning/prune-rest.ts';
export { listRetentionOwners, type RetentionOwner } from './pruning/prune-catalog.ts';

export type { CronJobFilter } from './catalog/cron-job-filter.ts';
export * from './catalog/page-cron-jobs.ts';
export { rateDue, relistAll } from './catalog/cronjob-list.ts';
export * from './catalog/rate-counts.ts';
export * from './catalog/list-outlines.ts';
export * from './catalog/list-monitors.ts';
export * from './deliveries/list-deliveries.ts';
export * from './executions/list-executions.ts';
export * from './executions/measure-durations.ts';
export * from './executions/count-fleet.ts';
export * from './executions/count-outcomes.ts';
export { listLastFailures, listRecentRuns, type RecentEntry } from './executions/list-recent-runs.ts';
export * from './alerts/count-alerts.ts';
export * from './preview-history.ts';
export * from './measure-storage.ts';
export * from './executions/list-days.ts';
export * from './slots/ledgers.ts';
export * from './slots/ledger-runs.ts';
export * from './slots/record-slots.ts';
export * from './slots/recent-slots.ts';
export * from './list-slots.ts';
export * from './wall-cells.ts';
export * from './list-grid-cells.ts';
export * from './alerts/list-alerts.ts';
export * from './alerts/told-there.ts';
export * from './alerts/list-told.ts';

export type { AlertRecord } from '../domain/index.ts';
export * from './alerts/write-alerts.ts';
export * from './alerts/list-judged-ids.ts';
export * from './alerts/dependencies.ts';
export * from './alert-decisions.ts';
export * from './silences.ts';
export * from './acknowledgements.ts';
export * from './set-due.ts';
export { listOwnSettings, updateDeclared } from './catalog/own-settings.ts';
export {
  afterCause,
  firstNoticeCause,
  keptMs,
  newChannelCause,
  type ClaimedDelivery,
  type NewDelivery,
} from './deliveries/delivery-record.ts';
export { findProof, listDrills, listLastDrills, listProofs, type StoredDrill } from './drills/drill-record.ts';
export * from './drills/move-drills.ts';
export * from './forecasting/foresee-runs.ts';
export * from './forecasting/forecasts.ts';
export * from './drills/tell-drills.ts';
export * from './deliveries/insert-delivery.ts';
export * from './deliveries/streams.ts';
export { cancelUnheard, updateCancelled, updateCancelledOfChannel } from './deliveries/cancel-delivery.ts';
export { findAdmission } from './deliveries/admit-rows.ts';
export * from './deliveries/channel-answers.ts';
export * from './deliveries/claim-deliveries.ts';
export * from './deliveries/settle-deliveries.ts';
export * from './deliveries/free-deliveries.ts';
export * from './deliveries/list-unwanted.ts';
export * from './deliveries/fold-waiting.ts';
export * from './deliveries/rungs.ts';
export * from './deliveries/untold-messages.ts';
export * from './deliveries/retell-dead.ts';
export * from './deliveries/channel-holds.ts';
export * from './deliveries/digests.ts';
export * from './deliveries/waiting-messages.ts';
export * from './sealing/seal-rollups.ts';
export * from './facts/count-rate-facts.ts';
export * from './alerts/alerts-of-run.ts';
export * from './facts/list-runs.ts';
export * from './facts/measure-longest-runs.ts';
export * from './facts/measure-duration-shift.ts';
export * from './catalog/expected.ts';
