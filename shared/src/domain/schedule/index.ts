export { nthSlotAfter, parse, type Schedule } from './occurrences.ts';
export { ScheduleError, type ScheduleErrorCode } from './schedule-error.ts';
export { rhythmOf, type Rhythm, type RhythmProblem } from './rhythm.ts';
export { isZoneName } from './zone-names.ts';
export { findZoneFault } from './zone-fault.ts';
