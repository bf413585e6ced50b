import type { DetectionFacts } from '@cronjob-monitor/shared/domain';
import type { AlertType } from '@cronjob-monitor/shared/contract';
import type { AlertRecord } from '@cronjob-monitor/shared/store';

/** One kind of facts: what is not wanted is not gathered, and its questions are not asked. */
export type Part = keyof DetectionFacts;

/** Who asks for what (detection.md section 1). */
export const partsOf = {
  'dead-man-switch': ['missedSchedule', 'deadMan', 'suspended'],
  'stuck-job-check': ['stuck', 'durations', 'finishBy'],
  'sla-recalculation': ['successRate', 'regression', 'output'],
} as const satisfies Readonly<Record<string, readonly Part[]>>;

/** Who asks for a part as time goes on; what failed is asked with what did not come. */
export function schedulerOf(part: Part): keyof typeof partsOf {
  const names = Object.keys(partsOf) as (keyof typeof partsOf)[];
  return names.find((name) => (partsOf[name] as readonly Part[]).includes(part)) ?? 'dead-man-switch';
}

export const allParts: ReadonlySet<Part> = new Set<Part>([
  'jobFailed',
  ...partsOf['dead-man-switch'],
  ...partsOf['stuck-job-check'],
  ...partsOf['sla-recalculation'],
]);

/** Those of which a level that has passed may be told. */
export const partsOfLevels: ReadonlySet<Part> = new Set<Part>([
  ...partsOf['dead-man-switch'],
  ...partsOf['stuck-job-check'],
  'output',
]);

/** What a run that ended may change by itself; what is open about its CronJob is asked besides. */
export const partsOfRun: readonly Part[] = ['jobFailed', 'deadMan', 'durations', 'output'];

const partOfType: Readonly<Record<Exclude<AlertType, 'slaBreached'>, Part>> = {
  jobFailed: 'jobFailed',
  missedSchedule: 'missedSchedule',
  deadManTriggered: 'deadMan',
  durationRegression: 'regression',
  jobStuck: 'stuck',
  jobSuspended: 'suspended',
  absent: 'deadMan',
};
const partOfSubject: Readonly<Record<string, Part>> = {
  successRate: 'successRate',
  finishBy: 'finishBy',
  maxDuration: 'durations',
  minDuration: 'durations',
  output: 'output',
};

/** What decides about an alert. */
export function partOf({ type, subject }: Pick<AlertRecord, 'type' | 'subject'>): Part {
  return type === 'slaBreached' ? (partOfSubject[subject ?? ''] ?? 'durations') : partOfType[type];
}
