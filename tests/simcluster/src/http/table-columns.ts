import { at, fieldsOf, listOf, textOf } from '../json.ts';
import type { Kind } from '../kinds/kind.ts';
import type { KubeObject } from '../storage/kube-object.ts';

export interface Column {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  readonly priority: number;
  readonly cell: (object: KubeObject, now: number) => unknown;
}

const nameText =
  'Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names';
const creationText =
  'CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata';
const zoneText =
  'The time zone name for the given schedule, see https://en.wikipedia.org/wiki/List_of_tz_database_time_zones. If not specified, this will default to the time zone of the kube-controller-manager process. The set of valid time zone names and the time zone offset is loaded from the system-wide time zone database by the API server during CronJob validation and the controller manager during execution. If no system-wide time zone database can be found a bundled version of the database is used instead. If the time zone name becomes invalid during the lifetime of a CronJob or due to a change in host configuration, the controller will stop creating new new Jobs and will create a system event with the reason UnknownTimeZone. More information can be found in https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/#time-zones';
const dataText =
  "Data contains the configuration data. Each key must consist of alphanumeric characters, '-', '_' or '.'. Values with non-UTF-8 byte sequences must use the BinaryData field. The keys stored in Data must not overlap with the keys in the BinaryData field, this is enforced during validation process.";

type Cell = Column['cell'];

function column(name: string, type: string, description: string, cell: Cell): Column {
  return { name, type, format: name === 'Name' ? 'name' : '', description, priority: 0, cell };
}

/** Shown only when more is asked for. */
function wide(narrow: Column): Column {
  return { ...narrow, priority: 1 };
}

const name = column('Name', 'string', nameText, (object) => object.metadata.name);
const age = column('Age', 'string', creationText, (object, now) =>
  ageOf(Date.parse(object.metadata.creationTimestamp), now),
);
const createdAt = column('Created At', 'date', creationText, (object) => object.metadata.creationTimestamp);

/** A span as kubectl shortens it, such as `5m12s`. */
export function ageOf(since: number, now: number): string {
  const seconds = Math.floor((now - since) / 1000);
  if (Number.isNaN(seconds)) return '<unknown>';
  if (seconds < 0) return seconds >= -1 ? '0s' : '<invalid>';
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return joined(minutes, 'm', seconds % 60, 's');
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 8) return joined(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  const days = Math.floor(hours / 24);
  if (hours < 192) return joined(days, 'd', hours % 24, 'h');
  if (days < 730) return `${days}d`;
  if (days < 2920) return joined(Math.floor(days / 365), 'y', days % 365, 'd');
  return `${Math.floor(days / 365)}y`;
}

function joined(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit}${small}${smallUnit}`;
}

function containersOf(...path: readonly string[]): (object: KubeObject) => readonly unknown[] {
  return (object) => listOf(at(object, ...path, 'spec', 'containers'));
}

function containerColumns(...path: readonly string[]): Column[] {
  const containers = containersOf(...path);
  const joinedOf =
    (field: string): Cell =>
    (object) =>
      containers(object)
        .map((container) => textOf(fieldsOf(container)[field]))
        .join(',');
  return [
    wide(column('Containers', 'string', 'Names of each container in the template.', joinedOf('name'))),
    wide(column('Images', 'string', 'Images referenced by each container in the template.', joinedOf('image'))),
  ];
}

function orNone(value: unknown): unknown {
  return value === undefined || value === '' ? '<none>' : value;
}

const selectorText =
  'A label query over pods that should match the pod count. Normally, the system sets this field for you. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors';

const cronJobColumns: Column[] = [
  name,
  column('Schedule', 'string', 'The schedule in Cron format, see https://en.wikipedia.org/wiki/Cron.', (object) =>
    at(object, 'spec', 'schedule'),
  ),
  column('Timezone', 'string', zoneText, (object) => orNone(at(object, 'spec', 'timeZone'))),
  column(
    'Suspend',
    'boolean',
    'This flag tells the controller to suspend subsequent executions, it does not apply to already started executions.  Defaults to false.',
    (object) => (at(object, 'spec', 'suspend') === true ? 'True' : 'False'),
  ),
  column(
    'Active',
    'integer',
    'A list of pointers to currently running jobs.',
    (object) => listOf(at(object, 'status', 'active')).length,
  ),
  column(
    'Last Schedule',
    'string',
    'Information when was the last time the job was successfully scheduled.',
    (object, now) => {
      const last = at(object, 'status', 'lastScheduleTime');
      return typeof last === 'string' ? ageOf(Date.parse(last), now) : '<none>';
    },
  ),
  age,
  ...containerColumns('spec', 'jobTemplate', 'spec', 'template'),
  wide(
    column('Selector', 'string', selectorText, (object) =>
      selectorCell(at(object, 'spec', 'jobTemplate', 'spec', 'selector')),
    ),
  ),
];

const jobColumns: Column[] = [
  name,
  column('Status', 'string', 'Status of the job.', jobStatusCell),
  column(
    'Completions',
    'string',
    'The latest available observations of an object\'s current state. When a Job fails, one of the conditions will have type "Failed" and status true. When a Job is suspended, one of the conditions will have type "Suspended" and status true; when the Job is resumed, the status of this condition will become false. When a Job is completed, one of the conditions will have type "Complete" and status true.\n\nA job is considered finished when it is in a terminal condition, either "Complete" or "Failed". A Job cannot have both the "Complete" and "Failed" conditions. Additionally, it cannot be in the "Complete" and "FailureTarget" conditions. The "Complete", "Failed" and "FailureTarget" conditions cannot be disabled.\n\nMore info: https://kubernetes.io/docs/concepts/workloads/controllers/jobs-run-to-completion/',
    (object) => `${Number(at(object, 'status', 'succeeded') ?? 0)}/${Number(at(object, 'spec', 'completions') ?? 1)}`,
  ),
  column('Duration', 'string', 'Time required to complete the job.', durationCell),
  age,
  ...containerColumns('spec', 'template'),
  wide(column('Selector', 'string', selectorText, (object) => selectorCell(at(object, 'spec', 'selector')))),
];

function selectorCell(selector: unknown): string {
  const labels = Object.entries(fieldsOf(at(selector, 'matchLabels')));
  return labels.length === 0 ? '<none>' : labels.map(([key, value]) => `${key}=${textOf(value)}`).join(',');
}

function jobStatusCell(job: KubeObject): string {
  const holds = (type: string): boolean =>
    listOf(at(job, 'status', 'conditions')).some((one) => at(one, 'type') === type && at(one, 'status') === 'True');
  for (const type of ['Complete', 'Failed', 'Suspended', 'FailureTarget', 'SuccessCriteriaMet'])
    if (holds(type)) return type;
  return job.metadata.deletionTimestamp === undefined ? 'Running' : 'Terminating';
}

function durationCell(job: KubeObject, now: number): string {
  const start = at(job, 'status', 'startTime');
  const end = at(job, 'status', 'completionTime');
  if (typeof start !== 'string') return '';
  return ageOf(Date.parse(start), typeof end === 'string' ? Date.parse(end) : now);
}

const columnsByResource: Readonly<Record<string, readonly Column[]>> = {
  'cronjobs.batch': cronJobColumns,
  'jobs.batch': jobColumns,
  configmaps: [name, column('Data', 'string', dataText, (object) => dataCount(object)), age],
};

function dataCount(object: KubeObject): number {
  return Object.keys(fieldsOf(object['data'])).length + Object.keys(fieldsOf(object['binaryData'])).length;
}

/** The columns of a built-in kind; name and creation for those without columns of their own. */
export function columnsOf(kind: Kind): readonly Column[] {
  return columnsByResource[kind.storedAs] ?? [name, createdAt];
}
