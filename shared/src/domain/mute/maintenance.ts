import type { Instant } from '../instant.ts';
import { parse } from '../schedule/occurrences.ts';

/** A recurring span announced by a monitor: [start, start + durationMs) of each start of its schedule. */
export interface MaintenanceWindow {
  readonly name: string;
  readonly schedule: string;
  readonly durationMs: number;
  readonly timeZone: string;
  readonly suppressAlerts: boolean;
  readonly excludeFromSla: boolean;
}

/** One occurrence of a window. */
interface WindowSpan {
  readonly name: string;
  readonly fromAt: Instant;
  /** Exclusive. */
  readonly toAt: Instant;
}

/**
 * The occurrence that covers `at`, the one that ends last when several do; undefined when none does. A window whose schedule or zone
 * cannot be evaluated never covers anything: that is a condition of the monitor.
 */
export function windowAt(windows: readonly MaintenanceWindow[], at: Instant): WindowSpan | undefined {
  return windows
    .map((window) => occurrenceAt(window, at))
    .filter((span) => span !== undefined)
    .reduce<WindowSpan | undefined>((last, span) => (last && last.toAt >= span.toAt ? last : span), undefined);
}

/** Occurrences that lie between two instants in part at least, rising, those of one window that touch as one; at most `most` of them. */
export function windowsBetween(
  windows: readonly MaintenanceWindow[],
  { from, until, most }: { readonly from: Instant; readonly until: Instant; readonly most: number },
): WindowSpan[] {
  const spans: WindowSpan[] = [];
  let at: Instant | undefined = from;
  // A turn finds none where no window is open yet, or where one has no length.
  for (let turns = 0; turns < most && at !== undefined && at < until; turns++) {
    const span = windowAt(windows, at);
    if (span) spans.push(span);
    // Another window may have begun meanwhile.
    at = span && windowAt(windows, span.toAt) ? span.toAt : firstStartAfter(windows, span?.toAt ?? at);
  }
  return spans;
}

/** Whether it is still open after a hundred occurrences that follow one another without a break, from its first start after an instant on. */
export function staysOpen(window: MaintenanceWindow, after: Instant): boolean {
  const start = firstStartAfter([window], after);
  return start !== undefined && occurrenceAt(window, endOf(window, start)) !== undefined;
}

function firstStartAfter(windows: readonly MaintenanceWindow[], after: Instant): Instant | undefined {
  const starts = windows.flatMap(({ schedule, timeZone }) => {
    try {
      return parse(schedule).next(after, timeZone) ?? [];
    } catch {
      return [];
    }
  });
  return starts.length === 0 ? undefined : Math.min(...starts);
}

function occurrenceAt(window: MaintenanceWindow, at: Instant): WindowSpan | undefined {
  // The last start at or before `at`: starts are whole seconds, and previous() is exclusive.
  const start = lastStartBefore(window, at + 1);
  if (start === undefined || at >= start + window.durationMs) return undefined;
  return { name: window.name, fromAt: start, toAt: endOf(window, start) };
}

/** Occurrences that touch or overlap follow one another without a break. */
function endOf(window: MaintenanceWindow, start: Instant): Instant {
  let end = start + window.durationMs;
  for (let turns = 0; turns < 100; turns++) {
    const next = lastStartBefore(window, end + 1);
    if (next === undefined || next + window.durationMs <= end) return end;
    end = next + window.durationMs;
  }
  return end;
}

function lastStartBefore(window: MaintenanceWindow, before: Instant): Instant | undefined {
  try {
    return parse(window.schedule).previous(before, window.timeZone, 0) ?? undefined;
  } catch {
    return undefined;
  }
}
