import type { Slot } from '@cronjob-monitor/shared/contract';
import type { Instant } from '@cronjob-monitor/shared/domain';
import type { KnownSlot } from '@cronjob-monitor/shared/store';
import { orNull, toSeconds, toSecondsOrNull, toWireInstant, toWireInstantOrNull } from '../../wire-values.ts';

export function presentSlot(slot: KnownSlot): Slot {
  return {
    scheduledFor: toWireInstant(slot.at),
    outcome: slot.outcome,
    cause: orNull(slot.cause),
    message: orNull(slot.message),
    inMaintenance: slot.inMaintenance,
    jobName: orNull(slot.jobName),
    executionStatus: orNull(slot.status),
    startedAt: toWireInstantOrNull(slot.startedAt),
    durationSeconds: toSecondsOrNull(slot.durationMs),
    delaySeconds: slot.createdAt === undefined ? null : Math.max(0, toSeconds(slot.createdAt - slot.at)),
  };
}

/** An expected run that is due and not judged yet. */
export function presentDue(at: Instant): Slot {
  return {
    scheduledFor: toWireInstant(at),
    outcome: null,
    cause: null,
    message: null,
    inMaintenance: false,
    jobName: null,
    executionStatus: null,
    startedAt: null,
    durationSeconds: null,
    delaySeconds: null,
  };
}
