import { clockText, shortTimeText } from './time.ts';
import type { Viewer } from './viewer.ts';

/** When something that a person sets ends by itself. */
export const endChoices = ['1h', '4h', 'morning'] as const;
export type EndChoice = (typeof endChoices)[number];
export const endWords: Readonly<Record<EndChoice, string>> = { '1h': '1 h', '4h': '4 h', morning: '09:00' };

const hourMs = 3_600_000;
const minuteMs = 60_000;
const dayMs = 24 * hourMs;
const morningMinute = 9 * 60;

/** The instant of a choice, epoch milliseconds: some hours from now, or the next 09:00 of the view's zone. */
export function endAt(choice: EndChoice, viewer: Viewer): number {
  if (choice === '1h') return viewer.nowMs + hourMs;
  return choice === '4h' ? viewer.nowMs + 4 * hourMs : nextMorning(viewer);
}

export type SilenceChoice = EndChoice | 'success';

/** When a silence that is set at a row ends. */
export function silenceChoices({
  nowMs,
  timeZone,
}: Viewer): { readonly choice: SilenceChoice; readonly words: string }[] {
  const isToday = minuteOf(nowMs, timeZone) < morningMinute;
  return [
    { choice: '1h', words: 'for 1 h' },
    { choice: '4h', words: 'for 4 h' },
    { choice: 'morning', words: isToday ? 'until 09:00' : 'until tomorrow 09:00' },
    { choice: 'success', words: 'until it succeeds' },
  ];
}

/** The same as the API asks for it, and in words: `until 14:20`. */
export function silenceEnd(
  choice: SilenceChoice,
  viewer: Viewer,
): { readonly asked: { readonly endsAt: string } | { readonly untilSuccess: true }; readonly words: string } {
  if (choice === 'success') return { asked: { untilSuccess: true }, words: 'until it succeeds' };
  const endsAt = Math.ceil(endAt(choice, viewer) / minuteMs) * minuteMs;
  const words = `until ${shortTimeText(endsAt, viewer.timeZone, viewer.nowMs)}`;
  return { asked: { endsAt: new Date(endsAt).toISOString() }, words };
}

/** The next instant at which the clock of the zone shows 09:00, a day at most away even when the clocks change in between. */
function nextMorning({ nowMs, timeZone }: Viewer): number {
  const wholeMinute = Math.floor(nowMs / minuteMs) * minuteMs;
  const left = (morningMinute - minuteOf(wholeMinute, timeZone) + 24 * 60) % (24 * 60);
  const guess = wholeMinute + (left === 0 ? dayMs : left * minuteMs);
  // The clocks may change in between: what they then show is off by as much.
  const off = morningMinute - minuteOf(guess, timeZone);
  return guess + off * minuteMs;
}

function minuteOf(ms: number, timeZone: string): number {
  const [hour = '0', minute = '0'] = clockText(ms, timeZone).split(':');
  return Number(hour) * 60 + Number(minute);
}
