import { dailyFigures, nearestRank, type DurationPoint } from '../charts/duration/daily.ts';
import { durationText, limitText } from './duration.ts';
import { plural } from './figures.ts';

/** A change of this share is said. */
const notable = 0.2;

/** What the durations of a range say, as the title of their chart: `p95 rose from 12 min to 18 min in 20 days (limit 25 min)`. */
export function durationTitle(points: readonly DurationPoint[], days: number, limit: string | null): string {
  const limited = limit === null ? '' : ` (limit ${limitText(limit)})`;
  const counted = points.filter(({ isFailed, counts }) => !isFailed && counts);
  if (points.length === 0) return `No run ended in ${plural(days, 'day')}`;
  if (counted.length === 0) return `None of ${plural(points.length, 'run')} succeeded in ${plural(days, 'day')}`;
  const daily = dailyFigures(points);
  // Without a day of enough runs for a percentile the runs speak for themselves.
  const values = daily.length > 0 ? daily.map(({ p95 }) => p95) : counted.map(({ seconds }) => seconds);
  const third = Math.floor(values.length / 3);
  if (third > 0) {
    const before = middle(values.slice(0, third));
    const after = middle(values.slice(-third));
    const change = before === 0 ? 0 : (after - before) / before;
    if (Math.abs(change) >= notable && Math.abs(after - before) >= 1) {
      const verb = change > 0 ? 'rose' : 'fell';
      return `${daily.length > 0 ? 'p95' : 'Runs'} ${verb} from ${durationText(before)} to ${durationText(after)} in ${plural(days, 'day')}${limited}`;
    }
  }
  const sorted = counted.map(({ seconds }) => seconds).sort((a, b) => a - b);
  if (daily.length > 0) return `p95 is ${durationText(nearestRank(sorted, 95))} over ${plural(days, 'day')}${limited}`;
  const [least, most] = [durationText(sorted[0] ?? 0), durationText(sorted.at(-1) ?? 0)];
  const took = least === most ? most : `${least} to ${most}`;
  return `${plural(counted.length, 'run')} took ${took} in ${plural(days, 'day')}${limited}`;
}

function middle(values: readonly number[]): number {
  return nearestRank(
    [...values].sort((a, b) => a - b),
    50,
  );
}
