import type { AlertType } from '@cronjob-monitor/shared/contract';
import { judgedKinds, partOf, type Part } from '@cronjob-monitor/shared/domain';

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

/** Types of alerts that this scheduler asks about. */
export function typesAskedBy(name: keyof typeof partsOf): AlertType[] {
  return [...new Set(judgedKinds.filter((kind) => schedulerOf(partOf(kind)) === name).map(({ type }) => type))];
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
