import type { Slot } from '@cronjob-monitor/shared/contract';
import { durationText } from './duration.ts';
import { msOf } from './time.ts';

/** What became of an expected run, as a sentence. `deadlineSeconds` is startingDeadlineSeconds, where it is known. */
export function expectedRunText(
  slot: Pick<Slot, 'outcome' | 'cause' | 'message' | 'delaySeconds'>,
  deadlineSeconds: number | null = null,
): string {
  const because = slot.message ? `: ${slot.message}` : '';
  switch (slot.outcome) {
    case 'matched':
    case 'late':
      return slot.delaySeconds === null ? 'Started' : `Started ${durationText(slot.delaySeconds)} after its time`;
    case 'missed':
      return `Did not start${missedCause(slot.cause)}${because}`;
    case 'skippedForbid':
      return `Skipped${because || ': the run before was still active'} (Forbid)`;
    case 'skippedDeadline': {
      const within = deadlineSeconds === null ? 'in time' : `within ${durationText(deadlineSeconds)}`;
      return `Could not start ${within} (startingDeadlineSeconds)`;
    }
    case 'suspended':
      return 'Suspended at its time';
    case 'unobserved':
      return slot.cause === 'monitorDown'
        ? 'Not seen: the service did not watch at its time'
        : 'It ran; its outcome could not be seen';
    case 'indeterminate':
      return 'Cannot be told: the schedule changed while the service did not watch';
    default:
      return 'Due, not judged yet';
  }
}

type Folded = Pick<Slot, 'scheduledFor' | 'outcome' | 'cause' | 'message' | 'delaySeconds' | 'inMaintenance'>;

/** Neighbours that came to nothing alike are one line from three on; both are newest first. */
export function foldExpected<Some extends Folded>(slots: readonly Some[]): Some[][] {
  const gap = (a: Folded, b: Folded): number => Math.abs(msOf(a.scheduledFor) - msOf(b.scheduledFor));
  const least = Math.min(...slots.slice(1).map((slot, index) => gap(slot, slots[index] ?? slot)));
  const groups: Some[][] = [];
  for (const slot of slots) {
    const group = groups.at(-1);
    const before = group?.at(-1);
    const isNext = before !== undefined && gap(slot, before) <= 1.5 * least && sayOf(slot) === sayOf(before);
    if (group && isNext) group.push(slot);
    else groups.push([slot]);
  }
  return groups.flatMap((group) => (group.length < 3 ? group.map((slot) => [slot]) : [group]));
}

const sayOf = (slot: Folded): string => `${slot.outcome} ${slot.inMaintenance} ${expectedRunText(slot)}`;

const missedCauses: Readonly<Record<NonNullable<Slot['cause']>, string>> = {
  previousRunning: ', though the run before had ended',
  deadlinePassed: ' within startingDeadlineSeconds',
  createRejected: ': its Job was rejected',
  controllerSilent: ': the CronJob controller was silent',
  specUncertain: '',
  monitorDown: '',
};

function missedCause(cause: Slot['cause']): string {
  return cause === null ? '' : missedCauses[cause];
}
