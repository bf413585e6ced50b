import type { CronJobStatus, HealthState, Ref, ScheduleProblem } from '../../contract/index.ts';
import { statusOf, type Instant } from '../../domain/index.ts';
import type { Row } from '../ask.ts';
import { fromJson, optionalNumber, optionalText } from '../column.ts';
import { stateWords } from '../words.ts';
import { stateRank } from './cron-job-filter.ts';

/** The columns of a CronJob that every reader of the catalog gets. */
export interface CronJobRow extends Ref {
  readonly id: number;
  readonly schedule: string;
  readonly timeZone: string | undefined;
  readonly suspended: boolean;
  readonly problem: ScheduleProblem | undefined;
  /** Facts of the newest run that were ignored, a sentence each. */
  readonly factProblems: readonly string[];
  readonly createdAt: Instant;
  readonly deletedAt: Instant | undefined;
  readonly lastScheduleAt: Instant | undefined;
  /** As the controller last computed it; it may have passed since. */
  readonly nextRunAt: Instant | undefined;
  /** From where `@every` counts. */
  readonly everyAnchorAt: Instant | undefined;
  /** Unfinished Jobs. */
  readonly running: number;
  /** As decided with the last fact that was written. */
  readonly state: HealthState;
  /** The specification's word for it. */
  readonly status: CronJobStatus;
  readonly activeAlerts: number;
  readonly lastSuccessAt: Instant | undefined;
}

const columns = [
  'id',
  'namespace',
  'name',
  'schedule',
  'time_zone',
  'suspended',
  'problem',
  'fact_problems',
  'created_at',
  'deleted_at',
  'last_schedule_at',
  'next_run_at',
  'every_anchor_at',
  'running',
  'active_alerts',
  'last_success_at',
];

/** SELECT of these rows, from `cronjobs c`, with the columns that a reader wants besides, and those of `l`, which the reader joins. */
export function selectCronJobs(besides: readonly string[], ofList: readonly string[] = []): string {
  const wanted = [...[...columns, ...besides].map((column) => `c.${column}`), ...ofList.map((column) => `l.${column}`)];
  return `select ${wanted.join(', ')}, ${stateRank} as state_rank from cronjobs c`;
}

export function toCronJobRow(row: Row): CronJobRow {
  const state = stateWords.toWord(row['state_rank']);
  return {
    id: Number(row['id']),
    namespace: String(row['namespace']),
    name: String(row['name']),
    schedule: String(row['schedule']),
    timeZone: optionalText(row['time_zone']),
    suspended: Number(row['suspended']) === 1,
    problem: optionalText(row['problem']) as ScheduleProblem | undefined,
    factProblems: (fromJson(row['fact_problems']) ?? []) as readonly string[], // written by insertRunFacts
    createdAt: Number(row['created_at']),
    deletedAt: optionalNumber(row['deleted_at']),
    lastScheduleAt: optionalNumber(row['last_schedule_at']),
    nextRunAt: optionalNumber(row['next_run_at']),
    everyAnchorAt: optionalNumber(row['every_anchor_at']),
    running: Number(row['running']),
    state,
    status: statusOf(state),
    activeAlerts: Number(row['active_alerts']),
    lastSuccessAt: optionalNumber(row['last_success_at']),
  };
}
