import type { ChannelAnswer, ChannelHour } from '@cronjob-monitor/shared/contract';
import type { Mark } from '../kit/icon/shapes.ts';
import { plural } from './figures.ts';
import { shortTimeText } from './time.ts';
import type { Viewer } from './viewer.ts';

/** What a receiver said to one attempt. */
export const answerMarks: Readonly<Record<ChannelAnswer['verdict'], Mark>> = {
  accepted: { word: 'Accepted', shape: 'check', tone: 'ok' },
  failed: { word: 'Failed', shape: 'cross', tone: 'crit' },
};

/** `From 14:00: 2 accepted, 1 failed`. */
export function hourText(hour: ChannelHour | undefined, { timeZone, nowMs }: Viewer): string {
  if (!hour) return '';
  const { from, sent, failed } = hour;
  const parts = [
    sent > 0 ? `${plural(sent, 'message')} accepted` : '',
    failed > 0 ? `${plural(failed, 'attempt')} failed` : '',
  ];
  const said = parts.filter((part) => part !== '').join(', ');
  return `From ${shortTimeText(from, timeZone, nowMs)}, an hour: ${said === '' ? 'nothing' : said}`;
}
