import type { CoverageReason, Risk } from '../../contract/index.ts';
import { riskLevels, type CoverageState, type RiskLevel } from '../../contract/vocabulary.ts';
import { durationInWords } from '../../contract/wording.ts';
import type { Instant } from '../instant.ts';
import { instantIn, limitInWords } from '../delivery/wording.ts';

/** What is known of a CronJob before its next runs. */
export interface ForecastFacts {
  /** Runs due by the schedule, rising; also those of a suspended CronJob. */
  readonly slots: readonly Instant[];
  /** The first run after those. */
  readonly afterAt: Instant | undefined;
  readonly suspended: boolean;
  /** Why its schedule expects no run, in words. */
  readonly problem: string | undefined;
  /** The newest scheduled runs, as far as none has succeeded since. */
  readonly failures: FailuresInRow | undefined;
  /** What a Job of it waits for, in words: `Image shop:4.12 cannot be pulled`. */
  readonly waitsFor: string | undefined;
  /** Scheduled runs in the window of its success rate. */
  readonly rate: { readonly failed: number; readonly runs: number };
  readonly durations: { readonly p50Ms: number; readonly p95Ms: number } | undefined;
  readonly maxDurationMs: number | undefined;
  /** Times of day by which runs have to be done, as the first instant after each run. */
  readonly finishBy: readonly { readonly startAt: Instant; readonly doneAt: Instant }[];
  /** `concurrencyPolicy: Replace`, and the newest run was ended by the next one. */
  readonly isReplaced: boolean;
  /** `concurrencyPolicy: Forbid`. */
  readonly forbids: boolean;
  /** `startingDeadlineSeconds`; undefined: a late run starts however late it is. */
  readonly startWithinMs: number | undefined;
  /** What a change of the clocks does to its runs, in words. */
  readonly clockChange: string | undefined;
  readonly heard: Heard;
}

export interface FailuresInRow {
  /** How many of the newest ended in the same way, the newest among them. */
  readonly alike: number;
  /** What ended the newest, in words; empty when nothing tells. */
  readonly cause: string;
  /** Nothing of it could start, for what `cause` names. */
  readonly couldNotStart: boolean;
  /** Its job template was written anew since the newest was created. */
  readonly changedSince: boolean;
}

/** Who would hear of a failed run. */
export interface Heard {
  readonly state: CoverageState;
  readonly reason: CoverageReason | undefined;
  readonly channels: readonly string[];
}

/** From so many failures in a row on they are taken for a rule. */
const repeatedFrom = 2;
/** A rate of fewer runs is chance. */
const fewestRuns = 20;
const likelyFailures = 5;
const possibleFailures = 1;

type Rule = (facts: ForecastFacts) => Risk | undefined;

/** In the order in which they are told. */
const rules: readonly Rule[] = [repeats, cannot, rate, limit, overlap, lint, deaf];

/**
 * What may go wrong with the next runs of a CronJob, likely before possible. It decides from what is known alone: the newest runs, the share
 * that fails, how long runs take, and the schedule.
 */
export function risksOf(facts: ForecastFacts): Risk[] {
  if (facts.slots.length === 0 && facts.problem === undefined && facts.clockChange === undefined) return [];
  const found = rules.flatMap((rule) => rule(facts) ?? []);
  // Where all of its runs are known to fail or not to start, the share that failed until now says something else.
  const isCertain = found.some(({ code, level }) => level === 'likely' && (code === 'repeats' || code === 'cannot'));
  return found
    .filter(({ code }) => code !== 'rate' || !isCertain)
    .toSorted((a, b) => riskLevels.indexOf(a.level) - riskLevels.indexOf(b.level));
}

function repeats({ failures, slots, suspended }: ForecastFacts): Risk | undefined {
  if (!failures || failures.couldNotStart || failures.alike < repeatedFrom || suspended || slots.length === 0)
    return undefined;
  const { alike, cause, changedSince } = failures;
  const how = cause === '' ? '' : `: ${cause}`;
  return {
    code: 'repeats',
    level: changedSince ? 'possible' : 'likely',
    words: `Failed the last ${alike} runs${how}; ${changedSince ? 'its job template was changed since' : 'nothing changed since'}`,
  };
}

function cannot({ problem, suspended, waitsFor, failures, slots }: ForecastFacts): Risk | undefined {
  if (problem !== undefined) return { code: 'cannot', level: 'likely', words: problem };
  const count = slots.length;
  if (count === 0) return undefined;
  const its = count === 1 ? 'its run' : `${count} runs`;
  if (suspended)
    return { code: 'cannot', level: 'possible', words: `Suspended: ${its} ${count === 1 ? 'does' : 'do'} not start` };
  if (waitsFor !== undefined) return { code: 'cannot', level: 'likely', words: `${waitsFor}: ${its} cannot start` };
  if (!failures?.couldNotStart) return undefined;
  const { cause, changedSince } = failures;
  return {
    code: 'cannot',
    level: changedSince ? 'possible' : 'likely',
    words: changedSince
      ? `${cause} at the last run; its job template was changed since`
      : `${cause}: ${its} cannot start`,
  };
}

function rate({ rate: { failed, runs }, slots, suspended }: ForecastFacts): Risk | undefined {
  if (runs < fewestRuns || suspended) return undefined;
  const expected = (slots.length * failed) / runs;
  const level = levelOf(expected >= likelyFailures, expected >= possibleFailures);
  if (!level) return undefined;
  const share =
    2 * failed > runs
      ? `${Math.min(99, Math.round((100 * failed) / runs))} % of its runs fail`
      : `About 1 of ${Math.round(runs / failed)} runs fails`;
  const all = failed === runs ? 'All of its runs fail' : share;
  return { code: 'rate', level, words: `${all}: expect ${Math.round(expected)} of ${slots.length}` };
}

function limit({ durations, maxDurationMs, finishBy, slots, suspended }: ForecastFacts): Risk | undefined {
  if (!durations || suspended || slots.length === 0) return undefined;
  const { p50Ms, p95Ms } = durations;
  const takes = (level: RiskLevel): string =>
    level === 'likely'
      ? `Takes ${durationInWords(p50Ms / 1_000)}`
      : `1 of 20 runs takes ${durationInWords(p95Ms / 1_000)} or longer`;
  if (maxDurationMs !== undefined) {
    const level = levelOf(p50Ms > maxDurationMs, p95Ms > maxDurationMs);
    const allowed = `at most ${limitInWords(maxDurationMs / 1_000)} allowed`;
    if (level) return { code: 'limit', level, words: `${takes(level)}, ${allowed}` };
  }
  const late = (tookMs: number): Instant | undefined =>
    finishBy.find(({ startAt, doneAt }) => startAt + tookMs > doneAt)?.doneAt;
  const doneAt = late(p50Ms) ?? late(p95Ms);
  const level = levelOf(late(p50Ms) !== undefined, doneAt !== undefined);
  if (!level || doneAt === undefined) return undefined;
  return { code: 'limit', level, words: `${takes(level)}, to be done by ${instantIn('at', doneAt)}` };
}

function overlap({ forbids, isReplaced, durations, suspended, ...facts }: ForecastFacts): Risk | undefined {
  if (isReplaced && !suspended && facts.slots.length > 0)
    return { code: 'overlap', level: 'likely', words: 'The next run ended the last one before it was done (Replace)' };
  if (!forbids || !durations || suspended) return undefined;
  const usual = startsAt(durations.p50Ms, facts);
  if (usual.late + usual.skipped > 0) {
    const runs = `Runs of ${durationInWords(durations.p50Ms / 1_000)} cover the next start`;
    const words = `${runs}: ${lateWords(usual)}; start them less often or make them shorter`;
    return { code: 'overlap', level: 'likely', words };
  }
  const seldom = startsAt(durations.p95Ms, facts);
  if (seldom.late + seldom.skipped === 0) return undefined;
  const words = `1 of 20 runs takes ${durationInWords(durations.p95Ms / 1_000)} or longer and covers the next start`;
  return { code: 'overlap', level: 'possible', words };
}

function lateWords({ late, skipped }: { readonly late: number; readonly skipped: number }): string {
  const parts = [late > 0 ? `${late} late` : '', skipped > 0 ? `${skipped} skipped` : ''];
  return parts.filter((part) => part !== '').join(', ');
}

/**
 * How many starts are late and how many are skipped when each run takes as long as that: as with `Forbid`, where the newest start that a run
 * covers begins when that run ends, if its deadline has not passed by then, and the ones before it do not come.
 */
function startsAt(
  tookMs: number,
  { slots, afterAt, startWithinMs = Infinity }: Pick<ForecastFacts, 'slots' | 'afterAt' | 'startWithinMs'>,
): { readonly late: number; readonly skipped: number } {
  const all = afterAt === undefined ? slots : [...slots, afterAt];
  let [late, skipped, endAt] = [0, 0, -Infinity];
  let waiting: Instant | undefined;
  const startWaiting = (): void => {
    if (waiting === undefined) return;
    if (endAt - waiting <= startWithinMs) {
      late++;
      endAt += tookMs;
    } else skipped++;
    waiting = undefined;
  };
  for (const at of all) {
    if (at >= endAt) startWaiting();
    if (at >= endAt) endAt = at + tookMs;
    else {
      if (waiting !== undefined) skipped++;
      waiting = at;
    }
  }
  startWaiting();
  return { late, skipped };
}

function lint({ clockChange }: ForecastFacts): Risk | undefined {
  return clockChange === undefined ? undefined : { code: 'lint', level: 'possible', words: clockChange };
}

/** A channel that is not proved is tried all the same. */
function deaf({ heard, slots, suspended }: ForecastFacts): Risk | undefined {
  if (isHeard(heard) || suspended || slots.length === 0) return undefined;
  return { code: 'deaf', level: 'possible', words: heardWords(heard) };
}

function isHeard({ state }: Heard): boolean {
  return state === 'reached' || state === 'unproved';
}

const reasons: Readonly<Record<CoverageReason, string>> = {
  noDrillAcknowledged: 'no drill of its channels was acknowledged',
  alertingDisabled: 'alerting is off in its monitor, or not set',
  noChannel: 'its monitor names no channel',
  severityNotRouted: 'no channel takes this severity',
  unknownChannel: 'its channels do not exist',
  channelNotAllowed: 'its channels do not admit its namespace',
  channelNotReady: 'its channel is not ready',
  channelHeld: 'its channel rests after failures',
  nothingAccepted: 'its channel has accepted nothing of late',
};

/** Who would hear of a failed run, in words. */
export function heardWords(heard: Heard): string {
  const { state, reason, channels } = heard;
  if (isHeard(heard)) return `${channels.join(', ')} ${channels.length === 1 ? 'hears' : 'hear'} it`;
  const why =
    state === 'unwatched'
      ? 'no monitor selects it'
      : state === 'off' || reason === undefined
        ? 'no monitor of it looks for failed runs'
        : reasons[reason];
  return `If it fails, no channel is told: ${why}`;
}

function levelOf(isLikely: boolean, isPossible: boolean): RiskLevel | undefined {
  return isLikely ? 'likely' : isPossible ? 'possible' : undefined;
}
