import { parseResourceDuration, type FieldWrite, type Instant } from '@cronjob-monitor/shared/domain';
import {
  decodeMonitorSpec,
  type DecodedSpec,
  type MonitorDefaults,
  type MonitorSpec,
  type RawObject,
  type SpecChecks,
} from '@cronjob-monitor/shared/kube';

/** A CronJobMonitor as the cluster shows it, its spec decoded on arrival. */
export interface MonitorSeen {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly generation: number;
  readonly createdAt: Instant;
  readonly resourceVersion: string;
  readonly decoded: DecodedSpec<MonitorSpec>;
  /** When each field manager last wrote what says which CronJobs and Jobs are selected. */
  readonly selectorWrites: readonly FieldWrite[];
  /** When the expectations were written last; undefined: not known. */
  readonly expectsWrittenAt?: Instant | undefined;
  /** When its spec was written last, whatever of it; undefined: not known. */
  readonly specWrittenAt?: Instant | undefined;
  /** Its annotation `advice-ignore`; undefined: it has none. */
  readonly adviceIgnore?: string | undefined;
  /** As written by us earlier, or by another writer: compared, and asked for the times of earlier conditions. */
  readonly status: unknown;
}

/** Undefined for what is no object of an API server. One bad monitor harms itself alone: its spec says what is wrong. */
export function toMonitorSeen(raw: RawObject, defaults: MonitorDefaults, checks?: SpecChecks): MonitorSeen | undefined {
  const metadata = raw['metadata'];
  if (typeof metadata !== 'object' || metadata === null) return undefined;
  const { uid, namespace, name, generation, creationTimestamp, resourceVersion, managedFields, annotations } =
    metadata as Readonly<Record<string, unknown>>;
  if (typeof uid !== 'string' || typeof namespace !== 'string' || typeof name !== 'string') return undefined;
  return {
    uid,
    namespace,
    name,
    generation: typeof generation === 'number' ? generation : 0,
    createdAt: typeof creationTimestamp === 'string' ? Date.parse(creationTimestamp) || 0 : 0,
    resourceVersion: typeof resourceVersion === 'string' ? resourceVersion : '',
    decoded: decodeMonitorSpec(raw, defaults, checks),
    selectorWrites: [...writesOf('selector', managedFields), ...writesOf('jobs', managedFields)],
    expectsWrittenAt: newestOf(writesOf('expects', managedFields)),
    specWrittenAt: newestOf(writesOf(undefined, managedFields)),
    adviceIgnore: adviceIgnoreOf(annotations),
    status: raw['status'],
  };
}

const adviceIgnoreAnnotation = 'cronjob-monitor.io/advice-ignore';

function adviceIgnoreOf(annotations: unknown): string | undefined {
  const text = (annotations as Readonly<Record<string, unknown>> | null | undefined)?.[adviceIgnoreAnnotation];
  return typeof text === 'string' ? text : undefined;
}

/** Whether what it selects is what was meant: a selector that cannot be used selects nothing, and leaves nothing either. */
export function isSelectorUnderstood({ decoded }: Pick<MonitorSeen, 'decoded'>): boolean {
  return decoded.ok && decoded.spec.selector?.unusable !== true && decoded.spec.jobs?.unusable !== true;
}

/** For how long a group of Jobs is told of after its last Job has ended. */
export function forgetAfterMs({ decoded }: Pick<MonitorSeen, 'decoded'>): number {
  return (decoded.ok && decoded.spec.jobs && parseResourceDuration(decoded.spec.jobs.forgetAfter)) || 0;
}

function newestOf(writes: readonly FieldWrite[]): Instant | undefined {
  return writes.length === 0 ? undefined : Math.max(...writes.map(({ at }) => at));
}

/** Undefined: of any field of the spec. */
function writesOf(field: 'selector' | 'jobs' | 'expects' | undefined, managedFields: unknown): FieldWrite[] {
  if (!Array.isArray(managedFields)) return [];
  return managedFields.flatMap((entry: { time?: unknown; fieldsV1?: { 'f:spec'?: object } } | null) => {
    const at = typeof entry?.time === 'string' ? Date.parse(entry.time) : Number.NaN;
    const written = entry?.fieldsV1?.['f:spec'];
    const isWritten =
      typeof written === 'object' && written !== null && (field === undefined || `f:${field}` in written);
    return Number.isNaN(at) || !isWritten ? [] : [{ at, fields: field === undefined ? [] : [field] }];
  });
}
