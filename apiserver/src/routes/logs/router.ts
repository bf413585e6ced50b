import {
  findExecution,
  listActiveJobs,
  listEvidence,
  type Store,
  type StoredExecution,
} from '@cronjob-monitor/shared/store';
import {
  type DecisiveLine,
  type ExecutionDetail,
  executionStatuses,
  JobLogs,
  LogSearchResult,
  logSources,
  logsUnavailableReasons,
  type Problem,
} from '@cronjob-monitor/shared/contract';
import { startTimeLimit } from '@cronjob-monitor/shared/process';
import { dayMs, decisiveLine, findAgain } from '@cronjob-monitor/shared/domain';
import { cutToMinute, readWindow } from '../../windows.ts';
import { executionNotFound, getKnownCronJob, type KnownCronJob } from '../known-cron-job.ts';
import type { ApiContext } from '../../context.ts';
import { ApiError } from '../../errors.ts';
import { askElsewhere } from '../clusters/ask.ts';
import type { RouteDeps } from '../deps.ts';
import type { Values } from '../../middleware/validate.ts';
import { route } from '../route.ts';
import {
  createdWithin,
  flag,
  jobUid,
  name,
  names,
  namespaces,
  text,
  whole,
  word,
  words,
} from '../../middleware/parameters.ts';
import { readDecisive } from '../executions/decisive.ts';

/** Of a text or an expression that is looked for. */
const maxSearchedCharacters = 500;

const logsQuery = {
  container: name('Without it the one that failed, else the first regular one.'),
  tailLines: whole('Last lines, 500 without it; more than 10000 is lowered.', {
    min: 1,
    max: 10_000,
    above: 'lowered',
  }),
  source: word('Without it live, else stored.', logSources),
  pod: name('One pod of several.'),
  previous: flag('Of the container before its restart.'),
  uid: jobUid,
  format: word('As an object, or as a text file.', ['json', 'text']),
};

const searchQuery = {
  q: text('What a line has in it, upper and lower case alike; an expression with regex=true.', maxSearchedCharacters),
  regex: flag('q is RE2.'),
  namespace: namespaces,
  cronjob: names('Names of CronJobs.'),
  status: words('How runs ended.', executionStatuses),
  ...createdWithin,
  cursor: name('Of the answer before: the search goes on where it ended.'),
};

/** Nothing is in every line. */
function hasText({ q }: { readonly q: string | undefined }): Problem[] {
  if (q !== undefined && q !== '') return [];
  return [
    {
      in: 'query',
      field: 'q',
      message: 'is missing',
      allowed: `a text of at most ${maxSearchedCharacters} characters`,
    },
  ];
}

/** Logs of the last 30 x 24 h without `since`. */
const defaultWindowMs = 30 * dayMs;

const defaultTailLines = 500;

/** A log is held whole in memory, several times over while it is made safe. */
const units = 4;

/** Logs of one run, of running Jobs too, and what they have in them. */
export const logsRoutes = [
  route(
    {
      method: 'GET',
      path: '/logs/search',
      tag: 'Runs',
      id: 'searchLogs',
      says: 'Lines of kept logs, those of the newest runs first',
      ability: 'readLogs',
      expensive: units,
      query: searchQuery,
      rules: [hasText],
      answer: LogSearchResult,
      noStore: true,
    },
    async ({ deps: { clock, actions }, ctx, query }) => {
      const { q = '', regex = false, namespace, cronjob, status, cursor } = query;
      const window = readWindow(query, { since: cutToMinute(clock.now()) - defaultWindowMs });
      const filter = { namespaces: namespace, cronJobs: cronjob, statuses: status, ...window };
      return actions.searchLogs({ wanted: q, isRegex: regex, filter, cursor }, whileOpen(ctx));
    },
  ),
  route(
    {
      method: 'GET',
      path: '/cronjobs/:namespace/:name/executions/:jobName/logs',
      tag: 'Runs',
      id: 'getLogs',
      says: 'Logs of a run, ended or not',
      ability: 'readLogs',
      elsewhere: 'inParts',
      expensive: units,
      query: logsQuery,
      answer: JobLogs,
      also: ['text/plain'],
      refusals: [502],
      noStore: true,
    },
    async ({ deps, ctx, query }) => {
      const { jobName = '' } = ctx.params;
      const logs = await readLogsOf(deps, ctx, query);
      if (query.format !== 'text') return logs;
      ctx.attachment(`${jobName}-${logs.container}.log`);
      ctx.type = 'text/plain; charset=utf-8';
      ctx.body = logs.logs;
      return undefined;
    },
  ),
];

/** Of a run of another cluster that goes on the service there is asked, where one takes that. */
async function readLogsOf(deps: RouteDeps, ctx: ApiContext, query: Values<typeof logsQuery>): Promise<JobLogs> {
  const { store, elsewhere } = deps;
  const { jobName = '' } = ctx.params;
  const known = await getKnownCronJob(store, ctx.params);
  const found = await findJob(store, known, jobName, query.uid);
  if (found === undefined) throw executionNotFound(known.cronJob, jobName);
  const { source = 'auto' } = query;
  if (!found.run && source !== 'stored' && elsewhere && (await elsewhere.isTaken())) {
    const asked = new URLSearchParams(ctx.querystring);
    asked.delete('format');
    return (await askElsewhere(elsewhere, ctx, { id: 'getLogs', query: asked.toString() })) as JobLogs;
  }
  return readLogsOfJob(deps, ctx, known, { ...query, ...found });
}

/** The rest of an answer does not wait longer for a log of the cluster. */
const includedWithinMs = 2_000;

/** The newest lines of a run that has ended, or why they cannot be had; neither: not soon, or the caller is refused. */
export async function readIncludedLog(
  deps: RouteDeps,
  ctx: ApiContext,
  known: KnownCronJob,
  run: StoredExecution,
): Promise<Pick<ExecutionDetail, 'log' | 'noLog'>> {
  const limit = startTimeLimit(deps.clock, includedWithinMs, whileOpen(ctx));
  try {
    return { log: await readLogsOfJob(deps, ctx, known, { jobUid: run.jobUid, run, signal: limit.signal }) };
  } catch (error) {
    // What it cannot tell takes nothing from the rest of the answer.
    if (!(error instanceof ApiError) && !limit.signal.aborted) throw error;
    const why = error instanceof ApiError && error.code === 'LOGS_UNAVAILABLE' ? error.details?.reason : undefined;
    const noLog = logsUnavailableReasons.find((reason) => reason === why);
    return { log: null, ...(noLog && { noLog }) };
  } finally {
    limit.end();
  }
}

/** One that has ended has a run. */
async function readLogsOfJob(
  { store, actions }: RouteDeps,
  ctx: ApiContext,
  known: KnownCronJob,
  asked: FoundJob & Partial<Values<typeof logsQuery>> & { readonly signal?: AbortSignal },
): Promise<JobLogs> {
  const { jobUid, run, container, pod, previous = false, tailLines = defaultTailLines, source = 'auto' } = asked;
  const { namespace = '', jobName = '' } = ctx.params;
  const wish = { namespace, jobName, jobUid, container, pod, previous, tailLines };
  const logs = await actions.readLogs(wish, { source, signal: asked.signal ?? whileOpen(ctx) });
  const kept = run ? await listEvidence(store, jobUid) : [];
  const lines = run && !previous ? await readDecisive(store, known.ids, run, kept) : [];
  const isOver = run?.status === 'failed' && !previous;
  return { ...logs, decisive: isOver ? decisiveIn(lines, logs) : [] };
}

/** Aborts when the client has gone: nothing is read any further for it. */
function whileOpen(ctx: ApiContext): AbortSignal {
  const left = new AbortController();
  ctx.res.once('close', () => left.abort());
  return left.signal;
}

interface FoundJob {
  readonly jobUid: string;
  readonly run?: StoredExecution;
}

/** The run of that name: one that goes on before one that has ended. */
async function findJob(
  store: Store,
  { ids }: KnownCronJob,
  jobName: string,
  uid: string | undefined,
): Promise<FoundJob | undefined> {
  const isAsked = (job: { jobName: string; jobUid: string }): boolean =>
    job.jobName === jobName && (uid === undefined || job.jobUid === uid);
  const active = (await listActiveJobs(store, ids)).find(isAsked);
  if (active) return { jobUid: active.jobUid };
  const run = await findExecution(store, { cronJobIds: ids, jobName, uid });
  return run && { jobUid: run.jobUid, run };
}

/** Those of one log of a failed run as it is shown, numbered by it. Of a log that is not kept it is the last line that speaks of an error. */
function decisiveIn(
  lines: readonly DecisiveLine[],
  { pod, container, logs }: { readonly pod: string | null; readonly container: string; readonly logs: string },
): DecisiveLine[] {
  const known = lines.filter((line) => line.pod === pod && line.container === container);
  if (known.length > 0) return known.flatMap((line) => findAgain(line, logs) ?? []);
  const line = decisiveLine(logs);
  return pod !== null && line?.by === 'word' ? [{ pod, container, ...line, firstSeenAt: null }] : [];
}
