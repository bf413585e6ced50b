import type { Ref } from '@cronjob-monitor/shared/contract';
import {
  heardWords,
  instantIn,
  readAdviceIgnore,
  suspendedCause,
  type LintFinding,
} from '@cronjob-monitor/shared/domain';
import { findZoneFault } from '@cronjob-monitor/shared/domain/schedule';
import {
  listCronJobsById,
  listFindings,
  listMonitors,
  listMonitorsOf,
  listSuspensions,
  type CatalogCronJob,
  type CronJobOutline,
} from '@cronjob-monitor/shared/store';
import { isSameRef } from '../../object-name.ts';
import { judgeCoverage } from '../coverage/list.ts';
import { limitsSuspension } from '../../monitor-spec.ts';
import { withDefaults } from '../coverage/query.ts';
import type { RouteDeps } from '../deps.ts';
import { findOutlines } from '../find-outlines.ts';
import { explainNamed } from '../verdicts/explain-run.ts';
import { inWords } from '../verdicts/findings.ts';
import { levelOf, rankOf, type AdviceCode } from './kinds.ts';
import { refText } from '@cronjob-monitor/shared/contract';

/** Their sentences begin with a name, or say how a value is written: they stand as they are. */
const quoting: ReadonlySet<AdviceCode> = new Set([
  'AnnotationInvalid',
  'DependencyUnknown',
  'DependencyCycle',
  'WindowStaysOpen',
]);

export interface AdviceScope {
  readonly namespaces: readonly string[];
  /** Namespaces of which the caller may read monitors; empty: all. */
  readonly monitored: readonly string[];
  /** What is said of this one is looked for; undefined: of all. Findings of settings are told of all in any case. */
  readonly cronJob?: Ref | undefined;
}

/** One finding, before its alerts are counted. */
export interface Found {
  readonly code: AdviceCode;
  readonly words: string;
  readonly cronJob: Ref | undefined;
  /** Undefined: nothing is kept of it, or it is about the monitor. */
  readonly cronJobId: number | undefined;
  readonly monitor: (Ref & { readonly id: number }) | undefined;
  readonly path: string | undefined;
  readonly mend: LintFinding['mend'];
  /** A command that mends it, where it is known already. */
  readonly command: string | undefined;
  readonly isLeft: boolean;
}

/** All that is found, worst first, and how much more there is. */
export interface AllFound {
  readonly found: readonly Found[];
  readonly omitted: number;
}

/**
 * Every finding about the CronJobs of these namespaces: what the leader's check of settings kept, whose failures would not be heard, and what
 * the last runs say. Nothing is checked anew: each is told by the part of the service that judges it.
 */
export async function findAdvice(deps: RouteDeps, scope: AdviceScope): Promise<AllFound> {
  const outlines = await findOutlines(deps, { namespaces: scope.namespaces });
  const asked = scope.cronJob === undefined ? outlines : outlines.filter((one) => isSameRef(one, scope.cronJob));
  const [ofSettings, unheard, ofRuns, suspended] = await Promise.all([
    findInSettings(deps, outlines, scope),
    findUnheard(deps, scope),
    findInRuns(deps, asked),
    findForgotten(deps, asked, scope),
  ]);
  const ofZones = await findZones(deps, asked, ofSettings.found);
  const found = [...ofSettings.found, ...ofZones, ...unheard, ...ofRuns, ...suspended].sort(byWorst);
  return { found, omitted: ofSettings.omitted };
}

const nothingMore = { path: undefined, mend: undefined, command: undefined, isLeft: false } as const;
const levels = ['error', 'warning', 'note'];

function byWorst(a: Found, b: Found): number {
  const nameOf = ({ cronJob, monitor }: Found): string =>
    `${cronJob?.namespace ?? ''}/${cronJob?.name ?? ''} ${monitor?.name ?? ''}`;
  return (
    levels.indexOf(levelOf(a.code)) - levels.indexOf(levelOf(b.code)) ||
    rankOf(a.code) - rankOf(b.code) ||
    (nameOf(a) < nameOf(b) ? -1 : 1)
  );
}

/** As the leader wrote it, of what is there still. */
async function findInSettings(
  { store }: RouteDeps,
  outlines: readonly CronJobOutline[],
  { namespaces, monitored }: AdviceScope,
): Promise<AllFound> {
  const [findings, monitors] = await Promise.all([listFindings(store), listMonitors(store)]);
  const idOf = new Map(outlines.map((outline) => [refText(outline), outline.id]));
  const mayTell = (namespace: string): boolean =>
    (namespaces.length === 0 || namespaces.includes(namespace)) &&
    (monitored.length === 0 || monitored.includes(namespace));
  let omitted = 0;
  const found = monitors.flatMap(({ id, uid, namespace, name }) => {
    const ofMonitor = findings.get(uid);
    if (!ofMonitor) return [];
    if (mayTell(namespace)) omitted += ofMonitor.omitted;
    return ofMonitor.findings.flatMap(({ code, path, cronJob, message, mend, isLeft = false }): Found | [] => {
      const cronJobId = cronJob && idOf.get(refText(cronJob));
      if (cronJob ? cronJobId === undefined : !mayTell(namespace)) return [];
      const monitor = { id, namespace, name };
      const words = quoting.has(code) ? message : inWords(message);
      return { code, words, cronJob, cronJobId, monitor, path, mend, command: undefined, isLeft };
    });
  });
  return { found, omitted };
}

/** Zones that CronJobs name wrongly, as far as no check of a monitor has told it: it is wrong whatever watches it. */
async function findZones(
  deps: RouteDeps,
  outlines: readonly CronJobOutline[],
  told: readonly Found[],
): Promise<Found[]> {
  const noted = await readNoted(
    deps,
    outlines.flatMap((outline) => (findZoneFault(outline) ? outline.id : [])),
  );
  return outlines.flatMap((outline): Found[] => {
    const fault = findZoneFault(outline);
    if (!fault || told.some(({ code, cronJobId }) => code === fault.code && cronJobId === outline.id)) return [];
    const { id, namespace, name } = outline;
    const { code, message, path, mend } = fault;
    const about = { code, words: inWords(message), cronJob: { namespace, name }, cronJobId: id, monitor: undefined };
    return [{ ...nothingMore, ...about, path, mend, isLeft: isLeftBy(noted.get(id), code) }];
  });
}

/** CronJobs of which a failure would reach no channel. */
async function findUnheard(deps: RouteDeps, { namespaces, cronJob }: AdviceScope): Promise<Found[]> {
  const asked = withDefaults({
    namespace: namespaces,
    state: ['unwatched', 'off', 'nobody', 'unreachable'],
    monitor: undefined,
    search: undefined,
    types: ['jobFailed'],
    days: undefined,
    proved: undefined,
    sort: { key: 'state', descending: false },
    limit: undefined,
    offset: undefined,
    format: undefined,
  });
  const { kept } = await judgeCoverage(deps, asked, cronJob);
  const noted = await readNoted(
    deps,
    kept.flatMap(({ id }) => id ?? []),
  );
  return kept.map(({ id, namespace, name, coverage: { state, types } }) => {
    const worst = types.find((type) => type.state === state);
    const words = heardWords({ state, reason: worst?.reason, channels: worst?.channels ?? [] });
    const isLeft = isLeftBy(id === undefined ? undefined : noted.get(id), 'NotHeard');
    return {
      ...nothingMore,
      code: 'NotHeard',
      words,
      cronJob: { namespace, name },
      cronJobId: id,
      monitor: undefined,
      isLeft,
    };
  });
}

/** What the newest runs say: none has succeeded, or the memory was too small. */
async function findInRuns(deps: RouteDeps, outlines: readonly CronJobOutline[]): Promise<Found[]> {
  const unwell = outlines.filter(
    ({ suspended, state, lastSuccessAt, lastRunAt }) =>
      !suspended && lastRunAt !== undefined && (state !== 'healthy' || lastSuccessAt === undefined),
  );
  const rows = [
    ...(
      await readNoted(
        deps,
        unwell.map(({ id }) => id),
      )
    ).values(),
  ];
  const killed = rows.filter(({ failedRun }) => failedRun?.reason === 'OOMKilled');
  const explained = await explainNamed(
    deps.store,
    killed.flatMap(({ id, failedRun }) => (failedRun ? [{ cronJobId: id, jobName: failedRun.jobName }] : [])),
  );
  const base = (cronJob: CatalogCronJob, code: AdviceCode): Omit<Found, 'words'> => ({
    ...nothingMore,
    code,
    cronJob: { namespace: cronJob.namespace, name: cronJob.name },
    cronJobId: cronJob.id,
    monitor: undefined,
    isLeft: isLeftBy(cronJob, code),
  });
  return [
    ...killed.flatMap((cronJob): Found[] => {
      const { id, failedRun } = cronJob;
      if (failedRun === undefined) return [];
      const why = explained({ cronJobId: id, jobName: failedRun.jobName });
      const command = why?.step?.action === 'copyPatch' ? (why.step.command ?? undefined) : undefined;
      const path = 'spec.jobTemplate.spec.template.spec.containers';
      const how = why?.cause ?? 'it was killed for want of memory';
      const words = `The last run failed ${instantIn('ago', failedRun.createdAt)}: ${how}`;
      return [{ ...base(cronJob, 'OutOfMemory'), words, path, command }];
    }),
    ...rows.flatMap((cronJob): Found[] => {
      if (cronJob.lastSuccessAt !== undefined || cronJob.failedRun === undefined) return [];
      const words = `No run has succeeded; the last one failed ${instantIn('ago', cronJob.failedRun.createdAt)}`;
      return [{ ...base(cronJob, 'NeverSucceeded'), words }];
    }),
  ];
}

/** For so long a suspension may be meant. */
const forgottenMs = 7 * 86_400_000;

/** CronJobs that have been suspended for long, while no monitor of theirs says when that is too long. */
async function findForgotten(
  deps: RouteDeps,
  outlines: readonly CronJobOutline[],
  { monitored }: AdviceScope,
): Promise<Found[]> {
  const { store } = deps;
  const ids = outlines.flatMap(({ id, suspended }) => (suspended ? id : []));
  if (ids.length === 0) return [];
  const [suspensions, selecting, monitors] = await Promise.all([
    listSuspensions(store, ids),
    listMonitorsOf(store, ids),
    listMonitors(store),
  ]);
  const specs = new Map(monitors.map(({ id, spec }) => [id, spec]));
  const before = store.now() - forgottenMs;
  const forgotten = ids.filter((id) => (suspensions.get(id)?.sinceAt ?? Infinity) < before);
  const noted = await readNoted(deps, forgotten);
  return forgotten.flatMap((id): Found[] => {
    const [cronJob, suspension] = [noted.get(id), suspensions.get(id)];
    const own = selecting.filter(({ cronJobId }) => cronJobId === id);
    if (!cronJob || !suspension || own.some(({ monitorId }) => limitsSuspension(specs.get(monitorId)))) return [];
    const leading = own.find(({ namespace }) => monitored.length === 0 || monitored.includes(namespace));
    const rule = leading && {
      monitor: { id: leading.monitorId, namespace: leading.namespace, name: leading.name },
      path: 'spec.suspendedHandling.alertIfSuspendedFor',
      mend: '30d',
    };
    const lacks = own.length === 0 ? 'no monitor watches it' : 'no rule of its monitor says when that is too long';
    const words = `${suspendedCause(suspension)}; ${lacks}`;
    const { namespace, name } = cronJob;
    const isLeft = isLeftBy(cronJob, 'SuspendedLong');
    const found = {
      ...nothingMore,
      code: 'SuspendedLong' as const,
      words,
      cronJob: { namespace, name },
      cronJobId: id,
    };
    return [{ ...found, monitor: undefined, ...rule, isLeft }];
  });
}

async function readNoted({ store }: RouteDeps, ids: readonly number[]): Promise<ReadonlyMap<number, CatalogCronJob>> {
  return new Map((await listCronJobsById(store, ids)).map((row) => [row.id, row]));
}

function isLeftBy(cronJob: CatalogCronJob | undefined, code: AdviceCode): boolean {
  return readAdviceIgnore(cronJob?.notes.adviceIgnore).includes(code);
}
