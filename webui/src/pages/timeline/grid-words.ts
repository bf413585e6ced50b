import type { Grid, GridLane } from '@cronjob-monitor/shared/contract';
import { plural } from '../../format/figures.ts';
import { runMark } from '../../format/runs.ts';

/** What the past says, as the title: `10 runs never came, 4 failed, of 22 CronJobs shown`. */
export function gridTitle({ items }: Grid): string {
  const cells = items.flatMap((lane) => lane.cells);
  const missed = cells.filter(({ outcome }) => outcome === 'missed').length;
  const failed = cells.filter(({ status }) => status === 'failed').length;
  const parts = [
    missed > 0 ? `${plural(missed, 'run')} never came` : undefined,
    failed > 0 ? `${failed} failed` : undefined,
  ].filter((part) => part !== undefined);
  if (parts.length === 0) return `Every run came, and none failed, of ${plural(items.length, 'CronJob')} shown`;
  return `${parts.join(', ')}, of ${plural(items.length, 'CronJob')} shown`;
}

/** A lane, said aloud: `prod/etl: 96 runs: 94 succeeded, 2 failed`. */
export function gridLaneText({ namespace, name, cells, omitted }: GridLane): string {
  const counts = Map.groupBy(cells, (cell) => runMark(cell).word.toLowerCase());
  const told = [...counts].map(([word, of]) => `${of.length} ${word}`).join(', ');
  const older = omitted > 0 ? `; ${omitted} older ones are left out` : '';
  return `${namespace}/${name}: ${cells.length === 0 ? 'no run' : told}${older}`;
}
