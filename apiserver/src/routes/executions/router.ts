import {
  alertStates,
  Execution,
  ExecutionDetail,
  ExecutionPage,
  executionSortKeys,
  executionStatuses,
  executionTriggers,
  failureCauses,
  RunComparison,
  type RunInclude,
  runIncludes,
  type RunsAround,
} from '@cronjob-monitor/shared/contract';
import {
  countExecutions,
  type ExecutionFilter,
  type ExecutionSort,
  findComparedRuns,
  findExecution,
  listAlerts,
  listEvidence,
  listExecutions,
  listOpenAlerts,
  type Store,
  type StoredAlert,
  type StoredExecution,
} from '@cronjob-monitor/shared/store';
import { dayMs, isObject } from '@cronjob-monitor/shared/domain';
import type { ApiContext } from '../../context.ts';
import { exportsAreWhole, pageOf, type PageRequest, toPagination } from '../../middleware/pagination.ts';
import { cutToMinute, readWindow } from '../../windows.ts';
import { readCronJobDetail } from '../cronjobs/detail.ts';
import { answerExport, columnsOf, eachBatch, exportable, exportFormat } from '../export/answer.ts';
import { executionNotFound, getKnownCronJob, type KnownCronJob } from '../known-cron-job.ts';
import type { RouteDeps } from '../deps.ts';
import { readIncludedLog } from '../logs/router.ts';
import { route } from '../route.ts';
import { presentAlerts } from '../alerts/present.ts';
import { explainRuns } from '../verdicts/explain-run.ts';
import { readComparison } from './compare.ts';
import { presentExecution, presentExecutionDetail } from './present.ts';
import { createdWithin, jobUid, name, paging, sort, type Sort, words } from '../../middleware/parameters.ts';
import { readDecisive } from './decisive.ts';
import { readRevision } from '../verdicts/surroundings.ts';

const executionsQuery = {
  status: words('How runs ended.', executionStatuses),
  trigger: words('What started runs.', executionTriggers),
  cause: words('On whose side it is.', failureCauses),
  ...createdWithin,
  sort: sort(executionSortKeys, { key: 'time', descending: true }),
  ...paging,
  format: exportFormat,
};

const executionQuery = {
  uid: jobUid,
  include: words(
    'Answers of other endpoints in this one: the newest 500 lines of its log, its comparison, the 12 runs before it with the one after it, its CronJob; its events are there in any case.',
    runIncludes,
  ),
};
const compareQuery = {
  uid: jobUid,
  with: name('Name of the Job to compare with; without it the newest success before.'),
};
/** Two logs are held in memory and compared line by line. */
const compareUnits = 4;

/** The log and the comparison are read one after the other. */
function includeUnits({ querystring }: ApiContext): number {
  const asked = new URLSearchParams(querystring).getAll('include').flatMap((value) => value.split(','));
  return asked.includes('logs') || asked.includes('compare') ? compareUnits : 0;
}

/** Runs of the last 30 x 24 h without `since`. */
const defaultWindowMs = 30 * dayMs;
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
        const batches = exportRuns(store, filter, query.sort);
        return answerExport(deps, ctx, query.format, { name: 'executions', columns: columnsOf(Execution), batches });
      }
      const page = pageOf(query, defaultLimit);
      return readPage(deps, filter, { sort: query.sort, page });
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
      expensive: includeUnits,
      query: executionQuery,
      answer: ExecutionDetail,
    },
    async ({ deps, ctx, query: { uid, include } }) => {
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
      const detail = presentExecutionDetail(run, evidence, {
        withheld,
        compared,
        addition: { revision },
        explained: explained.get(run.jobUid),
        alerts: await presentAlerts(deps, await findAlertsOf(store, known.ids, run)),
        decisive: withheld ? [] : await readDecisive(store, known.ids, run, evidence),
      });
      return { ...detail, ...(await readIncluded(deps, ctx, known, { run, include, withheld })) };
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

/** A page of the list, as all who ask at once share it. */
function readPage(
  { store, answers }: RouteDeps,
  filter: ExecutionFilter,
  { sort, page }: { readonly sort: Sort<ExecutionSort>; readonly page: PageRequest },
): Promise<ExecutionPage> {
  return answers.read(['executions', filter, sort, page], async () => {
    const revision = await readRevision(store);
    const [total, runs] = await Promise.all([
      countExecutions(store, filter),
      listExecutions(store, filter, { sort, page }),
    ]);
    const explained = await explainRuns(store, filter.cronJobIds.at(-1) ?? 0, runs);
    const items = runs.map((run) => presentExecution(run, { revision }, explained.get(run.jobUid)));
    return { items, pagination: toPagination(page, total) };
  });
}

const newestFirst = { key: 'time', descending: true } as const;

/** What the list answers without parameters. */
export function readNewestRuns(deps: RouteDeps, { ids }: KnownCronJob): Promise<ExecutionPage> {
  const since = cutToMinute(deps.clock.now()) - defaultWindowMs;
  const filter = { cronJobIds: ids, statuses: [], triggers: [], causes: [], since, until: undefined };
  return readPage(deps, filter, { sort: newestFirst, page: { limit: defaultLimit, offset: 0 } });
}

/** Runs before one that a page about it offers. */
const mostBefore = 12;

/** What else a page about a run shows, each as the endpoint of its own tells it. */
async function readIncluded(
  deps: RouteDeps,
  ctx: ApiContext,
  known: KnownCronJob,
  asked: { readonly run: StoredExecution; readonly include: readonly RunInclude[]; readonly withheld: boolean },
): Promise<Pick<ExecutionDetail, 'log' | 'noLog' | 'compare' | 'around' | 'cronjob'>> {
  const { run, include, withheld } = asked;
  const has = (part: RunInclude): boolean => include.includes(part);
  const log = has('logs') && !withheld ? await readIncludedLog(deps, ctx, known, run) : { log: null };
  const other = undefined;
  return {
    ...(has('logs') && log),
    ...(has('compare') && { compare: await readComparison(deps.store, known, run, { other, withheld }) }),
    ...(has('around') && { around: await readAround(deps, known, run) }),
    ...(has('cronjob') && { cronjob: await readCronJobDetail(deps, known, 0) }),
  };
}

async function readAround(deps: RouteDeps, { ids }: KnownCronJob, { createdAt }: StoredExecution): Promise<RunsAround> {
  const [before, after] = await Promise.all([
    readPage(
      deps,
      { cronJobIds: ids, until: createdAt },
      { sort: newestFirst, page: { limit: mostBefore, offset: 0 } },
    ),
    readPage(
      deps,
      { cronJobIds: ids, since: createdAt + 1 },
      { sort: { key: 'time', descending: false }, page: { limit: 1, offset: 0 } },
    ),
  ]);
  return { before: before.items, after: after.items[0] ?? null };
}

/** Runs of one batch of an export. */
const batchSize = 500;

async function* exportRuns(
  store: RouteDeps['store'],
  filter: ExecutionFilter,
  sort: Sort<ExecutionSort>,
): AsyncGenerator<readonly Execution[], void, undefined> {
  const revision = await readRevision(store);
  yield* eachBatch(
    batchSize,
    (page, after: StoredExecution | undefined) => listExecutions(store, filter, { sort, page, after }),
    (runs) => runs.map((run) => presentExecution(run, { revision })),
  );
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
  return all.filter(
    (alert) => (isObject(alert.context) && alert.context['jobName'] === run.jobName) || becameSlowIn(alert, run),
  );
}

/** An alert of runs that became slower names none of them: it speaks of each that ended while it was open and took as long as its limit. */
function becameSlowIn({ type, figures, sinceAt, endedAt }: StoredAlert, run: StoredExecution): boolean {
  if (type !== 'durationRegression' || run.status !== 'success') return false;
  const { durationMs = 0, finishedAt = 0 } = run;
  const limit = isObject(figures) && typeof figures['limit'] === 'number' ? figures['limit'] : Infinity;
  return durationMs >= limit * 1_000 && finishedAt >= sinceAt && finishedAt <= (endedAt ?? Infinity);
}

function jobNameOf(ctx: ApiContext): string {
  return ctx.params['jobName'] ?? '';
}

async function mayReadLogs({ authentication }: RouteDeps, ctx: ApiContext): Promise<boolean> {
  const { caller } = ctx.state;
  return caller !== undefined && authentication.may(caller, 'readLogs', { namespace: ctx.params['namespace'] });
}
