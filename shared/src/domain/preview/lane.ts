import type { PreviewLane } from '../../contract/index.ts';
import { counted } from '../delivery/wording.ts';
import type { Instant } from '../instant.ts';
import type { PreviewedCronJob } from './history.ts';
import type { PreviewRange } from './preview.ts';

/** So many cells the range of a lane has: six hours each over 30 days. */
const cellsOfLane = 120;

/** The runs of one CronJob as a lane: what ended well, failed or was missed in each cell of the range; a cell without any is absent. */
export function laneOf(
  cronJob: PreviewedCronJob,
  { fromAt, toAt }: Pick<PreviewRange, 'fromAt' | 'toAt'>,
): Pick<PreviewLane, 'cells' | 'words'> & { readonly recordedFromAt: Instant | undefined } {
  const cellMs = (toAt - fromAt) / cellsOfLane;
  const cells = new Map<number, { ok: number; failed: number; missed: number }>();
  const total = { ok: 0, failed: 0, missed: 0 };
  const note = (at: Instant, kind: keyof typeof total): void => {
    if (at < fromAt || at >= toAt) return;
    const index = Math.floor((at - fromAt) / cellMs);
    const cell = cells.get(index) ?? { ok: 0, failed: 0, missed: 0 };
    cell[kind]++;
    total[kind]++;
    cells.set(index, cell);
  };
  for (const { status, finishedAt } of cronJob.runs) {
    if (finishedAt === undefined || (status !== 'success' && status !== 'failed')) continue;
    note(finishedAt, status === 'success' ? 'ok' : 'failed');
  }
  for (const { outcome, at } of cronJob.slots) if (outcome === 'missed') note(at, 'missed');
  const known = [...cronJob.runs.map(({ createdAt }) => createdAt), ...cronJob.slots.map(({ at }) => at)];
  // Not as arguments of one call: there may be more than a call takes.
  const recordedFromAt = known.reduce<Instant | undefined>((a, b) => (a === undefined || b < a ? b : a), undefined);
  return {
    cells: [...cells].sort(([a], [b]) => a - b).map(([cell, counts]) => ({ cell, ...counts })),
    words: laneWords(total),
    recordedFromAt,
  };
}

/** `21 runs, 2 failed` */
function laneWords({ ok, failed, missed }: { ok: number; failed: number; missed: number }): string {
  const runs = ok + failed;
  const parts = [
    ...(runs > 0 && failed === 0 ? [runs === 1 ? 'succeeded' : 'all succeeded'] : []),
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(missed > 0 ? [`${missed} missed`] : []),
  ];
  return [runs === 0 ? 'no run' : counted(runs, 'run'), ...parts].join(', ');
}
