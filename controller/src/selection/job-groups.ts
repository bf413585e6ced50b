import {
  groupOf,
  type CronJobFacts,
  type Instant,
  type JobFacts,
  type JobMarks,
  type KeptGroup,
} from '@cronjob-monitor/shared/domain';
import type { EventHandler, ObjectCache, ObjectEvent } from '../runtime/index.ts';
import { forgetAfterMs } from './monitor-seen.ts';
import type { Selection } from './selection.ts';

interface JobGroupsDeps {
  readonly jobs: Pick<ObjectCache<JobFacts, 'cronJob'>, 'values' | 'listBy'>;
  /** Where the groups stand, beside the CronJobs of the cluster. */
  readonly groups: ObjectCache<CronJobFacts>;
  readonly selection: Pick<Selection, 'monitorsOf' | 'takesJob'>;
  /** Told of groups as a reflector tells of CronJobs. */
  readonly tell: EventHandler<CronJobFacts>;
  /** A monitor has groups beyond the bound, or others than before. */
  readonly onRefused: (monitorUid: string) => void;
}

/** What a monitor selects and what is not watched, for there are too many groups in the cluster. */
interface RefusedGroups {
  readonly count: number;
  /** The first of them, as `namespace/name`. */
  readonly names: readonly string[];
}

/** More than this many groups are not watched: each is a row, a state and a few series, as a CronJob is. */
const mostGroups = 20_000;
/** Names of refused groups that are kept: a condition shows a few. */
const mostNamed = 20;

/**
 * The groups of Jobs that monitors select, made of the Jobs in the cluster: their watch tells of no group. A group stays after its last Job for
 * as long as its alerts may, so that a hook that removes its Job is not forgotten with it. Warm on followers too.
 */
export class JobGroups {
  readonly #from: JobGroupsDeps;
  readonly #most: number;
  /** By UID of the group: when the Job was made that it has its labels from, and when the last Job that left the cluster had ended. */
  readonly #newestAt = new Map<string, Instant>();
  readonly #leftAt = new Map<string, Instant>();
  /** By UID of the monitor; the names of groups that it would select. */
  #refused = new Map<string, Set<string>>();
  #isAsked = false;

  constructor(from: JobGroupsDeps, most: number = mostGroups) {
    this.#from = from;
    this.#most = most;
  }

  onJob({ type, item }: ObjectEvent<JobFacts>, now: Instant): void {
    if (!item.marks) return;
    if (type !== 'deleted') return this.#consider(item, item.marks);
    const endedAt = Math.max(item.endedAt ?? now, this.#leftAt.get(item.cronJobUid) ?? 0);
    if (this.#from.groups.find(item.cronJobUid)) this.#leftAt.set(item.cronJobUid, endedAt);
  }

  /** A monitor or a namespace changed: Jobs that were there before may belong to a group now. */
  reconsiderSoon(): void {
    this.#isAsked = true;
  }

  reconsiderIfAsked(): void {
    if (this.#isAsked) this.reconsider();
  }

  reconsider(): void {
    const { jobs, groups } = this.#from;
    this.#isAsked = false;
    const before = this.#refused;
    this.#refused = new Map();
    for (const job of jobs.values()) if (job.marks && !groups.find(job.cronJobUid)) this.#consider(job, job.marks);
    for (const monitorUid of before.keys()) if (!this.#refused.has(monitorUid)) this.#from.onRefused(monitorUid);
  }

  /** Groups that no monitor selects yet, as their Jobs would make them. */
  *candidates(): Generator<CronJobFacts> {
    const { jobs, groups } = this.#from;
    for (const job of jobs.values())
      if (job.marks && !groups.find(job.cronJobUid)) yield groupOf(job, job.marks, undefined);
  }

  /** What an earlier process knew: groups whose Jobs have left the cluster, and when others began. */
  restore(kept: readonly KeptGroup[]): void {
    const { groups } = this.#from;
    for (const { facts, endedAt } of kept) {
      const known = groups.find(facts.uid);
      if (endedAt !== undefined) this.#leftAt.set(facts.uid, Math.max(endedAt, this.#leftAt.get(facts.uid) ?? 0));
      if (known && known.createdAt > facts.createdAt) this.#put({ ...known, createdAt: facts.createdAt });
      else if (!known) this.#put(facts);
    }
  }

  /** When its last Job ended; undefined while one goes on, and before any has ended. */
  endedAtOf(uid: string): Instant | undefined {
    const live = this.#from.jobs.listBy('cronJob', uid).filter((job) => this.#from.selection.takesJob(job));
    if (live.some(({ outcome }) => outcome === undefined)) return undefined;
    const ends = [...live.map(({ endedAt }) => endedAt), this.#leftAt.get(uid)].filter((at) => at !== undefined);
    return ends.length === 0 ? undefined : Math.max(...ends);
  }

  /** Lets those go of which nothing is in the cluster and nothing may be told any more. */
  forget(now: Instant): void {
    const { groups, jobs, selection } = this.#from;
    let wentSome = false;
    for (const group of groups.values()) {
      if (jobs.listBy('cronJob', group.uid).length > 0) continue;
      const keptMs = Math.max(...selection.monitorsOf(group).map(forgetAfterMs), 0);
      if ((this.#leftAt.get(group.uid) ?? group.createdAt) + keptMs > now) continue;
      groups.remove(group.uid);
      this.#newestAt.delete(group.uid);
      this.#leftAt.delete(group.uid);
      wentSome = true;
      void this.#from.tell({ type: 'deleted', item: group, tombstone: false });
    }
    if (wentSome && this.#refused.size > 0) this.reconsider();
  }

  /** What is beyond the bound of what this monitor selects; undefined: nothing. */
  refusedOf(monitorUid: string): RefusedGroups | undefined {
    const names = this.#refused.get(monitorUid);
    return names && { count: names.size, names: [...names].slice(0, mostNamed) };
  }

  #consider(job: JobFacts, marks: JobMarks): void {
    const { groups, selection } = this.#from;
    const known = groups.find(job.cronJobUid);
    const isNewer = job.createdAt >= (this.#newestAt.get(job.cronJobUid) ?? -Infinity);
    if (known && !isNewer && job.createdAt >= known.createdAt) return;
    const monitors = selection.monitorsOf(groupOf(job, marks, undefined));
    if (monitors.length === 0) return;
    if (!known && groups.size >= this.#most) {
      for (const { uid } of monitors) this.#refuse(uid, `${job.namespace}/${job.cronJobName}`);
      return;
    }
    if (!known || isNewer) this.#newestAt.set(job.cronJobUid, job.createdAt);
    const group = known && !isNewer ? { ...known, createdAt: job.createdAt } : groupOf(job, marks, known);
    if (!known || !isSameGroup(known, group)) this.#put(group);
  }

  #put(group: CronJobFacts): void {
    const before = this.#from.groups.find(group.uid);
    this.#from.groups.put(group, '', 0);
    void this.#from.tell(before ? { type: 'updated', item: group, before } : { type: 'added', item: group });
  }

  #refuse(monitorUid: string, name: string): void {
    const names = this.#refused.get(monitorUid) ?? new Set();
    if (names.size === 0) this.#from.onRefused(monitorUid);
    this.#refused.set(monitorUid, names.add(name));
  }
}

function isSameGroup(a: CronJobFacts, b: CronJobFacts): boolean {
  const textOf = (of: CronJobFacts): string => JSON.stringify([of.createdAt, of.templateHash, of.marks]);
  return textOf(a) === textOf(b);
}
