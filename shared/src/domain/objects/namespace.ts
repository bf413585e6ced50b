import type { Instant } from '../instant.ts';
import type { Annotations } from '../settings/words.ts';
import type { FieldWrite } from '../watch/judges-from.ts';

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
