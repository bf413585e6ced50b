import type { ExecutionDetail } from '@cronjob-monitor/shared/contract';
import { msOf } from '../../format/time.ts';

/** An attempt on the axis, in shares of its width. */
interface AttemptSpan {
  readonly label: string;
  readonly from: number;
  readonly to: number;
  readonly isFailed: boolean;
}

/** An event on the axis. */
interface EventMark {
  readonly at: number;
  readonly isWarning: boolean;
  readonly says: string;
}

interface Axis {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly attempts: readonly AttemptSpan[];
  readonly events: readonly EventMark[];
  /** Where the axis is labelled. */
  readonly ticks: readonly { readonly ms: number; readonly at: number }[];
}

/** Attempts and events of a run on one axis of time; undefined when no instant is known. */
export function axisOf(
  run: Pick<ExecutionDetail, 'pods' | 'events' | 'createdAt' | 'completionTime'>,
): Axis | undefined {
  const pods = run.pods.filter(({ startTime }) => startTime !== null);
  const events = (run.events ?? []).filter(({ time }) => time !== null);
  const instants = [
    msOf(run.createdAt),
    ...(run.completionTime === null ? [] : [msOf(run.completionTime)]),
    ...pods.flatMap(({ startTime, endTime }) => [startTime, endTime].filter((at) => at !== null).map(msOf)),
    ...events.map(({ time }) => msOf(time ?? run.createdAt)),
  ];
  const fromMs = Math.min(...instants);
  const lengthMs = Math.max(1_000, Math.max(...instants) - fromMs);
  const untilMs = fromMs + lengthMs;
  if (pods.length === 0 && events.length === 0) return undefined;
  const share = (ms: number): number => (ms - fromMs) / lengthMs;
  return {
    fromMs,
    untilMs,
    attempts: pods.map(({ startTime, endTime, phase, index }, place) => ({
      label: index === null ? `Attempt ${run.pods.length - pods.length + place + 1}` : `Index ${index}`,
      from: share(msOf(startTime ?? run.createdAt)),
      to: endTime === null ? 1 : share(msOf(endTime)),
      isFailed: phase === 'Failed',
    })),
    events: events.map(({ time, type, reason, message }) => ({
      at: share(msOf(time ?? run.createdAt)),
      isWarning: type === 'Warning',
      says: `${reason}: ${message}`,
    })),
    ticks: ticksOf(fromMs, untilMs).map((ms) => ({ ms, at: share(ms) })),
  };
}

const stepsMs = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 21_600, 43_200, 86_400].map(
  (s) => s * 1_000,
);

/** Round instants, six at most. */
export function ticksOf(fromMs: number, untilMs: number): number[] {
  const step = stepsMs.find((size) => (untilMs - fromMs) / size <= 6) ?? untilMs - fromMs;
  const first = Math.ceil(fromMs / step) * step;
  return Array.from(
    { length: Math.max(0, Math.floor((untilMs - first) / step) + 1) },
    (_, index) => first + index * step,
  );
}
