import {
  hopelessWaitOf,
  type CronJobFacts,
  type Instant,
  type JobFacts,
  type JudgingWords,
} from '@cronjob-monitor/shared/domain';
import { stuckCandidates } from './stuck-candidates.ts';
import type { RunningSources } from './running-facts.ts';
import type { Asked, MonitorRules, Watcher } from './subject.ts';
import type { MonitorSpec } from '@cronjob-monitor/shared/kube';
import { rulesOf, rulesOfGroup } from './monitor-rules.ts';
import type { Selection, ClusterCaches, MonitorSeen } from '../selection/index.ts';

interface WatchersDeps extends Pick<RunningSources, 'podsOf' | 'refusalOf'> {
  readonly caches: Pick<ClusterCaches, 'cronJobs' | 'jobs'>;
  readonly selection: Selection;
  readonly defaultZone: string;
}

/** What the monitors of a CronJob ask for now. */
interface Watchers {
  readonly of: (cronJob: CronJobFacts) => Watcher[];
  /** UIDs of the CronJobs with a Job that some monitor may find stuck, or could have until it ended after `endedAfterAt`. */
  readonly stuckAt: (now: Instant, endedAfterAt?: Instant) => ReadonlySet<string>;
}

export function createWatchers({ caches, selection, defaultZone, podsOf, refusalOf }: WatchersDeps): Watchers {
  const of = (cronJob: CronJobFacts): Watcher[] => {
    const zone = cronJob.timeZone ?? defaultZone;
    return selection.monitorsOf(cronJob).flatMap((monitor) => {
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
