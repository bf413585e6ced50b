import { createHash } from 'node:crypto';
import { groupSign as sign } from '../../contract/vocabulary.ts';
import type { CronJobFacts, JobMarks } from './cron-job.ts';
import type { JobFacts } from './job.ts';
import type { Instant } from '../instant.ts';

/** What the group of a Job follows from, as its metadata says. */
export interface GroupedJob {
  readonly name: string;
  readonly generateName: string | undefined;
  /** Of the label `cronjob-monitor.io/group`. */
  readonly label: string | undefined;
  readonly controller: { readonly kind: string; readonly name: string } | undefined;
}

/** A group as an earlier process left it. */
export interface KeptGroup {
  readonly facts: CronJobFacts;
  /** When the last of its runs that was recorded had ended. */
  readonly endedAt: Instant | undefined;
}

/** Longest name of a row. */
const mostChars = 253;
/** What `kubectl create job`, operators and generateName put behind a name: a number, or five of the letters of Kubernetes. */
const suffix = /-(?:\d+|[bcdfghjklmnpqrstvwxz2456789]{5})$/;

/**
 * The name of the group that a Job belongs to. The first that is there: its label, the object that controls it, what its name was generated
 * from, its name without what stands behind it for uniqueness.
 */
export function groupNameOf({ name, generateName, label, controller }: GroupedJob): string {
  const generatedFrom = generateName?.replace(/-$/, '');
  const group =
    label ||
    (controller && `${controller.kind.toLowerCase()}-${controller.name}`) ||
    generatedFrom ||
    withoutSuffix(name);
  if (group.length < mostChars) return sign + group;
  // Two long names that begin alike are two groups.
  const end = createHash('sha256').update(group).digest('hex').slice(0, 12);
  return `${sign}${group.slice(0, mostChars - end.length - 2)}-${end}`;
}

function withoutSuffix(name: string): string {
  return name.replace(suffix, '') || name;
}

/** The UID of a group, in the form of a UUID: the same whenever and wherever the group is seen. */
export function groupUidOf(namespace: string, groupName: string): string {
  const hex = createHash('sha256').update(`jobs/${namespace}/${groupName}`).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-');
}

/** A group of Jobs in the form of a CronJob: it has no schedule, and so no slots. Labels and notes are those of its newest Job. */
export function toGroupFacts(
  of: Pick<CronJobFacts, 'uid' | 'namespace' | 'name' | 'templateHash' | 'templateWrittenAt' | 'createdAt'> & {
    readonly marks: JobMarks;
  },
): CronJobFacts {
  return {
    ...of,
    labels: of.marks.labels,
    notes: of.marks.notes,
    schedule: '',
    timeZone: undefined,
    suspended: false,
    policy: 'Allow',
    deadlineS: undefined,
    successLimit: 0,
    failureLimit: 0,
    generation: 0,
    deletingAt: undefined,
    lastScheduleAt: undefined,
    lastSuccessAt: undefined,
    activeJobUids: [],
    activeDeadlineS: undefined,
    ttlAfterFinishedS: undefined,
    backoffLimit: undefined,
    restartPolicy: undefined,
    specWrites: [],
  };
}

/** The group of a Job, in the form of a CronJob without a schedule. */
export function groupOf(job: JobFacts, marks: JobMarks, earlier: CronJobFacts | undefined): CronJobFacts {
  const { cronJobUid: uid, namespace, cronJobName: name, templateHash } = job;
  return toGroupFacts({
    uid,
    namespace,
    name,
    marks,
    templateHash,
    templateWrittenAt: job.createdAt,
    createdAt: Math.min(job.createdAt, earlier?.createdAt ?? Infinity),
  });
}
