import type { SlaSubject } from '@cronjob-monitor/shared/contract';
import {
  isRateBelow,
  type BrokenTarget,
  type DetectionFacts,
  type Instant,
  type Judged,
  type Part,
  dayMs,
} from '@cronjob-monitor/shared/domain';
import { measureLongestRuns, type BrokenTargets, type LongestRun, type Tx } from '@cronjob-monitor/shared/store';
import type { Subject, Watch } from './subject.ts';

/** What one monitor asked about one CronJob, and what it found. */
interface AskedTargets {
  readonly subject: Subject;
  readonly watch: Watch;
  readonly facts: DetectionFacts;
  readonly judged: readonly Judged[];
}

/** What is asked with each part. The longest run of the window is asked with the rate: a run that ends cannot tell what leaves it. */
const subjectsOfPart: Readonly<Partial<Record<Part, readonly SlaSubject[]>>> = {
  successRate: ['successRate'],
  durations: ['maxDuration', 'minDuration'],
  finishBy: ['finishBy'],
};

/**
 * The promises that the figures of each CronJob break, with or without an alert: history that no alert tells counts, for it is shown. What
 * was not asked now stays as it was found before.
 */
export async function gatherBrokenTargets(
  tx: Tx,
  subjects: readonly Subject[],
  answered: readonly AskedTargets[],
  parts: ReadonlySet<Part>,
  now: Instant,
): Promise<BrokenTargets[]> {
  const asked = new Set([...parts].flatMap((part) => subjectsOfPart[part] ?? []));
  if (asked.size === 0) return [];
  const longest = parts.has('successRate') ? await gatherLongest(tx, answered, now) : undefined;
  const answers = Map.groupBy(answered, ({ subject }) => subject);
  return subjects.flatMap((subject) => {
    const { id, broken } = subject.row;
    const found = (answers.get(subject) ?? []).flatMap((one) => brokenOf(one, broken, asked, { longest, now }));
    return broken.length === 0 && found.length === 0 ? [] : [{ cronJobId: id, broken: found }];
  });
}

function brokenOf(
  { subject, watch, facts, judged }: AskedTargets,
  before: readonly BrokenTarget[],
  asked: ReadonlySet<SlaSubject>,
  { longest, now }: { readonly longest: LongestOf | undefined; readonly now: Instant },
): BrokenTarget[] {
  const monitorId = watch.monitor.id;
  const windowDays = watch.rules.detection.successRate?.windowDays ?? 7;
  const known = (of: SlaSubject): BrokenTarget[] =>
    before.filter((target) => target.monitorId === monitorId && target.subject === of);
  const rule = watch.rules.detection.durations;
  const found = (of: SlaSubject): BrokenTarget[] => {
    if (!isAskedOf(watch, of)) return [];
    const verdict = judged.find((one) => one.type === 'slaBreached' && one.subject === of)?.verdict;
    if (of === 'successRate' && asked.has(of)) {
      const rate = brokenRate(watch, facts);
      const { heldSince, brokeAt, lastRunAt = now } = facts.successRate ?? {};
      const sinceAt = heldSince ?? brokeAt ?? (verdict?.kind === 'holds' ? verdict.since : lastRunAt);
      if (rate) return [{ monitorId, subject: of, sinceAt, ...rate }];
    }
    if (of === 'maxDuration' && rule?.maxDurationMs !== undefined && longest) {
      const { durationMs = 0, beyondSinceAt } = longest(subject, watch) ?? {};
      const figures = { measured: durationMs / 1_000, limit: rule.maxDurationMs / 1_000, windowDays };
      if (beyondSinceAt !== undefined) return [{ monitorId, subject: of, sinceAt: beyondSinceAt, ...figures }];
    }
    if (verdict?.kind === 'holds' && verdict.figures.measured !== undefined) {
      const { measured, limit = 0 } = verdict.figures;
      const { time, timeZone } = verdict.detail;
      const finishBy = typeof time === 'string' ? [time, timeZone].filter(Boolean).join(' ') : undefined;
      return [{ monitorId, subject: of, sinceAt: verdict.since, measured, limit, windowDays, finishBy }];
    }
    // A run that ends says nothing of the ones before it.
    const isAsked = of === 'maxDuration' ? longest !== undefined : asked.has(of);
    return isAsked && verdict?.kind !== 'undecided' ? [] : known(of);
  };
  // One that was broken before has been since then: a verdict speaks of the run that moved its figure last.
  const withStart = (target: BrokenTarget): BrokenTarget => {
    if (target.subject === 'successRate' && facts.successRate?.heldSince !== undefined) return target;
    const [earlier] = known(target.subject);
    return earlier && earlier.sinceAt < target.sinceAt ? { ...target, sinceAt: earlier.sinceAt } : target;
  };
  return (['successRate', 'maxDuration', 'minDuration', 'finishBy'] as const).flatMap(found).map(withStart);
}

/** What is not promised any more cannot be broken. */
function isAskedOf({ rules }: Watch, subject: SlaSubject): boolean {
  const { successRate, durations, finishBy } = rules.detection;
  if (subject === 'successRate') return successRate?.enabled === true;
  if (subject === 'finishBy') return finishBy !== undefined;
  if (durations?.enabled !== true) return false;
  return (subject === 'maxDuration' ? durations.maxDurationMs : durations.minDurationMs) !== undefined;
}

function brokenRate(
  { rules }: Watch,
  facts: DetectionFacts,
): Pick<BrokenTarget, 'measured' | 'limit' | 'runs' | 'windowDays'> | undefined {
  const rule = rules.detection.successRate;
  const shown = facts.successRate?.shown;
  if (!rule || !shown) return undefined;
  if (!isRateBelow(rule, shown)) return undefined;
  const runs = shown.success + shown.failed;
  return { measured: (100 * shown.success) / runs, limit: rule.minSuccessRate, runs, windowDays: rule.windowDays };
}

type LongestOf = (subject: Subject, watch: Watch) => LongestRun | undefined;

/** One question for each length of window and each limit that monitors with a longest duration have. */
async function gatherLongest(tx: Tx, answered: readonly AskedTargets[], now: Instant): Promise<LongestOf> {
  const limited = answered.filter(({ watch }) => limitOf(watch) !== undefined);
  const found = new Map<string, ReadonlyMap<number, LongestRun>>();
  for (const [key, group] of Map.groupBy(limited, ({ watch }) => questionOf(watch))) {
    const [first] = group;
    if (!first) continue;
    const ids = [...new Set(group.map(({ subject }) => subject.row.id))];
    const from = now - windowOf(first.watch) * dayMs;
    // One after the other: there are as many as monitors have different ones.
    found.set(key, await measureLongestRuns(tx, ids, { from }, limitOf(first.watch)));
  }
  return ({ row }, watch) => found.get(questionOf(watch))?.get(row.id);
}

const windowOf = ({ rules }: Watch): number => rules.detection.successRate?.windowDays ?? 7;
const limitOf = ({ rules }: Watch): number | undefined => rules.detection.durations?.maxDurationMs;
const questionOf = (watch: Watch): string => `${windowOf(watch)} ${limitOf(watch)}`;
