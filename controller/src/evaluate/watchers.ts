import {
  type CronJobFacts,
  type DetectionRules,
  type HopelessWait,
  hopelessWaitOf,
  type Instant,
  type JobFacts,
  type JudgingWords,
  type Part,
} from '@cronjob-monitor/shared/domain';
import type { MonitorSpec } from '@cronjob-monitor/shared/kube';
import type { RunningSources } from './running-facts.ts';
import type { Asked, MonitorRules, Watcher } from './subject.ts';
import { rulesOf, rulesOfGroup } from './monitor-rules.ts';
import type { ClusterCaches, MonitorSeen, Selection } from '../selection/index.ts';
import { allParts } from './asked-parts.ts';

interface WatchersDeps extends Pick<RunningSources, 'podsOf' | 'refusalOf'> {
  readonly caches: Pick<ClusterCaches, 'cronJobs' | 'jobs'>;
  readonly selection: Selection;
  readonly defaultZone: string;
}

/** What the monitors of a CronJob ask for now. */
interface Watchers {
  readonly of: (cronJob: CronJobFacts, monitors?: readonly MonitorSeen[]) => Watcher[];
  /** UIDs of the CronJobs with a Job that some monitor may find stuck, or could have until it ended after `endedAfterAt`. */
  readonly stuckAt: (now: Instant, endedAfterAt?: Instant) => ReadonlySet<string>;
}

export function createWatchers({ caches, selection, defaultZone, podsOf, refusalOf }: WatchersDeps): Watchers {
  const of = (cronJob: CronJobFacts, monitors = selection.monitorsOf(cronJob)): Watcher[] => {
    const zone = cronJob.timeZone ?? defaultZone;
    return monitors.flatMap((monitor) => {
      const { uid, namespace, name, generation, specWrittenAt, decoded } = monitor;
      const isMisread = decoded.ok && decoded.problems.length > 0;
      const rulesBy = (asked: Pick<MonitorSeen, 'decoded'>, words?: JudgingWords): MonitorRules | undefined => {
        const settings = selection.effectiveOf({ namespace, name, decoded: asked.decoded }, cronJob, words);
        return settings && (cronJob.marks ? rulesOfGroup : rulesOf)(settings, zone);
      };
      const rulesUnder = ({ spec, words }: Asked): MonitorRules | undefined =>
        spec === undefined ? rulesBy(monitor, words) : rulesOfStored(spec, (stored) => rulesBy(stored, words));
      const rules = rulesBy(monitor);
      return rules ? [{ uid, namespace, name, rules, isMisread, generation, specWrittenAt, rulesUnder }] : [];
    });
  };
  return {
    of,
    stuckAt(now, endedAfterAt) {
      const rulesOfUid = (uid: string) => {
        const cronJob = caches.cronJobs.find(uid);
        return cronJob ? of(cronJob).map(({ rules }) => rules.detection) : [];
      };
      const sources = {
        rulesOf: rulesOfUid,
        hopelessWaitOf: (job: JobFacts) => hopelessWaitOf(job, podsOf(job.uid), refusalOf(job.uid)),
      };
      return stuckCandidates(caches.jobs.values() as Iterable<JobFacts>, sources, now, endedAfterAt);
    },
  };
}

/** A row keeps a spec as it was decoded. One of an earlier release may lack what this one reads: then nothing is known of it. */
function rulesOfStored(
  spec: unknown,
  rulesBy: (monitor: Pick<MonitorSeen, 'decoded'>) => MonitorRules | undefined,
): MonitorRules | undefined {
  try {
    return rulesBy({ decoded: { ok: true, spec: spec as MonitorSpec, problems: [], notes: [] } });
  } catch {
    return undefined;
  }
}

/**
 * CronJobs that an event asks about, such as a changed spec or a monitor that is new: gathered for a moment and asked together, however
 * many events there were.
 */
export class AskedCronJobs {
  #asked = new Map<string, Set<Part>>();

  add(cronJobUids: Iterable<string>, parts: Iterable<Part> = allParts): void {
    const wanted = [...parts];
    for (const uid of cronJobUids) {
      const known = this.#asked.get(uid);
      if (known) for (const part of wanted) known.add(part);
      else this.#asked.set(uid, new Set(wanted));
    }
  }

  /** What was asked since the last time, and the parts of all of it. */
  take(): { readonly uids: readonly string[]; readonly parts: ReadonlySet<Part> } {
    const asked = this.#asked;
    this.#asked = new Map();
    const parts = new Set<Part>();
    for (const some of asked.values()) for (const part of some) parts.add(part);
    return { uids: [...asked.keys()], parts };
  }
}

/** What is asked besides the Jobs; all of it from memory. */
interface CandidateSources {
  readonly rulesOf: (cronJobUid: string) => readonly DetectionRules[];
  /** What a Job waits for in vain, if it does. */
  readonly hopelessWaitOf: (job: JobFacts) => HopelessWait | undefined;
}

/** Without a limit of its own a run overruns after an hour at the earliest. */
const soonestOverrunMs = 3_600_000;

/**
 * CronJobs with a Job that may be stuck or too slow by now, or may have been until it ended after `endedAfterAt`, as far as memory alone can
 * tell: so a tick asks about those few, whatever else runs. `now`: no later than the caches are fresh.
 */
export function stuckCandidates(
  jobs: Iterable<JobFacts>,
  { rulesOf, hopelessWaitOf }: CandidateSources,
  now: Instant,
  endedAfterAt: Instant = now,
): Set<string> {
  const uids = new Set<string>();
  for (const job of jobs) {
    if (job.suspended || uids.has(job.cronJobUid)) continue;
    const { outcome, endedAt = -Infinity } = job;
    if (outcome !== undefined && endedAt <= endedAfterAt) continue;
    const ageMs = (outcome === undefined ? now : endedAt) - job.createdAt;
    const isDue = (rules: DetectionRules): boolean =>
      outcome !== undefined
        ? ageMs >= soonestStuckMs(rules)
        : ageMs >= soonestMs(rules, job) || (ageMs >= hopelessMs(rules) && hopelessWaitOf(job) !== undefined);
    if (rulesOf(job.cronJobUid).some(isDue)) uids.add(job.cronJobUid);
  }
  return uids;
}

function hopelessMs({ stuck: { notStarted } }: DetectionRules): number {
  return notStarted?.enabled ? notStarted.hopelessAfterMs : Infinity;
}

/** No Job that takes less is stuck by these rules, however it waits, runs or ends. */
export function soonestStuckMs({ stuck: { notStarted, overrunning, terminating } }: DetectionRules): number {
  return Math.min(
    notStarted?.enabled ? Math.min(notStarted.notStartedAfterMs, notStarted.hopelessAfterMs || Infinity) : Infinity,
    overrunning?.enabled ? (overrunning.overrunningAfterMs ?? soonestOverrunMs) : Infinity,
    terminating?.enabled ? terminating.terminatingAfterMs : Infinity,
  );
}

function soonestMs({ stuck, durations }: DetectionRules, job: JobFacts): number {
  if (job.decidedAt !== undefined || job.deletingAt !== undefined)
    return stuck.terminating?.terminatingAfterMs ?? Infinity;
  const overrunning = stuck.overrunning && (stuck.overrunning.overrunningAfterMs ?? soonestOverrunMs);
  return Math.min(
    stuck.notStarted?.notStartedAfterMs ?? Infinity,
    overrunning ?? Infinity,
    durations?.maxDurationMs ?? Infinity,
  );
}
