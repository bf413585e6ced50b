import {
  alertStates,
  ExecutionDetail,
  ExecutionPage,
  executionSortKeys,
  executionStatuses,
  executionTriggers,
  failureCauses,
  RunComparison,
  type ComparedAttempt,
  type Execution,
} from '@cronjob-monitor/shared/contract';
import {
  countExecutions,
  findComparedRun,
  findComparedRuns,
  findExecution,
  listEvidence,
  listAlerts,
  listExecutions,
  listOpenAlerts,
  type Evidence,
  type ExecutionFilter,
  type ExecutionSort,
  type Store,
  type StoredAlert,
  type StoredExecution,
} from '@cronjob-monitor/shared/store';
import type { ApiContext } from '../../context.ts';
import { exportsAreWhole, pageOf, toPagination } from '../../middleware/pagination.ts';
import { cutToMinute, readWindow } from '../../windows.ts';
import { answerExport, exportable, exportFormat } from '../export/answer.ts';
import { executionColumns } from '../export/columns.ts';
import { executionNotFound, getKnownCronJob, type KnownCronJob } from '../known-cron-job.ts';
import type { RouteDeps } from '../deps.ts';
import { route } from '../route.ts';
import { isObject } from '../../monitor-spec.ts';
import { presentAlerts } from '../alerts/router.ts';
import { explainRuns } from '../verdicts/explain-run.ts';
import { readRevision } from '../verdicts/surroundings.ts';
import { readDecisive } from './decisive.ts';
import { mainLog, presentExecution, presentExecutionDetail } from './present.ts';
import { instant, name, paging, sort, words } from '../../middleware/parameters.ts';
import {
  compareSides,
  differenceWords,
  exitInWords,
  logDifference,
  type Attempt,
  type RunSide,
} from '@cronjob-monitor/shared/domain';
import { toSecondsOrNull } from '../../wire-values.ts';

const executionsQuery = {
  status: words('How runs ended.', executionStatuses),
  trigger: words('What started runs.', executionTriggers),
  cause: words('On whose side it is.', failureCauses),
  since: instant('Inclusive; by the creation of the Job. Without it 30 days ago.'),
  until: instant('Exclusive; by the creation of the Job.'),
  sort: sort(executionSortKeys, { key: 'time', descending: true }),
  ...paging,
  format: exportFormat,
};

const executionQuery = { uid: name('UID of the Job; without it the newest of that name.') };
const compareQuery = {
  uid: name('UID of the Job; without it the newest of that name.'),
  with: name('Name of the Job to compare with; without it the newest success before.'),
};
/** Two logs are held in memory and compared line by line. */
const compareUnits = 4;

/** Runs of the last 30 x 24 h without `since`. */
const defaultWindowMs = 30 * 86_400_000;
const defaultLimit = 20;

/** The run history of a name, earlier objects included, and one run of it. */
export const executionsRoutes = [
  route(
    {
      method: 'GET',
      path: '/cronjobs/:namespace/:name/executions',
      tag: 'Runs',
      id: 'listExecutions',
      says: 'Ended runs of a name',
      ability: 'read',
      ...exportable,
      query: executionsQuery,
      rules: [exportsAreWhole],
      answer: ExecutionPage,
    },
    async ({ deps, ctx, query }) => {
      const { store } = deps;
      const window = readWindow(query, { since: cutToMinute(deps.clock.now()) - defaultWindowMs });
      const { ids } = await getKnownCronJob(store, ctx.params);
      const { status: statuses, trigger: triggers, cause: causes } = query;
      const filter: ExecutionFilter = { cronJobIds: ids, statuses, triggers, causes, ...window };
      if (query.format) {
        const batches = readInBatches(store, filter, query.sort);
        return answerExport(deps, ctx, query.format, { name: 'executions', columns: executionColumns, batches });
      }
      const page = pageOf(query, defaultLimit);
      return deps.answers.read(['executions', filter, query.sort, page], async () => {
        const revision = await readRevision(store);
        const [total, runs] = await Promise.all([
          countExecutions(store, filter),
          listExecutions(store, filter, { sort: query.sort, page }),
        ]);
        const explained = await explainRuns(store, ids.at(-1) ?? 0, runs);
        const items = runs.map((run) => presentExecution(run, { revision }, explained.get(run.jobUid)));
        return { items, pagination: toPagination(page, total) };
      });
    },
  ),
  route(
    {
      method: 'GET',
      path: '/cronjobs/:namespace/:name/executions/:jobName',
      tag: 'Runs',
      id: 'getExecution',
      says: 'One run with its pods, logs and events',
      ability: 'read',
      query: executionQuery,
      answer: ExecutionDetail,
    },
    async ({ deps, ctx, query: { uid } }) => {
      const { store } = deps;
      const jobName = jobNameOf(ctx);
      const known = await getKnownCronJob(store, ctx.params);
      const run = await findExecution(store, { cronJobIds: known.ids, jobName, uid });
      if (!run) throw executionNotFound(known.cronJob, jobName);
      const revision = await readRevision(store);
      const [evidence, compared] = await Promise.all([
        listEvidence(store, run.jobUid),
        findComparedRuns(store, run.jobUid),
      ]);
      const withheld = !(await mayReadLogs(deps, ctx));
      const explained = await explainRuns(store, known.cronJob.id, [run]);
      return presentExecutionDetail(run, evidence, {
        withheld,
        compared,
        addition: { revision },
        explained: explained.get(run.jobUid),
        alerts: await presentAlerts(deps, await findAlertsOf(store, known.ids, run)),
        decisive: withheld ? [] : await readDecisive(store, known.ids, run, evidence),
      });
    },
  ),
  route(
    {
      method: 'GET',
      path: '/cronjobs/:namespace/:name/executions/:jobName/compare',
      tag: 'Runs',
      id: 'compareExecutions',
      says: 'A run beside the newest success before it, or beside another run',
      ability: 'read',
      expensive: compareUnits,
      query: compareQuery,
      answer: RunComparison,
    },
    async ({ deps, ctx, query: { uid, with: other } }) => {
      const { store } = deps;
      const jobName = jobNameOf(ctx);
      const known = await getKnownCronJob(store, ctx.params);
      const run = await findExecution(store, { cronJobIds: known.ids, jobName, uid });
      if (!run) throw executionNotFound(known.cronJob, jobName);
      return readComparison(store, known, run, { other, withheld: !(await mayReadLogs(deps, ctx)) });
    },
  ),
];

/** Runs of one batch of an export. */
const batchSize = 500;

async function* readInBatches(
  store: RouteDeps['store'],
  filter: ExecutionFilter,
  sort: { readonly key: ExecutionSort; readonly descending: boolean },
): AsyncGenerator<readonly Execution[], void, undefined> {
  const page = { limit: batchSize, offset: 0 };
  let after: StoredExecution | undefined;
  const revision = await readRevision(store);
  do {
    // Each batch begins where the one before has ended.
    const runs = await listExecutions(store, filter, { sort, page, after });
    yield runs.map((run) => presentExecution(run, { revision }));
    after = runs.length < batchSize ? undefined : runs.at(-1);
  } while (after);
}

/** Of a CronJob so many alerts that ended since a run are looked through for those that speak of it. */
const mostLookedAt = 200;

async function findAlertsOf(db: Store, cronJobIds: readonly number[], run: StoredExecution): Promise<StoredAlert[]> {
  const ended = await listAlerts(
    db,
    { states: alertStates, cronJobIds, endedSince: run.createdAt },
    { sort: { key: 'endedAt', descending: true }, page: { limit: mostLookedAt, offset: 0 } },
  );
  const all = [...(await listOpenAlerts(db, cronJobIds)), ...ended];
  return all.filter(({ context }) => isObject(context) && context['jobName'] === run.jobName);
}

function jobNameOf(ctx: ApiContext): string {
  return ctx.params['jobName'] ?? '';
}

async function mayReadLogs({ authentication }: RouteDeps, ctx: ApiContext): Promise<boolean> {
  const { caller } = ctx.state;
  return caller !== undefined && authentication.may(caller, 'readLogs', { namespace: ctx.params['namespace'] });
}

/** A run beside the newest success before it, or beside the run of that name. Throws NOT_FOUND. */
async function readComparison(
  db: Store,
  known: KnownCronJob,
  run: StoredExecution,
  { other: wanted, withheld }: { readonly other: string | undefined; readonly withheld: boolean },
): Promise<RunComparison> {
  const other = wanted === undefined ? await findSuccessBefore(db, known, run) : await findOther(db, known, wanted);
  if (!other) {
    return { other: null, words: null, rows: [], attempts: { here: [], there: [] }, log: null, withheld };
  }
  const [here, there] = [await readSide(db, run), await readSide(db, other)];
  const rows = compareSides(there.side, here.side);
  const [log, otherLog] = [mainLog(here.evidence)?.body, mainLog(there.evidence)?.body];
  return {
    other: presentExecution(other, { revision: await readRevision(db) }),
    words: differenceWords(rows),
    rows,
    attempts: { here: attemptsOf(run, here.attempts), there: attemptsOf(other, there.attempts) },
    log: withheld || log === undefined || otherLog === undefined ? null : logDifference(log, otherLog),
    withheld,
  };
}

async function findSuccessBefore(
  db: Store,
  { ids }: KnownCronJob,
  { createdAt, jobUid }: StoredExecution,
): Promise<StoredExecution | undefined> {
  const filter = { cronJobIds: ids, statuses: ['success'], until: createdAt } as const;
  const sort = { key: 'time', descending: true } as const;
  const found = await listExecutions(db, filter, { sort, page: { limit: 1, offset: 0 } });
  return found.find((one) => one.jobUid !== jobUid);
}

async function findOther(db: Store, { cronJob, ids }: KnownCronJob, jobName: string): Promise<StoredExecution> {
  const other = await findExecution(db, { cronJobIds: ids, jobName });
  if (!other) throw executionNotFound(cronJob, jobName);
  return other;
}

interface Side {
  readonly side: RunSide;
  readonly evidence: readonly Evidence[];
  readonly attempts: readonly Attempt[];
}

async function readSide(db: Store, run: StoredExecution): Promise<Side> {
  const [compared, evidence] = await Promise.all([findComparedRun(db, run.jobUid), listEvidence(db, run.jobUid)]);
  const captured = evidence.find(({ kind, body }) => kind === 'attempts' && body !== undefined)?.body ?? '[]';
  const attempts = JSON.parse(captured) as readonly Attempt[]; // written by toAttempts
  const unknown = { template: undefined, schedule: undefined, timeZone: undefined, node: undefined, images: undefined };
  return {
    side: {
      ...(compared ?? unknown),
      outcome: run.status === 'success' ? 'succeeded' : exitInWords(run) || run.status,
      nodes: attempts.flatMap(({ node }) => node ?? []),
    },
    evidence,
    attempts,
  };
}

/** Of a run whose pods were not kept it is one, as long as the run. */
function attemptsOf(run: StoredExecution, attempts: readonly Attempt[]): ComparedAttempt[] {
  const failed = run.status === 'failed';
  if (attempts.length === 0) return [{ pod: null, durationSeconds: toSecondsOrNull(run.durationMs), failed }];
  return attempts.map(({ pod, startedAt, endedAt, phase }) => ({
    pod,
    durationSeconds: toSecondsOrNull(
      startedAt === undefined || endedAt === undefined ? undefined : Math.max(0, endedAt - startedAt),
    ),
    failed: phase === 'Failed',
  }));
}
