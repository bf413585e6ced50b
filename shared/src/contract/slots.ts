import {
  bool,
  extended,
  instant,
  named,
  nullable,
  number,
  object,
  type Of,
  seconds,
  text,
  words,
} from './shape/shape.ts';
import { SlotCounts } from './stats.ts';
import { executionStatuses, slotCauses, slotOutcomes } from './vocabulary.ts';
import { pageFields } from './wire.ts';

/** One expected run. */
export const Slot = object('Slot', {
  scheduledFor: instant,
  /** Null: due, not judged yet. */
  outcome: nullable(words(slotOutcomes)),
  cause: nullable(words(slotCauses)),
  message: nullable(text),
  inMaintenance: bool,
  /** From here on null without a Job. */
  jobName: nullable(text),
  /** Null too while the Job runs. */
  executionStatus: nullable(words(executionStatuses)),
  startedAt: nullable(instant),
  durationSeconds: nullable(seconds),
  /** Job creation - scheduledFor. */
  delaySeconds: nullable(number),
});
export type Slot = Of<typeof Slot>;

/** GET /api/v1/cronjobs/{namespace}/{name}/slots */
export const SlotPage = named(
  'SlotPage',
  extended(pageFields(Slot), {
    /** Runs due before it are judged. */
    evaluatedThrough: nullable(instant),
    /** All outcomes of the window, whatever the filter `outcome`. */
    summary: SlotCounts,
  }),
);
export type SlotPage = Of<typeof SlotPage>;

export const slotSortKeys = ['scheduledFor'] as const;
