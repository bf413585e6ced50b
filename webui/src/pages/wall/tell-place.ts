import type { Wall } from '@cronjob-monitor/shared/contract';
import { msOf } from '../../format/time.ts';
import { verdictText } from '../../format/verdict.ts';
import type { Viewer } from '../../format/viewer.ts';
import { cellText, columnText } from '../../format/wall.ts';
import { addressOf } from '../../router.svelte.ts';
import { cellsIn, foldWord, heldAt, type WallLine } from './lines.ts';

/** What the readout says of a place, and where a click on it leads. */
interface ToldPlace {
  readonly name: string;
  /** Empty: it is a row or a group as a whole. */
  readonly when: string;
  readonly words: string;
  /** Empty: it leads to no page. */
  readonly href: string;
  readonly opens: string;
}

/** What stands at a place: of a row or a group as a whole where the column is -1. */
// oxlint-disable-next-line max-params -- a place of the wall, for its reader
export function tellPlace(wall: Wall, of: WallLine, column: number, viewer: Viewer): ToldPlace {
  const at = wall.columns[column] ?? wall.from;
  const held = column < 0 ? undefined : heldAt(of, msOf(at), wall.stepSeconds)?.words;
  const cell = cellsIn(of).find(({ c }) => c === column);
  const when = column < 0 ? '' : columnText(wall, column, viewer);
  if (of.kind === 'group') {
    const words = column < 0 || !of.isFolded ? foldWord(of) : cellText(cell, { isRecorded: true, held }, viewer);
    return { name: of.group, when, words, href: '', opens: '' };
  }
  const { cronjob, verdict, figuresFrom } = of.row;
  const name = `${cronjob.namespace}/${cronjob.name}`;
  const page = { href: addressOf('cronjob', { ...cronjob }), opens: 'Open the CronJob' };
  if (column < 0) return { name, when, words: verdictText(verdict, viewer), ...page };
  const isRecorded = msOf(at) + wall.stepSeconds * 1000 > msOf(figuresFrom);
  const run =
    cell?.jobName == null
      ? page
      : { href: addressOf('run', { ...cronjob, jobName: cell.jobName }), opens: 'Open the run' };
  return { name, when, words: cellText(cell, { isRecorded, held }, viewer), ...run };
}
