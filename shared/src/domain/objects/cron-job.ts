import type { ConcurrencyPolicy } from '../../contract/index.ts';
import type { LastWriter } from '../detect/disappeared.ts';
import type { Instant } from '../instant.ts';
import type { Annotations } from '../settings/words.ts';
import type { FieldWrite } from '../watch/judges-from.ts';

export type { ConcurrencyPolicy };

/** Annotations `cronjob-monitor.io/…` of a CronJob, as it is named there, each cut at a length of its own. */
export interface CronJobNotes {
  readonly owner?: string;
  readonly description?: string;
  readonly runbook?: string;
  /** `depends-on`: the CronJobs that it waits for, as they are written there. */
  readonly dependsOn?: string;
  /** `advice-ignore`: codes of findings that are to be left. */
  readonly adviceIgnore?: string;
}

/** What a Job that no CronJob controls can be selected by. */
export interface JobMarks {
  readonly labels: Readonly<Record<string, string>>;
  /** Keys of its annotations. */
  readonly annotations: readonly string[];
  /** As a CronJob has them. */
  readonly notes: CronJobFacts['notes'];
  /** Kind of the object that controls it, such as `JobSet`; undefined: none does. */
  readonly ownerKind: string | undefined;
}

/** What we keep of a CronJob, about 1 KiB; a group of Jobs has the same form, and no schedule. */
export interface CronJobFacts {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Of a group of Jobs alone: what its newest Job can be selected by. */
  readonly marks?: JobMarks | undefined;
  readonly notes: CronJobNotes;
  /** Annotations by which its owner speaks for it, as written. Absent: none. */
  readonly annotations?: Annotations | undefined;
  /** Its annotations `cronjob-monitor.io/health` and `…/health-message`, which we write. */
  readonly health?: { readonly health: string; readonly message: string } | undefined;
  readonly schedule: string;
  /** That of its schedule, else `spec.timeZone`; undefined: the cluster's. */
  readonly timeZone: string | undefined;
  readonly suspended: boolean;
  readonly policy: ConcurrencyPolicy;
  readonly deadlineS: number | undefined;
  readonly successLimit: number;
  readonly failureLimit: number;
  readonly generation: number;
  readonly createdAt: Instant;
  readonly deletingAt: Instant | undefined;
  readonly lastScheduleAt: Instant | undefined;
  readonly lastSuccessAt: Instant | undefined;
  /** UIDs of `status.active`: what the CronJob controller itself started and has not seen end. */
  readonly activeJobUids: readonly string[];
  /** From the Job template. */
  readonly activeDeadlineS: number | undefined;
  readonly ttlAfterFinishedS: number | undefined;
  readonly backoffLimit: number | undefined;
  readonly restartPolicy: string | undefined;
  /** When each field manager last wrote the spec: `metadata.managedFields`. Settles when an unwatched edit happened. */
  readonly specWrites: readonly {
    readonly manager: string;
    readonly at: Instant;
    readonly fields: readonly string[];
  }[];
  /** When each field manager last wrote labels or the annotation `ignore`: their keys. Settles since when it is selected. Absent: not known. */
  readonly labelWrites?: readonly FieldWrite[];
  /** When each field manager last wrote annotations by which it is judged: the words. Absent: none did, or it is not known. */
  readonly wordWrites?: readonly FieldWrite[];
  readonly templateHash: string;
  /** When a manager last wrote an object whose job template it owns: `metadata.managedFields`. Absent: not known. */
  readonly templateWrittenAt?: Instant | undefined;
  /** Absent: not known. */
  readonly lastWriter?: LastWriter | undefined;
}

/** What we keep of a Namespace: what selectors ask, and whom its administrator lets watch it. */
export interface NamespaceFacts {
  readonly uid: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Annotations that speak for all CronJobs in it, as written. Absent: none. */
  readonly annotations?: Annotations | undefined;
  /** Annotation `cronjob-monitor.io/monitored-from`: namespaces whose monitors may select here; `*` stands for all. */
  readonly monitoredFrom: readonly string[];
  /** When each field manager last wrote labels, that annotation or `ignore`: their keys. Absent: not known. */
  readonly reachWrites?: readonly FieldWrite[];
  /** The same of annotations by which its CronJobs are judged: the words. */
  readonly wordWrites?: readonly FieldWrite[];
  readonly createdAt?: Instant | undefined;
  readonly deletingAt: Instant | undefined;
}
