import type { Carried, CronJob, Incident, Ref, StreamData, WallStep } from '@cronjob-monitor/shared/contract';
import type { NumberedChange } from '@cronjob-monitor/shared/store';
import type { ApiContext } from '../../context.ts';
import { ApiError } from '../../errors.ts';
import { withoutForeignLines } from '../../middleware/request-log.ts';
import { toWireInstant } from '../../wire-values.ts';
import { cutToMinute } from '../../windows.ts';
import { readCronJobDetail } from '../cronjobs/detail.ts';
import { readCronJobList } from '../cronjobs/list.ts';
import type { RouteDeps } from '../deps.ts';
import { getKnownCronJob } from '../known-cron-job.ts';
import { readMoving } from '../incidents/read.ts';
import { readStatsFor } from '../stats/router.ts';
import { readWallRows } from '../wall/read.ts';
import { spanOf } from '../wall/router.ts';
import type { CronJobsQuery } from '../cronjobs/query.ts';
import { readRevision } from '../verdicts/surroundings.ts';
import { refText } from '@cronjob-monitor/shared/contract';

const rowsEveryMs = 2_000;
const overviewEveryMs = 5_000;
/** Expected runs of each row: what a list shows. */
const strip = 30;
/** More would fill what may wait for a slow reader: the rest comes with the next ones. */
const mostRowsAtOnce = 40;

/** What one stream carries itself. */
interface Carrier {
  /** Hears of a change. True: what the stream carries says all of it, and no hint is needed. */
  takes(change: NumberedChange): boolean;
  /** Begins to send what has changed, until the signal aborts. */
  start(signal: AbortSignal): void;
}

interface Wish {
  readonly carry: readonly Carried[];
  /** `namespace/name`. */
  readonly refs: readonly string[];
  /** Of the wall. */
  readonly step: WallStep | undefined;
  /** What the caller asked for and may see at this moment; empty: all. */
  readonly namespaces: () => readonly string[];
  /** `id`: a reader who comes back after it has missed nothing. */
  readonly send: <Kind extends 'overview' | 'row' | 'incident' | 'run' | 'wall'>(
    event: Kind,
    data: StreamData[Kind],
    id: number | undefined,
  ) => void;
}

/**
 * Reads rows and counts after changes, each at its own pace however much happens: a fleet with many runs a second costs a stream no more than
 * a quiet one. Each caller gets what the endpoints would answer it, log lines aside that it may not read.
 */
export function createCarrier(deps: RouteDeps, ctx: ApiContext, wish: Wish): Carrier {
  const { clock, logger } = deps;
  const { carry, send } = wish;
  const isOfRefs = carry.some((one) => one === 'rows' || one === 'runs' || one === 'wall');
  const refs = new Set(isOfRefs ? wish.refs : []);
  const changed = new Set<string>();
  /** Names of Jobs that ended, and were not told of yet, by CronJob. */
  const ended = new Map<string, Set<string>>();
  let isOverviewOld = false;
  /** As the reader has them; undefined: it has those of an answer that this stream does not know. */
  let incidents: readonly Incident[] | undefined;
  /** The newest change that this stream has heard of. */
  let heardId: number | undefined;
  /** What was heard before a read is said by what was read, unless something waits for its turn. */
  const placeOf = (heardBefore: number | undefined): number | undefined =>
    changed.size === 0 && !(carry.includes('overview') && isOverviewOld) ? heardBefore : undefined;

  const readable = createReadable(deps, ctx);

  async function sendRows(): Promise<void> {
    if (changed.size === 0) return;
    const wanted = [...changed].slice(0, mostRowsAtOnce);
    for (const ref of wanted) changed.delete(ref);
    const heardBefore = heardId;
    const messages = await readMessages({ deps, wish, readable, ended }, wanted);
    for (const message of messages) message(message === messages.at(-1) ? placeOf(heardBefore) : undefined);
  }

  async function sendOverview(): Promise<void> {
    if (!isOverviewOld) return;
    isOverviewOld = false;
    const heardBefore = heardId;
    const revision = await readRevision(deps.store);
    if (!carry.includes('incidents')) {
      const stats = await readStatsFor(deps, ctx, wish.namespaces());
      return send('overview', { revision, stats }, placeOf(heardBefore));
    }
    const { incidents: found, ...counts } = await readMoving(deps, ctx, wish.namespaces());
    const rows = await readable(found);
    for (const step of sharedSteps(incidents ?? noIncidents, rows)) send('incident', { revision, ...step }, undefined);
    incidents = rows;
    send('overview', { revision, ...counts }, placeOf(heardBefore));
  }

  /** While the database is away the next change is told of again; health says that it is away. */
  const safely = (what: string, run: () => Promise<void>, onFailure: () => void) => async (): Promise<void> => {
    try {
      await run();
    } catch (error) {
      onFailure();
      logger.debug('What a stream carries could not be read', { what, failure: String(error) });
    }
  };

  return {
    takes(change) {
      if (carry.length === 0) return false;
      isOverviewOld = true;
      heardId = Math.max(heardId ?? 0, change.id);
      const about = refOf(change);
      if (change.kind === 'silence') for (const ref of refs) changed.add(ref);
      if (about !== undefined && refs.has(about)) {
        changed.add(about);
        if (change.kind === 'execution')
          ended.set(about, (ended.get(about) ?? new Set<string>()).add(change.data.jobName));
      }
      // A page that has rows carried asks for its own CronJobs alone; what becomes of others is in the counts.
      const isOfRuns = change.kind === 'cronjob' || change.kind === 'execution';
      return isOfRuns && isOfRefs && carry.includes('overview') && !refs.has(about ?? '');
    },
    start(signal) {
      if (refs.size > 0) {
        const again = (): void => refs.forEach((ref) => changed.add(ref));
        everyTogether(clock, rowsEveryMs, safely('rows', sendRows, again), signal);
      }
      if (!carry.includes('overview')) return;
      const again = (): void => void (isOverviewOld = true);
      everyTogether(clock, overviewEveryMs, safely('overview', sendOverview, again), signal);
    },
  };
}

/** Gives what the caller of a request may read of it. */
type Readable = <T>(value: T) => Promise<T>;

function createReadable({ authentication }: RouteDeps, { state }: ApiContext): Readable {
  return async <T>(value: T): Promise<T> => {
    if (authentication.mode === 'none' || !state.caller) return value;
    return (await withoutForeignLines(authentication, state.caller, value)) as T; // a copy of the same shape
  };
}

/** What is read of CronJobs, and for whom. */
interface Source {
  readonly deps: RouteDeps;
  readonly wish: Wish;
  readonly readable: Readable;
  /** Names of Jobs that ended, and were not told of yet, by CronJob. */
  readonly ended: ReadonlyMap<string, Set<string>>;
}

/** Sends what was read. */
type Message = (id: number | undefined) => void;

/** What the stream carries of these CronJobs, as far as its reader may see them: a silence that changes makes all change that were named. */
async function readMessages(source: Source, changed: readonly string[]): Promise<readonly Message[]> {
  const { carry, send, namespaces } = source.wish;
  const seen = namespaces();
  const wanted = changed.filter((ref) => seen.length === 0 || seen.includes(ref.slice(0, ref.indexOf('/'))));
  if (wanted.length === 0) return [];
  const revision = await readRevision(source.deps.store);
  const [rows, ofWall, runs] = await Promise.all([
    carry.includes('rows') ? readRows(source, wanted) : [],
    carry.includes('wall') ? readWall(source, wanted) : [],
    carry.includes('runs') ? readRuns(source, wanted) : [],
  ]);
  const toMessage =
    <Kind extends 'row' | 'wall' | 'run'>(kind: Kind) =>
    (data: Omit<StreamData[Kind], 'revision'>): Message =>
    (id) =>
      send(kind, { revision, ...data } as StreamData[Kind], id); // the compiler does not put the two together
  return [...rows.map(toMessage('row')), ...ofWall.map(toMessage('wall')), ...runs.map(toMessage('run'))];
}

async function readRows({ deps, readable }: Source, refs: readonly string[]): Promise<{ readonly row: CronJob }[]> {
  const query: CronJobsQuery = { ...everything, refs, kind: ['CronJob', 'Jobs'], limit: refs.length };
  return (await readable(await readCronJobList(deps, query))).items.map((row) => ({ row }));
}

async function readWall(
  { deps, wish: { step }, readable }: Source,
  refs: readonly string[],
): Promise<Omit<StreamData['wall'], 'revision'>[]> {
  const now = cutToMinute(deps.clock.now());
  const span = spanOf({ step }, now);
  const rows = await deps.answers.read(['wallRows', span, now, refs], () => readWallRows(deps, { span, now }, refs));
  const ends = { from: toWireInstant(span.from), now: toWireInstant(now), until: toWireInstant(span.until) };
  return (await readable(rows)).map((row) => ({ ...ends, row }));
}

async function readRuns(
  { deps, readable, ended }: Source,
  refs: readonly string[],
): Promise<Omit<StreamData['run'], 'revision'>[]> {
  const read: Omit<StreamData['run'], 'revision'>[] = [];
  for (const ref of refs) {
    const [namespace = '', name = ''] = ref.split('/');
    // Serial: a page shows one CronJob.
    const known = await getKnownCronJob(deps.store, { namespace, name }).catch(unlessNotFound);
    if (!known) continue;
    const names = new Set(ended.get(ref));
    const { executions, ...cronjob } = await readable(await readCronJobDetail(deps, known, strip));
    for (const jobName of names) ended.get(ref)?.delete(jobName);
    read.push({ cronjob, ended: executions.filter(({ jobName }) => names.has(jobName)) });
  }
  return read;
}

/** One that was deleted with its history meanwhile. Throws what else went wrong. */
function unlessNotFound(error: unknown): undefined {
  if (!(error instanceof ApiError) || error.code !== 'NOT_FOUND') throw error;
}

/** All streams look at the same moments: what they read is read once for all, and what is alike is written once. */
function everyTogether(clock: RouteDeps['clock'], ms: number, run: () => Promise<void>, signal: AbortSignal): void {
  const beat = async (): Promise<void> => {
    for (;;) {
      await clock.sleep(ms - (clock.monotonicMs() % ms), signal);
      await run();
    }
  };
  beat().catch(() => {}); // the signal has ended it: `run` tells of its failures itself
}

const noIncidents: readonly Incident[] = [];

type Step = { readonly rank: number; readonly row: Incident } | { readonly removed: Ref };

/** Of lists that many streams have: the steps from the one to the other are found once. */
const stepsOf = new WeakMap<readonly Incident[], WeakMap<readonly Incident[], readonly Step[]>>();

function sharedSteps(before: readonly Incident[], after: readonly Incident[]): readonly Step[] {
  const known = stepsOf.get(after) ?? new WeakMap<readonly Incident[], readonly Step[]>();
  const steps = known.get(before) ?? stepsBetween(before, after);
  stepsOf.set(after, known.set(before, steps));
  return steps;
}

/** What makes one list of the other: each row is taken out, and put in at its rank, one after the other. */
function stepsBetween(before: readonly Incident[], after: readonly Incident[]): Step[] {
  const keep = new Set(after.map(keyOf));
  const steps: Step[] = before.filter((row) => !keep.has(keyOf(row))).map(({ cronjob }) => ({ removed: cronjob }));
  let list = before.filter((row) => keep.has(keyOf(row)));
  for (const [rank, row] of after.entries()) {
    const there = list[rank];
    if (there && textOf(there) === textOf(row)) continue;
    steps.push({ rank, row });
    list = list.filter((one) => keyOf(one) !== keyOf(row)).toSpliced(rank, 0, row);
  }
  return steps;
}

const keyOf = ({ cronjob }: Incident): string => refText(cronjob);

/** The revision of a verdict is another one after each change of the fleet. */
function textOf(row: Incident): string {
  return JSON.stringify(row, (key, value: unknown) => (key === 'revision' ? undefined : value));
}

/** The list without a filter. */
const everything: CronJobsQuery = {
  namespace: [],
  refs: [],
  kind: [],
  status: [],
  state: [],
  search: undefined,
  similar: undefined,
  monitor: undefined,
  sla: [],
  includeRemoved: undefined,
  recent: strip,
  sort: { key: 'status', descending: false },
  limit: undefined,
  offset: undefined,
  format: undefined,
};

/** The CronJob that a change is about, `namespace/name`. */
function refOf({ kind, data }: NumberedChange): string | undefined {
  if (kind === 'cronjob') return refText(data);
  if (kind === 'execution') return `${data.namespace}/${data.cronJobName}`;
  return kind === 'alert' ? refText(data.cronjob) : undefined;
}
