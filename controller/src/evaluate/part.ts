import type { AlertType } from '@cronjob-monitor/shared/contract';
import { judgedKinds, partOf, type Part, isEdge, type Instant, type Judged } from '@cronjob-monitor/shared/domain';
import type { DueWish } from '@cronjob-monitor/shared/store';

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
  'successRate',
]);

/** What a run that ended may change by itself; what is open about its CronJob is asked besides. */
export const partsOfRun: readonly Part[] = ['jobFailed', 'deadMan', 'durations', 'output'];

/** Kinds of rows of `due` that verdicts ask for; that of slots belongs to the ledger. */
const dueKinds = { 'dead-man-switch': 'presence', 'stuck-job-check': 'finishBy' } as const;

/**
 * When each monitor's verdicts may change by time alone. Runs that go on are no rows here: they are in memory, few, and looked through
 * at each tick. `forgetAt`: when what is open about a group of Jobs is let go.
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
