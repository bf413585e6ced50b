import {
  type CronJobFacts,
  dayMs,
  hourMs,
  type Instant,
  lint,
  type LintedCronJob,
  type LintFacts,
  type LintFinding,
  lintOne,
  lintTogether,
  refText,
} from '@cronjob-monitor/shared/domain';
import { rhythmOf, type Rhythm, type RhythmProblem } from '@cronjob-monitor/shared/domain/schedule';
import { ownOfLinted, type MonitorFacts, type MonitorSpec } from '@cronjob-monitor/shared/kube';
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
  /** It is gone. */
  forget(monitorUid: string): void;
}

interface ReadDurations {
  readonly of: LastDurations | undefined;
  readonly readAt: Instant;
}

/** What was found of a CronJob, and what it followed from. */
interface FoundOfOne {
  readonly linted: LintedCronJob;
  /** The same list while it says the same. */
  readonly findings: readonly LintFinding[];
  /** What is in force for it; undefined: what the monitor says. CronJob, Namespace or monitor say something else: there are others. */
  readonly settings: ReturnType<Selection['effectiveOf']>;
}

/** What was found of a monitor, and what that of its CronJobs followed from besides. */
interface FoundOfMonitor {
  /** As text: each status that is written brings the same spec anew. */
  readonly spec: string;
  readonly skewP99Ms: number;
  readonly ofEach: ReadonlyMap<string, FoundOfOne>;
  /** What was found of it and of its CronJobs together, as text. */
  readonly together: string;
  readonly summary: MonitorFacts['findings'];
}

interface LookedBy extends Pick<FoundOfMonitor, 'skewP99Ms'> {
  readonly spec: MonitorSpec;
  readonly last: FoundOfMonitor | undefined;
  /** By the same spec and skew. */
  readonly isKnown: boolean;
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

/** What the lint says of starting deadlines is the same for all delays that are shorter. */
const leastSkewMs = 10_000;

export function createMonitorLint(deps: MonitorLintDeps): MonitorLint {
  return new KeptLint(deps);
}

/**
 * Schedules are looked through once a day, and so are durations, of CronJobs that succeed once an hour: settings change seldom. A CronJob is
 * looked at again when something of it is another thing, and findings are written when they say something else.
 */
class KeptLint implements MonitorLint {
  readonly #deps: MonitorLintDeps;
  readonly #rhythms = new Map<string, { readonly rhythm: Rhythm | RhythmProblem; readonly until: Instant }>();
  readonly #durations = new Map<string, ReadonlyMap<string, ReadDurations>>();
  readonly #found = new Map<string, FoundOfMonitor>();

  constructor(deps: MonitorLintDeps) {
    this.#deps = deps;
  }

  async findings(gathered: GatheredMonitor, now: Instant): Promise<MonitorFacts['findings']> {
    const { monitor, selected } = gathered;
    if (!monitor.decoded.ok) return [];
    const { spec } = monitor.decoded;
    const skewP99Ms = Math.max(leastSkewMs, this.#deps.startSkewP99Ms(now));
    const last = this.#found.get(monitor.uid);
    const text = JSON.stringify(spec);
    const isKnown = last?.spec === text && last.skewP99Ms === skewP99Ms;
    const ofEach = await this.#lookAtEach(gathered, { spec, skewP99Ms, last, isKnown }, now);
    if (ofEach.size === 0 && selected.some(({ marks }) => !marks)) return [];
    const facts = {
      monitor: spec,
      cronJobs: [...ofEach.values()].map(({ linted }) => linted),
      channelFaults: gathered.facts.channelFaults.map(({ name }) => ({ name, why: 'it cannot be sent to' })),
      skewP99Ms,
      isDefaultZoneGiven: this.#deps.isDefaultZoneGiven,
      dependencies: await dependenciesOf(this.#deps, gathered),
      adviceIgnore: monitor.adviceIgnore,
    };
    const together = JSON.stringify(lintTogether(facts));
    const isSame =
      last?.together === together &&
      last.ofEach.size === ofEach.size &&
      ofEach.entries().every(([uid, { findings }]) => last.ofEach.get(uid)?.findings === findings);
    const summary = isSame ? last.summary : await this.#write(monitor.uid, facts, ofEach);
    this.#found.set(monitor.uid, { spec: text, skewP99Ms, ofEach, together, summary });
    return summary;
  }

  forget(monitorUid: string): void {
    this.#durations.delete(monitorUid);
    this.#found.delete(monitorUid);
  }

  async #write(
    monitorUid: string,
    facts: LintFacts,
    ofEach: FoundOfMonitor['ofEach'],
  ): Promise<MonitorFacts['findings']> {
    const findingsOf = new Map([...ofEach.values()].map(({ linted, findings }) => [linted, findings]));
    const found = lint(facts, (cronJob) => findingsOf.get(cronJob) ?? []);
    const findings = found.slice(0, mostKept);
    const omitted = found.length - findings.length;
    await this.#deps.store.fenced(this.#deps.epoch, (tx) => putFindings(tx, { monitorUid, findings, omitted }));
    return summarize(found.filter(({ code, isLeft }) => !isLeft && !toldElsewhere.has(code)));
  }

  /** Those whose schedules are known, or are looked through now; the others come with the next rounds. */
  async #lookAtEach(
    { monitor, selected }: GatheredMonitor,
    by: LookedBy,
    now: Instant,
  ): Promise<Map<string, FoundOfOne>> {
    const measured = await this.#durationsOf(monitor, selected, now);
    const found = new Map<string, FoundOfOne>();
    let fresh = 0;
    for (const facts of selected.filter(({ marks }) => !marks)) {
      const key = `${facts.schedule}\n${facts.timeZone ?? this.#deps.defaultZone}`;
      const known = this.#rhythms.get(key);
      const isKnown = known !== undefined && now < known.until;
      if (!isKnown && fresh >= mostNewRhythms) continue;
      if (!isKnown) {
        fresh++;
        await nextTurn(); // Others are waiting.
      }
      const rhythm = isKnown ? known.rhythm : this.#look(key, facts, now);
      const durations = measured.get(facts.uid)?.of;
      const nextRunAt = this.#deps.nextRunAtOf(facts, now);
      found.set(facts.uid, this.#lookAt({ facts, rhythm, durations, nextRunAt }, facts, monitor, by, now));
    }
    return found;
  }

  #lookAt(seen: LintedCronJob, cronJob: CronJobFacts, monitor: MonitorSeen, by: LookedBy, now: Instant): FoundOfOne {
    const { selection } = this.#deps;
    const settings = selection.speaks(monitor, cronJob) ? selection.effectiveOf(monitor, cronJob) : undefined;
    const last = by.last?.ofEach.get(cronJob.uid);
    if (by.isKnown && last && last.settings === settings && isSameCronJob(last.linted, seen))
      return last.linted.nextRunAt === seen.nextRunAt ? last : { ...last, linted: { ...seen, own: last.linted.own } };
    const linted = { ...seen, own: settings && ownOfLinted(settings, selection.ownOf(cronJob), now) };
    const findings = lintOne(linted, { monitor: by.spec, skewP99Ms: by.skewP99Ms });
    const isAsBefore = last && JSON.stringify(last.findings) === JSON.stringify(findings);
    return { linted, findings: isAsBefore ? last.findings : findings, settings };
  }

  #look(key: string, { schedule, timeZone }: CronJobFacts, now: Instant): Rhythm | RhythmProblem {
    const rhythm = rhythmOf(schedule, timeZone ?? this.#deps.defaultZone, now);
    if (this.#rhythms.size >= mostKnownRhythms) this.#rhythms.clear();
    this.#rhythms.set(key, { rhythm, until: now + dayMs });
    return rhythm;
  }

  /** Of what has succeeded they are read an hour later, for its run may be stored by then; of all the others once a day. */
  async #durationsOf(
    { uid: monitorUid }: MonitorSeen,
    selected: readonly CronJobFacts[],
    now: Instant,
  ): Promise<ReadonlyMap<string, ReadDurations>> {
    const known = this.#durations.get(monitorUid);
    const stale = selected.filter(({ uid, lastSuccessAt = -Infinity }) => {
      const { readAt } = known?.get(uid) ?? { readAt: -Infinity };
      return now >= readAt + (lastSuccessAt > readAt - hourMs ? hourMs : dayMs);
    });
    if (known && stale.length === 0) return known;
    const { store } = this.#deps;
    const ids = await cronJobIdsOf(
      store,
      stale.map(({ uid }) => uid),
    );
    const measured = await measureLastDurations(store, [...ids.values()], durationsOf);
    const read = new Map(stale.map(({ uid }) => [uid, { of: measured.get(ids.get(uid) ?? 0), readAt: now }]));
    const all = new Map(
      selected.flatMap(({ uid }) => {
        const ofOne = read.get(uid) ?? known?.get(uid);
        return ofOne ? [[uid, ofOne]] : [];
      }),
    );
    this.#durations.set(monitorUid, all);
    return all;
  }
}

/** Whether all that `lintOne` looks at is what it was. A pause that is too long becomes one that is not with time alone. */
function isSameCronJob(last: LintedCronJob, { facts, rhythm, durations }: LintedCronJob): boolean {
  return (
    last.facts === facts &&
    last.rhythm === rhythm &&
    last.durations?.p50Ms === durations?.p50Ms &&
    last.durations?.p95Ms === durations?.p95Ms &&
    last.own?.problems.some((problem) => problem.startsWith('mute-until')) !== true
  );
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
  return cronJob ? `${refText(cronJob)}: ` : '';
}
