import {
  findExecution,
  listActiveJobs,
  listEvidence,
  type Store,
  type StoredExecution,
} from '@cronjob-monitor/shared/store';
import { logSources, type JobLogs } from '@cronjob-monitor/shared/contract';
import { readQuery } from '../../middleware/validate.ts';
import { executionNotFound, getKnownCronJob, type KnownCronJob } from '../known-cron-job.ts';
import { createRouter, type ApiRouter, type RouteDeps } from '../deps.ts';
import { decisiveIn, readDecisive } from '../executions/decisive.ts';
import { flag, name, whole, word } from '../../middleware/parameters.ts';

const logsQuery = {
  container: name(),
  tailLines: whole({ min: 1, max: 10_000, above: 'lowered' }),
  source: word(logSources),
  pod: name(),
  previous: flag(),
  uid: name(),
  format: word(['json', 'text']),
};

const defaultTailLines = 500;

/** A log is held whole in memory, several times over while it is made safe. */
const units = 4;

/**
 * @openapi
 * /cronjobs/{namespace}/{name}/executions/{jobName}/logs:
 *   get:
 *     tags: [Runs]
 *     operationId: getLogs
 *     summary: Logs of a run, ended or not
 *     x-ability: readLogs
 *     x-query: [container, tailLines, logSource, pod, previous, uid, logFormat]
 *     x-answers: { 200: JobLogs }
 *     x-refusals: [404, 429, 502]
 *     x-also: [text/plain]
 *     x-no-store: true
 */

/** GET …/executions/{jobName}/logs: of running Jobs too. */
export function logsRouter({ guard, store, actions }: RouteDeps): ApiRouter {
  const path = '/cronjobs/:namespace/:name/executions/:jobName/logs';
  return createRouter().get(path, guard({ ability: 'readLogs', expensive: units }), async (ctx) => {
    const query = readQuery(ctx, logsQuery);
    const { namespace = '', jobName = '' } = ctx.params;
    const known = await getKnownCronJob(store, ctx.params);
    const found = await findJob(store, known, jobName, query.uid);
    if (found === undefined) throw executionNotFound(known.cronJob, jobName);
    const { container, pod, previous = false, tailLines = defaultTailLines, source = 'auto' } = query;
    const { jobUid, run } = found;
    const wish = { namespace, jobName, jobUid, container, pod, previous, tailLines };
    const left = new AbortController();
    ctx.res.once('close', () => left.abort()); // the cluster reads no further for who has gone
    const logs = await actions.readLogs(wish, { source, signal: left.signal });
    ctx.state.noStore = true;
    if (query.format === 'text') {
      ctx.attachment(`${jobName}-${logs.container}.log`);
      ctx.type = 'text/plain; charset=utf-8';
      ctx.body = logs.logs;
    } else {
      const kept = run ? await listEvidence(store, jobUid) : [];
      const lines = run && !previous ? await readDecisive(store, known.ids, run, kept) : [];
      ctx.body = { ...logs, decisive: decisiveIn(lines, logs) } satisfies JobLogs;
    }
  });
}

/** The run of that name: one that goes on before one that has ended. */
async function findJob(
  store: Store,
  { ids }: KnownCronJob,
  jobName: string,
  uid: string | undefined,
): Promise<{ readonly jobUid: string; readonly run?: StoredExecution } | undefined> {
  const isAsked = (job: { jobName: string; jobUid: string }): boolean =>
    job.jobName === jobName && (uid === undefined || job.jobUid === uid);
  const active = (await listActiveJobs(store, ids)).find(isAsked);
  if (active) return { jobUid: active.jobUid };
  const run = await findExecution(store, { cronJobIds: ids, jobName, uid });
  return run && { jobUid: run.jobUid, run };
}
