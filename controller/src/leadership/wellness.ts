/** What a leader must be able to say of itself before it calls the heartbeat URL. Durations in milliseconds. */
export interface Wellness {
  /** Since the last event or bookmark, by kind. */
  readonly watchAgesMs: Readonly<Record<string, number>>;
  /** Since the last full evaluation; undefined: there was none in this term. */
  readonly evaluationAgeMs: number | undefined;
  /** How often is evaluated. */
  readonly evaluationIntervalMs: number;
  readonly isDatabaseAway: boolean;
  /** Age of the oldest message that is due and not sent; 0: there is none. */
  readonly outboxAgeMs: number;
}

/** As health and the alert rules of the chart count them (api.md, metrics.md section 4). */
const maxWatchAgeMs = 120_000;
const lateIntervals = 3;
const maxOutboxAgeMs = 300_000;

/** A few words for each reason not to say that all is well; empty: it is. */
export function whyUnwell(facts: Wellness): string[] {
  const { watchAgesMs, evaluationAgeMs } = facts;
  const silent = Object.entries(watchAgesMs).filter(([, ageMs]) => ageMs > maxWatchAgeMs);
  const isEvaluationLate =
    evaluationAgeMs === undefined || evaluationAgeMs > lateIntervals * facts.evaluationIntervalMs;
  return [
    ...silent.map(([kind]) => `nothing was heard of ${kind}`),
    ...(isEvaluationLate ? ['nothing is evaluated'] : []),
    ...(facts.isDatabaseAway ? ['the database is away'] : []),
    ...(facts.outboxAgeMs > maxOutboxAgeMs ? ['messages are not sent'] : []),
  ];
}
