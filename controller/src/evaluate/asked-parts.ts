import type { AlertType } from '@cronjob-monitor/shared/contract';
import { type Instant, isEdge, type Judged, judgedKinds, type Part, partOf } from '@cronjob-monitor/shared/domain';
import type { DueWish } from '@cronjob-monitor/shared/store';

/** The parts that each scheduler asks about (detection.md section 1). */
export const partsOf = {
  'dead-man-switch': ['missedSchedule', 'deadMan', 'suspended'],
  'stuck-job-check': ['stuck', 'durations', 'finishBy'],
  'sla-recalculation': ['successRate', 'regression', 'output'],
} as const satisfies Readonly<Record<string, readonly Part[]>>;

/** The scheduler that asks about a part as time goes on; the dead-man's switch asks about failed runs too. */
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

/** Kinds of rows of `due` that verdicts write; the ledger writes those of slots. */
const dueKinds = { 'dead-man-switch': 'presence', 'stuck-job-check': 'finishBy' } as const;

/**
 * The instants at which each monitor's verdicts may change by time alone. Runs that go on need no rows: they are few, and each tick walks them
 * in memory. `forgetAt`: when the monitor forgets a group of Jobs.
 */
export function dueWishesOf(
  of: { readonly cronJobId: number; readonly monitorId: number },
  judged: readonly Judged[],
  parts: ReadonlySet<Part>,
  forgetAt?: Instant,
): DueWish[] {
  const wishes: DueWish[] = [];
  if (parts.has('deadMan')) {
    const changesAt = earliest(judged.filter(({ type }) => ofPresence.includes(type)));
    const at = Math.min(changesAt ?? Infinity, forgetAt ?? Infinity);
    wishes.push({ ...of, kind: dueKinds['dead-man-switch'], at: at === Infinity ? undefined : at });
  }
  if (parts.has('finishBy')) {
    wishes.push({
      ...of,
      kind: dueKinds['stuck-job-check'],
      at: earliest(judged.filter(({ subject }) => subject === 'finishBy')),
    });
  }
  return wishes;
}

/** What did not come is counted by the ledger; all else that the tick asks about is a matter of time. */
const ofPresence = typesAskedBy('dead-man-switch').filter((type) => !isEdge(type));

function earliest(judged: readonly Judged[]): Instant | undefined {
  const instants = judged.flatMap(({ verdict }) => (verdict.kind === 'holds' ? [] : (verdict.dueAt ?? [])));
  return instants.length === 0 ? undefined : Math.min(...instants);
}
