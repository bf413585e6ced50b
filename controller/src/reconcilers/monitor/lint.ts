import {
  lint,
  type CronJobFacts,
  type Instant,
  type LintedCronJob,
  type LintFacts,
  type LintFinding,
  dayMs,
  hourMs,
} from '@cronjob-monitor/shared/domain';
import { rhythmOf, type Rhythm, type RhythmProblem } from '@cronjob-monitor/shared/domain/schedule';
import { ownOfLinted, type MonitorFacts } from '@cronjob-monitor/shared/kube';
import type { Ref } from '@cronjob-monitor/shared/contract';
import {
  cronJobIdsOf,
  listDependencies,
  measureLastDurations,
  putFindings,
  type LastDurations,
  type Store,
} from '@cronjob-monitor/shared/store';
import { nextTurn } from '../../runtime/index.ts';
import type { MonitorSeen, Selection } from '../../selection/index.ts';
import type { GatheredMonitor } from './gather.ts';

interface MonitorLintDeps {
  readonly store: Store;
  readonly epoch: number;
  readonly defaultZone: string;
  /** False: `cluster.default-time-zone` was left at its default. */
  readonly isDefaultZoneGiven: boolean;
  /** How late the cluster starts Jobs, 99th percentile. */
  readonly startSkewP99Ms: (now: Instant) => number;
  /** Why a monitor learns nothing of a CronJob that others wait for; undefined: it does. */
  readonly parentProblemOf: (monitor: MonitorSeen, parent: Ref) => string | undefined;
  readonly selection: Pick<Selection, 'ownOf' | 'effectiveOf' | 'speaks'>;
  readonly nextRunAtOf: (cronJob: CronJobFacts, now: Instant) => Instant | undefined;
}

/** What is to be said about a monitor's settings: the condition ConfigurationSound names it in short, and the store keeps all of it for readers. */
export interface MonitorLint {
  findings(gathered: GatheredMonitor, now: Instant): Promise<MonitorFacts['findings']>;
}

/** Runs whose durations are asked. */
const durationsOf = 100;
/** A schedule takes some milliseconds to look through: a round takes so many new ones, the next rounds the others. */
const mostNewRhythms = 50;
const mostKnownRhythms = 20_000;
/** Findings of one monitor that are kept for readers. */
const mostKept = 5_000;
/** A code is told of so many CronJobs by name. */
const mostNamed = 3;

/** Conditions of their own name these (resources.md section 5). */
const toldElsewhere: ReadonlySet<LintFinding['code']> = new Set([
  'ScheduleInvalid',
  'ZoneUnknown',
  'ScheduleNeverFires',
  'EveryNeverRuns',
  'ChannelUnknown',
]);

/** Schedules are looked through once a day, durations asked once an hour for each monitor: settings change seldom. */
export function createMonitorLint(deps: MonitorLintDeps): MonitorLint {
  const rhythms = new Map<string, { readonly rhythm: Rhythm | RhythmProblem; readonly until: Instant }>();
  const durations = new Map<
    string,
    { readonly of: ReadonlyMap<string, LastDurations>; readonly until: Instant; readonly count: number }
  >();

  const keep = keepFindings(deps);

  return {
    async findings(gathered, now) {
      const { monitor, selected } = gathered;
      if (!monitor.decoded.ok) return [];
      const cronJobs = await cronJobsToLint(gathered, now);
      if (cronJobs.length === 0 && selected.some(({ marks }) => !marks)) return [];
      const found = lint({
        monitor: monitor.decoded.spec,
        cronJobs,
        channelFaults: gathered.facts.channelFaults.map(({ name }) => ({ name, why: 'it cannot be sent to' })),
        skewP99Ms: deps.startSkewP99Ms(now),
        isDefaultZoneGiven: deps.isDefaultZoneGiven,
        dependencies: await dependenciesOf(deps, gathered),
        adviceIgnore: monitor.adviceIgnore,
      });
      await keep(monitor.uid, found);
      return summarize(found.filter(({ code, isLeft }) => !isLeft && !toldElsewhere.has(code)));
    },
  };

  /** Those whose schedules are known, or are looked through now; the others come with the next rounds. */
  async function cronJobsToLint(gathered: GatheredMonitor, now: Instant): Promise<LintedCronJob[]> {
    const measured = await durationsOfMonitor(gathered, now);
    const cronJobs: LintedCronJob[] = [];
    let fresh = 0;
    for (const cronJob of gathered.selected.filter(({ marks }) => !marks)) {
      const key = `${cronJob.schedule}\n${cronJob.timeZone ?? deps.defaultZone}`;
      const known = rhythms.get(key);
      const isKnown = known !== undefined && now < known.until;
      if (!isKnown && fresh >= mostNewRhythms) continue;
      if (!isKnown) {
        fresh++;
        await nextTurn(); // Others are waiting.
      }
      cronJobs.push({
        facts: cronJob,
        rhythm: isKnown ? known.rhythm : look(key, cronJob, now),
        durations: measured.get(cronJob.uid),
        nextRunAt: deps.nextRunAtOf(cronJob, now),
        own: ownOf(deps.selection, gathered.monitor, cronJob, now),
      });
    }
    return cronJobs;
  }

  function look(key: string, { schedule, timeZone }: CronJobFacts, now: Instant): Rhythm | RhythmProblem {
    const rhythm = rhythmOf(schedule, timeZone ?? deps.defaultZone, now);
    if (rhythms.size >= mostKnownRhythms) rhythms.clear();
    rhythms.set(key, { rhythm, until: now + dayMs });
    return rhythm;
  }

  async function durationsOfMonitor(
    { monitor, selected }: GatheredMonitor,
    now: Instant,
  ): Promise<ReadonlyMap<string, LastDurations>> {
    const known = durations.get(monitor.uid);
    if (known && now < known.until && known.count === selected.length) return known.of;
    const ids = await cronJobIdsOf(
      deps.store,
      selected.map(({ uid }) => uid),
    );
    const measured = await measureLastDurations(deps.store, [...ids.values()], durationsOf);
    const of = new Map(
      [...ids].flatMap(([uid, id]) => {
        const ofOne = measured.get(id);
        return ofOne ? [[uid, ofOne] as const] : [];
      }),
    );
    durations.set(monitor.uid, { of, until: now + hourMs, count: selected.length });
    return of;
  }
}

/** Writes what was found of a monitor where it differs from what this process wrote last. */
function keepFindings({
  store,
  epoch,
}: Pick<MonitorLintDeps, 'store' | 'epoch'>): (monitorUid: string, found: readonly LintFinding[]) => Promise<void> {
  const kept = new Map<string, string>();
  return async (monitorUid, found) => {
    const findings = found.slice(0, mostKept);
    const text = JSON.stringify(findings);
    if (kept.get(monitorUid) === text) return;
    const omitted = found.length - findings.length;
    await store.fenced(epoch, (tx) => putFindings(tx, { monitorUid, findings, omitted }));
    kept.set(monitorUid, text);
  };
}

/** Undefined: its CronJobs wait for none. */
async function dependenciesOf(
  deps: MonitorLintDeps,
  { monitor, selected }: GatheredMonitor,
): Promise<LintFacts['dependencies']> {
  const isAsked =
    (monitor.decoded.ok && monitor.decoded.spec.dependsOn.length > 0) ||
    selected.some(({ notes }) => notes.dependsOn !== undefined);
  if (!isAsked) return undefined;
  const problemOf = (parent: Ref): string | undefined => deps.parentProblemOf(monitor, parent);
  return { namespace: monitor.namespace, of: await listDependencies(deps.store), problemOf };
}

function ownOf(
  selection: MonitorLintDeps['selection'],
  monitor: MonitorSeen,
  cronJob: CronJobFacts,
  now: Instant,
): LintedCronJob['own'] {
  const settings = selection.speaks(monitor, cronJob) ? selection.effectiveOf(monitor, cronJob) : undefined;
  return settings && ownOfLinted(settings, selection.ownOf(cronJob), now);
}

/** One finding for each code: the first CronJobs by name, and how many there are besides. */
export function summarize(findings: readonly LintFinding[]): MonitorFacts['findings'] {
  return [...Map.groupBy(findings, ({ code }) => code)].map(([code, ofCode]) => {
    const sorted = ofCode.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
    const named = sorted.slice(0, mostNamed).map((finding) => `${nameOf(finding)}${finding.message}`);
    const more = sorted.length > mostNamed ? `, and ${sorted.length - mostNamed} more` : '';
    return { code, level: ofCode[0]?.level ?? 'note', message: named.join(', ') + more };
  });
}

function nameOf({ cronJob }: LintFinding): string {
  return cronJob ? `${cronJob.namespace}/${cronJob.name}: ` : '';
}
