import { parse } from '../../domain/schedule/index.ts';
import { refine } from './collection.ts';
import { type Field, text } from './field.ts';
import { refuse } from './reading.ts';

/** When something starts: five fields of a CronJob's schedule that come at all. */
export function start(pattern?: { readonly source: string; readonly says: string }): Field<string> {
  return refine(text(1, 256, pattern), (schedule, path, reading) => {
    const problem = startProblem(schedule);
    return problem === undefined ? schedule : refuse(reading, path, problem, 'InvalidSchedule');
  });
}

/** Why a text is not the five fields of a schedule that comes at all; undefined: it is. */
function startProblem(schedule: string): string | undefined {
  try {
    const parsed = parse(schedule);
    if (parsed.kind === 'every') return 'must be five fields: @every has no time of day';
    if (parsed.zone !== null) return 'must not name a zone: use the field timezone';
    // A cron text has no year: what never comes after one instant never comes.
    return parsed.next(0, 'UTC') === null ? 'never comes' : undefined;
  } catch (error) {
    return error instanceof Error ? error.message : 'is no schedule';
  }
}
