import {
  type Execution,
  type ExecutionPage,
  executionSortKeys,
  executionStatuses,
  executionTriggers,
  failureCauses,
} from '@cronjob-monitor/shared/contract';
import {
  countExecutions,
  findComparedRuns,
  findExecution,
  listEvidence,
  listExecutions,
  type ExecutionFilter,
  type ExecutionSort,
  type StoredExecution,
} from '@cronjob-monitor/shared/store';
import type { ApiContext } from '../../context.ts';
import { exportsAreWhole, pageOf, toPagination } from '../../middleware/pagination.ts';
import { readQuery } from '../../middleware/validate.ts';
import { cutToMinute, readWindow } from '../../windows.ts';
import { answerExport, exportable, exportFormat } from '../export/answer.ts';
import { executionColumns } from '../export/columns.ts';
import { executionNotFound, getKnownCronJob } from '../known-cron-job.ts';
import { createRouter, type ApiRouter, type RouteDeps } from '../deps.ts';
import { explainRuns } from '../verdicts/explain-run.ts';
import { readRevision } from '../verdicts/surroundings.ts';
import { readComparison } from './compare.ts';
import { readDecisive } from './decisive.ts';
import { presentExecution, presentExecutionDetail } from './present.ts';
import { instant, name, paging, sort, words } from '../../middleware/parameters.ts';

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

const list = '/cronjobs/:namespace/:name/executions';

/**
 * @openapi
 * /cronjobs/{namespace}/{name}/executions:
 *   get:
 *     tags: [Runs]
 *     operationId: listExecutions
 *     summary: Ended runs of a name
 *     x-ability: read
 *     x-query: [executionStatuses, triggers, causes, executionsSince, executionsUntil, executionSort, limit, offset, export]
 *     x-answers: { 200: ExecutionPage }
 *     x-refusals: [404]
 * /cronjobs/{namespace}/{name}/executions/{jobName}:
 *   get:
 *     tags: [Runs]
 *     operationId: getExecution
 *     summary: One run with its pods, logs and events
 *     x-ability: read
 *     x-query: [uid]
 *     x-answers: { 200: ExecutionDetail }
 *     x-refusals: [404]
 * /cronjobs/{namespace}/{name}/executions/{jobName}/compare:
 *   get:
 *     tags: [Runs]
 *     operationId: compareExecutions
 *     summary: A run beside the newest success before it, or beside another run
 *     x-ability: read
 *     x-query: [uid, with]
 *     x-answers: { 200: RunComparison }
 *     x-refusals: [404, 429]
 */

/** The run history of a name, earlier objects included, and one run of it. */
export function executionsRouter(deps: RouteDeps): ApiRouter {
  const { guard, store } = deps;
  return createRouter()
    .get(list, guard({ ability: 'read', ...exportable }), async (ctx) => {
      const query = readQuery(ctx, executionsQuery, exportsAreWhole);
      const window = readWindow(query, { since: cutToMinute(deps.clock.now()) - defaultWindowMs });
      const { ids } = await getKnownCronJob(store, ctx.params);
      const { status: statuses, trigger: triggers, cause: causes } = query;
      const filter: ExecutionFilter = { cronJobIds: ids, statuses, triggers, causes, ...window };
      if (query.format) {
        const batches = readInBatches(store, filter, query.sort);
        await answerExport(deps, ctx, query.format, { name: 'executions', columns: executionColumns, batches });
        return;
      }
      const page = pageOf(query, defaultLimit);
      ctx.body = await deps.answers.read(['executions', filter, query.sort, page], async () => {
        const revision = await readRevision(store);
        const [total, runs] = await Promise.all([
          countExecutions(store, filter),
          listExecutions(store, filter, { sort: query.sort, page }),
        ]);
        const explained = await explainRuns(store, ids.at(-1) ?? 0, runs);
        const items = runs.map((run) => presentExecution(run, { revision }, explained.get(run.jobUid)));
        return { items, pagination: toPagination(page, total) } satisfies ExecutionPage;
      });
    })
    .get(`${list}/:jobName`, guard({ ability: 'read' }), async (ctx) => {
      const { uid } = readQuery(ctx, executionQuery);
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
      ctx.body = presentExecutionDetail(run, evidence, {
        withheld,
        compared,
        addition: { revision },
        explained: explained.get(run.jobUid),
        decisive: withheld ? [] : await readDecisive(store, known.ids, run, evidence),
      });
    })
    .get(`${list}/:jobName/compare`, guard({ ability: 'read', expensive: compareUnits }), async (ctx) => {
      const { uid, with: other } = readQuery(ctx, compareQuery);
      const jobName = jobNameOf(ctx);
      const known = await getKnownCronJob(store, ctx.params);
      const run = await findExecution(store, { cronJobIds: known.ids, jobName, uid });
      if (!run) throw executionNotFound(known.cronJob, jobName);
      ctx.body = await readComparison(store, known, run, { other, withheld: !(await mayReadLogs(deps, ctx)) });
    });
}

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

function jobNameOf(ctx: ApiContext): string {
  return ctx.params['jobName'] ?? '';
}

async function mayReadLogs({ authentication }: RouteDeps, ctx: ApiContext): Promise<boolean> {
  const { caller } = ctx.state;
  return caller !== undefined && authentication.may(caller, 'readLogs', { namespace: ctx.params['namespace'] });
}
