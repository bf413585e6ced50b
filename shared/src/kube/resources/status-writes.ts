import type { Instant } from '../../domain/index.ts';
import type { MonitorStatus } from './monitor-status.ts';

/** Figures alone are written so often at most, the time of evaluation alone less often. resources.md section 5. */
const figuresEveryMs = 30_000;
const heartbeatEveryMs = 5 * 60_000;

/**
 * When a monitor's new status is due to be written: at once when phase, conditions, alerts or the list of CronJobs differ, later when
 * only figures or the time of evaluation do. Undefined: it says the same. `current` is what the resource holds, as it came.
 */
export function statusDueAt(current: unknown, next: MonitorStatus, now: Instant): Instant | undefined {
  if (typeof current !== 'object' || current === null) return now;
  const stored = current as Readonly<Record<string, unknown>>;
  if (!isSame(withoutFigures(stored), withoutFigures(next))) return now;
  if (isSame({ ...stored, lastReconcileTime: '' }, { ...next, lastReconcileTime: '' })) {
    if (stored['lastReconcileTime'] === next.lastReconcileTime) return undefined;
    return laterOf(now, writtenAt(stored) + heartbeatEveryMs);
  }
  return laterOf(now, writtenAt(stored) + figuresEveryMs);
}

function writtenAt(stored: Readonly<Record<string, unknown>>): Instant {
  const at = Date.parse(String(stored['lastReconcileTime']));
  return Number.isNaN(at) ? 0 : at;
}

function laterOf(a: Instant, b: Instant): Instant {
  return Math.max(a, b);
}

/** What people must see at once: all but times, metrics of runs and the writer: two that write the same must not chase each other. */
function withoutFigures(status: object): unknown {
  const { lastReconcileTime: _time, writtenBy: _by, cronJobs, ...rest } = status as Readonly<Record<string, unknown>>;
  const shown = Array.isArray(cronJobs) ? (cronJobs as readonly unknown[]) : [];
  return {
    ...rest,
    cronJobs: shown.map((cronJob) => {
      if (typeof cronJob !== 'object' || cronJob === null) return cronJob;
      const { namespace, name, status: health, suspended, activeAlerts } = cronJob as Readonly<Record<string, unknown>>;
      return { namespace, name, health, suspended, activeAlerts };
    }),
  };
}

/** Equal as JSON, whatever the order of keys: the API server keeps its own. */
export function isSame(a: unknown, b: unknown): boolean {
  if (a === b || typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [ofA, ofB] = [a as Readonly<Record<string, unknown>>, b as Readonly<Record<string, unknown>>];
  for (const key in ofA) if (!isSame(ofA[key], ofB[key])) return false;
  for (const key in ofB) if (ofB[key] !== undefined && ofA[key] === undefined) return false;
  return true;
}
