import type { Verdict } from '@cronjob-monitor/shared/contract';

/** What the first page shows of its incidents. */
export interface Incidents<Row> {
  readonly open: readonly Row[];
  readonly failing: readonly Row[];
}

const openPx = 104;
const foldedPx = 54;
/** Line over those that fail, two lines that count the rest, and the air under the card. */
const besidePx = 26 + 2 * 28 + 16;
const fewest = 4;
/** From this width on the page stands in two columns, and in the window as a whole. */
const columnsFromPx = 1200;

/** As many rows as fit into a window without scrolling; all of them where the page is one column. Those that fail get what the others leave, and one row at least. */
export function fitting<Row extends { readonly verdict: Pick<Verdict, 'state'> }>(
  { open, failing }: Incidents<Row>,
  { windowPx, widthPx, topPx }: { readonly windowPx: number; readonly widthPx: number; readonly topPx: number },
): Incidents<Row> {
  if (widthPx < columnsFromPx || windowPx === 0) return { open, failing };
  let leftPx = windowPx - topPx - besidePx;
  const kept = (rows: readonly Row[], reservedPx: number, least: number): readonly Row[] => {
    const end = rows.findIndex(({ verdict }, index) => {
      const rowPx = verdict.state === 'critical' ? openPx : foldedPx;
      if (index >= least && leftPx - reservedPx < rowPx) return true;
      leftPx -= rowPx;
      return false;
    });
    return end === -1 ? rows : rows.slice(0, end);
  };
  const shown = kept(open, failing.length > 0 ? foldedPx : 0, fewest);
  return { open: shown, failing: kept(failing, 0, 1) };
}
