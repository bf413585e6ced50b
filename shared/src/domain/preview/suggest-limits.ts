import type { SuggestedLimit } from '../../contract/index.ts';
import { refText } from '../../contract/wording.ts';
import { counted, spanInWords } from '../delivery/wording.ts';
import { goText } from '../detect/lint-cron-job.ts';
import { nearestRank } from '../stats/percentile.ts';
import type { PreviewedCronJob } from './history.ts';
import { judgedValues } from './judged-values.ts';
import type { PreviewRange } from './preview.ts';

/** Fewer say nothing of what is usual. */
const fewestRuns = 3;
/** So much room a limit leaves above what is usual. */
const room = 1.5;
const minute = 60;

interface Usual {
  readonly name: string;
  readonly runs: number;
  readonly seconds: number;
}

type Path = Parameters<typeof valuesOf>[1];

/**
 * Limits that the runs of these CronJobs would keep, with a reason for each: half as much again as the 99th percentile of the CronJob that needs
 * most, of those with 3 values or more. One time without success cannot hold for CronJobs whose rhythms differ by more than twice: the schedule
 * decides then, and the limit is what comes on top of it. A limit that nothing speaks for is absent. Durations are Go text.
 */
export function suggestLimits(
  cronJobs: readonly PreviewedCronJob[],
  range: Pick<PreviewRange, 'fromAt' | 'toAt'>,
): Omit<SuggestedLimit, 'now'>[] {
  const usual = (path: Path, p: number): Usual[] =>
    cronJobs.flatMap((of) => {
      const values = valuesOf(of, path, range);
      const seconds = nearestRank(values, p);
      const name = refText(of);
      return seconds === undefined || values.length < fewestRuns ? [] : [{ name, runs: values.length, seconds }];
    });
  const longest = most(usual('spec.sla.maxDuration', 0.99));
  const latest = most(usual('spec.missedSchedule.grace', 0.99));
  const rhythms = usual('spec.deadManSwitch.maxTimeSinceLastSuccess', 0.5);
  const slowest = most(rhythms);
  const found: Omit<SuggestedLimit, 'now'>[] = [];
  if (longest) {
    const why = `p99 of ${counted(longest.runs, 'run')} of ${longest.name} is ${spanInWords(longest.seconds)}`;
    found.push(limit('spec.sla.maxDuration', longest.seconds * room, why, longest.runs));
  }
  if (latest && latest.seconds > minute) {
    const why = `${latest.name} starts up to ${spanInWords(latest.seconds)} late (p99 of ${counted(latest.runs, 'run')})`;
    found.push(limit('spec.missedSchedule.grace', latest.seconds * room, why, latest.runs));
  }
  if (slowest) {
    const slack = Math.max(10 * minute, (longest?.seconds ?? 0) * room);
    const quickest = Math.min(...rhythms.map(({ seconds }) => seconds));
    const isOne = slowest.seconds <= 2 * quickest;
    const from = isOne ? slowest.seconds : 0;
    const path = isOne ? 'spec.deadManSwitch.maxTimeSinceLastSuccess' : 'spec.deadManSwitch.autoFromSchedule.buffer';
    const why = isOne
      ? `${slowest.name} succeeds every ${spanInWords(slowest.seconds)}, and its run takes its time`
      : `successes come every ${spanInWords(quickest)} to ${spanInWords(slowest.seconds)}: one limit cannot hold for all`;
    found.push(limit(path, from + slack, why, slowest.runs));
  }
  return found;
}

function valuesOf(
  of: PreviewedCronJob,
  path: ReturnType<typeof judgedValues>[number]['path'],
  range: Pick<PreviewRange, 'fromAt' | 'toAt'>,
): readonly number[] {
  return judgedValues([of], range, 1).find((one) => one.path === path)?.values ?? [];
}

function most(usual: readonly Usual[]): Usual | undefined {
  return usual.toSorted((a, b) => b.seconds - a.seconds)[0];
}

function limit(path: SuggestedLimit['path'], seconds: number, why: string, runs: number): Omit<SuggestedLimit, 'now'> {
  return { path, value: goText(seconds * 1_000), why, runs };
}
