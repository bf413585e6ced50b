import type { RouteStep, RouteStepKind } from '@cronjob-monitor/shared/contract';
import type { Mark } from '../kit/icon/shapes.ts';
import { clockText, dayText, minuteText } from './time.ts';
import type { Viewer } from './viewer.ts';

/** What a message comes past, as words. */
export const stepWords: Readonly<Record<RouteStepKind, string>> = {
  threshold: 'Threshold',
  delay: 'Delay',
  silence: 'Silence',
  window: 'Maintenance',
  inhibition: 'Other alerts',
  duplicate: 'Told before',
  route: 'Route',
  channel: 'Channel',
  rateLimit: 'Rate limit',
};

/** What a step does to the message, as the service says it. */
export const effectMarks: Readonly<Record<RouteStep['effect'], Mark>> = {
  pass: { word: 'Passes', shape: 'dot', tone: 'off' },
  wait: { word: 'Waits', shape: 'hourglass', tone: 'held' },
  stop: { word: 'Stops', shape: 'exclamation', tone: 'warn' },
};

const hourMs = 3_600_000;
const shownHours = 24;
export const asOfNow = 'now';

/** Instants that can be asked about: now, and each full hour of the next day in the zone of the view. */
export function hoursAhead({ nowMs, timeZone }: Viewer): { readonly value: string; readonly word: string }[] {
  const minutes = Number(clockText(nowMs, timeZone).slice(3, 5));
  const firstMs = nowMs - (nowMs % 60_000) + (60 - minutes) * 60_000;
  const hours = Array.from({ length: shownHours }, (_, index) => {
    const at = firstMs + index * hourMs;
    const isToday = dayText(at, timeZone) === dayText(nowMs, timeZone);
    const word = isToday ? clockText(at, timeZone).slice(0, 5) : minuteText(at, timeZone);
    return { value: new Date(at).toISOString(), word };
  });
  return [{ value: asOfNow, word: 'Now' }, ...hours];
}
