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

/** The answers of one monitor about one CronJob, and the facts behind them. */
interface AskedTargets {
  readonly subject: Subject;
  readonly watch: Watch;
  readonly facts: DetectionFacts;
  readonly judged: readonly Judged[];
}

/** Targets judged with each part. The longest run of the window goes with the rate: only the clock tells when a run leaves the window. */
const subjectsOfPart: Readonly<Partial<Record<Part, readonly SlaSubject[]>>> = {
  successRate: ['successRate'],
  durations: ['maxDuration', 'minDuration'],
  finishBy: ['finishBy'],
};

/**
 * Targets that the figures of each CronJob break, with or without an alert: pages show history that no alert tells. A target that this pass does
 * not ask about keeps its last answer.
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
    // A single run that ends does not tell the longest run of the window.
    const isAsked = of === 'maxDuration' ? longest !== undefined : asked.has(of);
    return isAsked && verdict?.kind !== 'undecided' ? [] : known(of);
  };
  // A target that was broken before keeps its first instant; the verdict's is that of the run that moved the figure last.
  const withStart = (target: BrokenTarget): BrokenTarget => {
    if (target.subject === 'successRate' && facts.successRate?.heldSince !== undefined) return target;
    const [earlier] = known(target.subject);
    return earlier && earlier.sinceAt < target.sinceAt ? { ...target, sinceAt: earlier.sinceAt } : target;
  };
  return (['successRate', 'maxDuration', 'minDuration', 'finishBy'] as const).flatMap(found).map(withStart);
}

/** Whether the rules of the watch still name this target. */
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

/** Asks the database once for each pair of window and limit that monitors with a longest duration have. */
async function gatherLongest(tx: Tx, answered: readonly AskedTargets[], now: Instant): Promise<LongestOf> {
  const limited = answered.filter(({ watch }) => limitOf(watch) !== undefined);
  const found = new Map<string, ReadonlyMap<number, LongestRun>>();
  for (const [key, group] of Map.groupBy(limited, ({ watch }) => questionOf(watch))) {
    const [first] = group;
    if (!first) continue;
    const ids = [...new Set(group.map(({ subject }) => subject.row.id))];
    const from = now - windowOf(first.watch) * dayMs;
    // One after the other: monitors have few different pairs.
    found.set(key, await measureLongestRuns(tx, ids, { from }, limitOf(first.watch)));
  }
  return ({ row }, watch) => found.get(questionOf(watch))?.get(row.id);
}

const windowOf = ({ rules }: Watch): number => rules.detection.successRate?.windowDays ?? 7;
const limitOf = ({ rules }: Watch): number | undefined => rules.detection.durations?.maxDurationMs;
const questionOf = (watch: Watch): string => `${windowOf(watch)} ${limitOf(watch)}`;
