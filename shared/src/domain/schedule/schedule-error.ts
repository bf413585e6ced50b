/**
 * Why a schedule cannot be used: `syntax` (the text is no schedule), `zone` (its time zone is unknown) or `anchor` (the
 * last slot of an interval was asked without the instant it counts from).
 */
export type ScheduleErrorCode = 'syntax' | 'zone' | 'anchor';

/** Thrown by `parse` for what the CronJob controller rejects, and by a schedule asked for an unknown zone. */
export class ScheduleError extends Error {
  readonly code: ScheduleErrorCode;

  constructor(code: ScheduleErrorCode, message: string) {
    super(message);
    this.name = 'ScheduleError';
    this.code = code;
  }
}
