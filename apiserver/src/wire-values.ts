import type { Percent, WireDate, WireInstant } from '@cronjob-monitor/shared/contract';
import { dayMs, type Instant } from '@cronjob-monitor/shared/domain';

/** UTC with milliseconds. */
export function toWireInstant(at: Instant): WireInstant {
  return new Date(at).toISOString();
}

export function toWireInstantOrNull(at: Instant | undefined): WireInstant | null {
  return at === undefined ? null : toWireInstant(at);
}

/** A UTC day, counted from 1970. */
export function toWireDate(day: number): WireDate {
  return new Date(day * dayMs).toISOString().slice(0, 10);
}

/** Seconds with at most three decimals. */
export function toSeconds(ms: number): number {
  return Math.round(ms) / 1000;
}

export function toSecondsOrNull(ms: number | undefined): number | null {
  return ms === undefined ? null : toSeconds(ms);
}

/**
 * Percent cut to two decimals, as sentences cut it to one; null when there is nothing to count. 100 only when nothing failed, 0 only when
 * nothing succeeded, and a target only where it is met.
 */
export function toPercent(part: number, whole: number): Percent | null {
  if (whole === 0) return null;
  if (part === whole) return 100;
  if (part === 0) return 0;
  return Math.max(0.01, Math.floor((part * 10_000) / whole) / 100);
}

export function orNull<T>(value: T | undefined): T | null {
  return value ?? null;
}
