import type { Instant } from '../instant.ts';
import { dailyInstants } from '../schedule/daily-instants.ts';

/** What is forecast at its begin and judged at its end: from 18:00 to 06:00 of a zone. */
export interface Night {
  readonly fromAt: Instant;
  readonly untilAt: Instant;
}

/** The night that began last, over or not. */
export function lastNight(zone: string, now: Instant): Night {
  return nightFrom(zone, dailyInstants('18:00', zone, now).lastAt);
}

/** The night that began at an instant: at 18:00, unless the zone was another one then. */
export function nightFrom(zone: string, fromAt: Instant): Night {
  return { fromAt, untilAt: dailyInstants('06:00', zone, fromAt).nextAt };
}
