import type { AlertDetail, Delivery, ToldChannel } from '@cronjob-monitor/shared/contract';
import type { Mark } from '../kit/icon/shapes.ts';
import { reasonText } from './alert-reasons.ts';
import { ordinal } from './figures.ts';
import { deliveryMarks } from './marks.ts';
import { shortTimeText } from './time.ts';
import type { Viewer } from './viewer.ts';

/** What one channel heard of an alert. */
interface ToldLine {
  readonly channel: string;
  readonly mark: Mark;
  readonly isTold: boolean;
  /** The delivery that can be sent again: parked, or given up. */
  readonly redrive: Pick<Delivery, 'id' | 'state'> | undefined;
}

const toldStates: readonly Delivery['state'][] = ['sent', 'collapsed', 'digested'];

/** A line per channel: those that were asked, then those that were not and why. */
export function toldLines(alert: Pick<AlertDetail, 'told' | 'timeline'>, viewer: Viewer): ToldLine[] {
  const asked = alert.told.channels.map((channel) => askedLine(channel, viewer));
  const names = new Set(asked.map(({ channel }) => channel));
  const notAsked = new Map(
    alert.timeline.flatMap(({ kind, channel, reason }) =>
      kind === 'notRouted' && channel !== null && !names.has(channel) ? [[channel, reason] as const] : [],
    ),
  );
  return [
    ...asked,
    ...[...notAsked].map(([channel, reason]) => ({
      channel,
      mark: {
        word: `Not asked: ${reasonText(reason) ?? 'no rule sends it there'}`,
        shape: 'dash',
        tone: 'off',
      } as const,
      isTold: false,
      redrive: undefined,
    })),
  ];
}

function askedLine(told: ToldChannel, viewer: Viewer): ToldLine {
  const { channel, deliveryId, state } = told;
  const canGoAgain = state === 'parked' || state === 'dead';
  return {
    channel,
    mark: { ...deliveryMarks[state], word: `${deliveryMarks[state].word}${detailOf(told, viewer)}${mutedText(told)}` },
    isTold: toldStates.includes(state),
    redrive: canGoAgain ? { id: deliveryId, state } : undefined,
  };
}

/** What the receiver itself does with it. */
function mutedText({ mutedThere }: ToldChannel): string {
  return mutedThere === null ? '' : `: ${mutedThere}`;
}

function detailOf({ state, at, attempts, nextAttemptAt, category, httpStatus }: ToldChannel, viewer: Viewer): string {
  const time = (instant: string): string => shortTimeText(instant, viewer.timeZone, viewer.nowMs);
  const answer = httpStatus === null ? '' : ` (${httpStatus})`;
  const cause = httpStatus === null ? reasonText(category) : `it answered ${httpStatus}`;
  switch (state) {
    case 'sent':
      return ` ${time(at)}${attempts > 1 ? `, ${ordinal(attempts)} try` : ''}${answer}`;
    case 'parked':
    case 'dead':
      return cause === undefined ? '' : `: ${cause}`;
    case 'ready':
    case 'claimed':
      return nextAttemptAt !== null && attempts > 0 ? `, next try ${time(nextAttemptAt)}${answer}` : '';
    default:
      return ` ${time(at)}`;
  }
}
