import { hopelessWaitOf, type CronJobFacts, type Instant, type JobFacts } from '@cronjob-monitor/shared/domain';
import { stuckCandidates } from './stuck-candidates.ts';
import type { RunningSources } from './running-facts.ts';
import type { Watcher } from './subject.ts';
import { rulesOf, rulesOfGroup } from './monitor-rules.ts';
import type { Selection, ClusterCaches } from '../selection/index.ts';

export interface WatchersDeps extends Pick<RunningSources, 'podsOf' | 'refusalOf'> {
  readonly caches: Pick<ClusterCaches, 'cronJobs' | 'jobs'>;
  readonly selection: Selection;
  readonly defaultZone: string;
}

/** What the monitors of a CronJob ask for now. */
export interface Watchers {
  readonly of: (cronJob: CronJobFacts) => Watcher[];
  /** UIDs of the CronJobs with a Job that some monitor may find stuck, or could have until it ended after `endedAfterAt`. */
  readonly stuckAt: (now: Instant, endedAfterAt?: Instant) => ReadonlySet<string>;
}

export function createWatchers({ caches, selection, defaultZone, podsOf, refusalOf }: WatchersDeps): Watchers {
  const of = (cronJob: CronJobFacts): Watcher[] => {
    const zone = cronJob.timeZone ?? defaultZone;
    return selection.monitorsOf(cronJob).flatMap((monitor) => {
      const { uid, namespace, name } = monitor;
      const settings = selection.effectiveOf(monitor, cronJob);
      return settings
        ? [{ uid, namespace, name, rules: (cronJob.marks ? rulesOfGroup : rulesOf)(settings, zone) }]
        : [];
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
