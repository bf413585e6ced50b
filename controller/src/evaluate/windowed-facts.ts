import {
  isRateBelow,
  rateBelowSince,
  type Baseline,
  type DetectionFacts,
  type Instant,
  type Part,
  type RatedRun,
  dayMs,
} from '@cronjob-monitor/shared/domain';
import {
  countRateFacts,
  listJudgedRuns,
  listLastScheduledRuns,
  listMissedSlots,
  measureDurationShift,
  type AlertRecord,
  type DurationShift,
  type RateFacts,
  type Tx,
} from '@cronjob-monitor/shared/store';
import type { Subject, Watch } from './subject.ts';

/** Facts over a window of days, for these CronJobs at once: one question for each length of window that their monitors ask for. */
export async function gatherWindowed(
  tx: Tx,
  subjects: readonly Subject[],
  parts: ReadonlySet<Part>,
  now: Instant,
): Promise<(subject: Subject, watch: Watch) => Pick<DetectionFacts, 'successRate' | 'regression'>> {
  const rates = parts.has('successRate') ? await gatherRates(tx, subjects, now) : undefined;
  const brokeAt = rates ? await gatherBreaks(tx, subjects, rates, now) : undefined;
  const shifts = parts.has('regression') ? await gatherShifts(tx, subjects, now) : undefined;
  const rated = subjects.filter(({ watches }) => watches.some(({ rules }) => rules.detection.successRate));
  const lastRuns = rates
    ? await listLastScheduledRuns(
        tx,
        rated.map(({ row }) => row.id),
      )
    : undefined;

  return (subject, watch) => {
    const id = subject.row.id;
    const rate = rates?.get(rateKey(watch))?.get(id);
    const lastEndedAt = lastRuns?.get(id)?.lastEnded.endedAt;
    const shift = shifts?.get(watch);
    return {
      successRate: rates && {
        // History alone, from before the monitor judged the CronJob, opens nothing.
        ...(lastEndedAt !== undefined && lastEndedAt >= watch.judgesFromAt ? toCounts(rate) : toCounts(undefined)),
        shown: toCounts(rate),
        lastRunAt: lastEndedAt,
        brokeAt: brokeAt?.get(watch),
        // Good evaluations are counted by the alert itself.
        openGoodEvaluations: isOpen(subject, watch, 'successRate') ? 1 : undefined,
      },
      regression: shifts && toRegression(shift, openRegression(subject, watch)),
    };
  };
}

const rateKey = ({ rules }: Watch): string =>
  `${rules.detection.successRate?.windowDays} ${rules.detection.successRate?.countMissed}`;
const regressionWindow = ({ rules }: Watch): number => rules.detection.regression?.baselineWindowMs ?? 0;

async function gatherRates(
  tx: Tx,
  subjects: readonly Subject[],
  now: Instant,
): Promise<ReadonlyMap<string, ReadonlyMap<number, RateFacts>>> {
  const asked = pairsOf(subjects).filter(({ watch }) => watch.rules.detection.successRate?.enabled);
  const rates = new Map<string, ReadonlyMap<number, RateFacts>>();
  for (const [key, group] of Map.groupBy(asked, ({ watch }) => rateKey(watch))) {
    const rule = group[0]?.watch.rules.detection.successRate;
    if (!rule) continue;
    // Monitors ask for few different windows; each answer is large, so one comes after the other.
    const wanted = { from: now - rule.windowDays * dayMs, missed: rule.countMissed };
    rates.set(key, await countRateFacts(tx, idsOf(group), wanted));
  }
  return rates;
}

/** More runs of two windows are not read: of those that ran so often the rate has been below its minimum for at least so long. */
const mostRated = 2_000;

/** Since when rates have been below their minimum: as it is kept with the target, else read once from the runs, however late it is found. */
async function gatherBreaks(
  tx: Tx,
  subjects: readonly Subject[],
  rates: ReadonlyMap<string, ReadonlyMap<number, RateFacts>>,
  now: Instant,
): Promise<ReadonlyMap<Watch, Instant>> {
  const below = pairsOf(subjects).flatMap(({ subject, watch }) => {
    const rule = watch.rules.detection.successRate;
    const isBelow = rule && isRateBelow(rule, toCounts(rates.get(rateKey(watch))?.get(subject.row.id)));
    const known = subject.row.broken.find((one) => one.monitorId === watch.monitor.id && one.subject === 'successRate');
    return isBelow ? [{ subject, watch, rule, known }] : [];
  });
  const begun = below.filter(({ known }) => known === undefined);
  const ratedOf = await gatherRated(tx, begun);
  return new Map(
    below.flatMap(({ subject, watch, rule, known }) => {
      const at = known?.sinceAt ?? rateBelowSince(rule, ratedOf(subject, watch).runs, now);
      return at === undefined ? [] : [[watch, at] as const];
    }),
  );
}

/** What a rate is made of, for one monitor. */
interface Rated {
  /** In no order. A slot that was missed is a failed run that ended when it was due, without a name. */
  readonly runs: readonly (RatedRun & { readonly jobName: string })[];
  /** All are known that ended from then on. */
  readonly knownFromAt: Instant;
}

/** The newest runs of these CronJobs that count, and what they missed for monitors that count that. */
export async function gatherRated(
  tx: Tx,
  pairs: readonly Asked[],
): Promise<(subject: Subject, watch: Pick<Watch, 'rules'>) => Rated> {
  const missing = pairs.filter(({ watch }) => countsMissed(watch));
  const runs = await listJudgedRuns(tx, idsOf(pairs), { count: mostRated, includeManual: false });
  const missed = await listMissedSlots(tx, idsOf(missing), mostRated);
  return ({ row }, watch) => {
    const ended = runs.get(row.id) ?? [];
    const slots = countsMissed(watch) ? (missed.get(row.id) ?? []) : [];
    const failed = slots.map((endedAt) => ({ jobName: '', status: 'failed', endedAt }) as const);
    return {
      runs: [...ended.filter(({ isCounted }) => isCounted), ...failed],
      knownFromAt: Math.max(
        ended.length >= mostRated ? (ended.at(-1)?.endedAt ?? -Infinity) : -Infinity,
        slots.length >= mostRated ? (slots.at(-1) ?? -Infinity) : -Infinity,
      ),
    };
  };
}

export function countsMissed({ rules }: Pick<Watch, 'rules'>): boolean {
  return rules.detection.successRate?.countMissed === true;
}

async function gatherShifts(
  tx: Tx,
  subjects: readonly Subject[],
  now: Instant,
): Promise<ReadonlyMap<Watch, DurationShift>> {
  const asked = pairsOf(subjects).filter(({ watch }) => {
    const rule = watch.rules.detection.regression;
    return rule?.enabled && rule.thresholdPercent > 0;
  });
  const shifts = new Map<Watch, DurationShift>();
  // Of one CronJob each monitor has a beginning of its own: the first of each is asked with the first of the others.
  const position = ({ subject, watch }: Asked): number => subject.watches.indexOf(watch);
  const groups = Map.groupBy(asked, (pair) => `${regressionWindow(pair.watch)} ${position(pair)}`);
  for (const group of groups.values()) {
    const [first] = group;
    if (!first) continue;
    const sinceOf = new Map(
      group.flatMap(({ subject, watch }) =>
        // All runs of a CronJob that was judged from its creation on are younger.
        watch.judgesFromAt > (subject.facts?.createdAt ?? -Infinity)
          ? [[subject.row.id, watch.judgesFromAt] as const]
          : [],
      ),
    );
    // As with rates.
    const found = await measureDurationShift(tx, idsOf(group), {
      now,
      baselineWindowMs: regressionWindow(first.watch),
      sinceOf,
    });
    for (const { subject, watch } of group) {
      const shift = found.get(subject.row.id);
      if (shift) shifts.set(watch, shift);
    }
  }
  return shifts;
}

interface Asked {
  readonly subject: Subject;
  readonly watch: Watch;
}

function pairsOf(subjects: readonly Subject[]): Asked[] {
  return subjects.flatMap((subject) => subject.watches.map((watch) => ({ subject, watch })));
}

function idsOf(pairs: readonly { readonly subject: Subject }[]): number[] {
  return [...new Set(pairs.map(({ subject }) => subject.row.id))];
}

function toCounts(rate: RateFacts | undefined): { readonly success: number; readonly failed: number } {
  return { success: rate?.success ?? 0, failed: (rate?.failed ?? 0) + (rate?.missed ?? 0) };
}

function isOpen({ alerts }: Subject, { monitor }: Watch, subject: string): boolean {
  return alerts.some(
    (alert) => alert.monitorId === monitor.id && alert.subject === subject && alert.state !== 'pending',
  );
}

const noBaseline: Baseline = { runs: 0, p25: 0, p75: 0, p95: 0 };

function toRegression(
  shift: DurationShift | undefined,
  open: AlertRecord | undefined,
): NonNullable<DetectionFacts['regression']> {
  const frozen = frozenBaseline(open);
  return {
    recentMs: shift?.recentMs ?? [],
    newestEndAt: shift?.newestEndAt,
    baseline: shift?.baseline ?? noBaseline,
    open: open && frozen && { baseline: frozen, sinceAt: open.sinceAt, goodEvaluations: 1 },
  };
}

function openRegression({ alerts }: Subject, { monitor }: Watch): AlertRecord | undefined {
  return alerts.find((alert) => alert.monitorId === monitor.id && alert.type === 'durationRegression');
}

/** As the detector wrote it when it opened. */
function frozenBaseline(open: AlertRecord | undefined): Baseline | undefined {
  const context = open?.context as
    | { readonly verdict?: { readonly detail?: { readonly baseline?: Baseline } } }
    | undefined;
  return context?.verdict?.detail?.baseline;
}
