import { badRequest, invalidObject } from '../http/api-error.ts';
import { readGoTime, TimeSyntaxError } from '../schema/go-time.ts';
import { forbidden, invalid, type Fault } from '../validation/fault.ts';
import { readFlag, readInteger } from '../verbs/query-options.ts';

export interface LogOptions {
  readonly container: string;
  readonly follow: boolean;
  readonly previous: boolean;
  readonly timestamps: boolean;
  readonly tailLines: number | undefined;
  readonly limitBytes: number | undefined;
  readonly sinceSeconds: number | undefined;
  /** Epoch milliseconds. */
  readonly since: number | undefined;
}

/** Reads and checks the query of a log request. Throws `ApiError`. */
export function readLogOptions(query: URLSearchParams, pod: string): LogOptions {
  const options: LogOptions = {
    container: query.get('container') ?? '',
    follow: readFlag(query, 'follow'),
    previous: readFlag(query, 'previous'),
    timestamps: readFlag(query, 'timestamps'),
    tailLines: readInteger(query, 'tailLines'),
    limitBytes: readInteger(query, 'limitBytes'),
    sinceSeconds: readInteger(query, 'sinceSeconds'),
    since: readSince(query.get('sinceTime')),
  };
  const faults = optionFaults(options, query.has('stream'));
  if (faults.length > 0) throw invalidObject({ group: '', kind: 'PodLogOptions' }, pod, faults);
  return options;
}

function readSince(text: string | null): number | undefined {
  if (text === null || text === '') return undefined;
  try {
    return Date.parse(readGoTime(text, 'Time'));
  } catch (error) {
    if (error instanceof TimeSyntaxError) throw badRequest(error.message);
    throw error;
  }
}

function optionFaults(options: LogOptions, stream: boolean): Fault[] {
  const faults: Fault[] = [];
  const { tailLines, limitBytes, sinceSeconds, since } = options;
  if (stream) faults.push(forbidden('stream', 'may not be specified'));
  if (tailLines !== undefined && tailLines < 0) {
    faults.push(invalid('tailLines', tailLines, 'must be greater than or equal to 0'));
  }
  if (limitBytes !== undefined && limitBytes < 1)
    faults.push(invalid('limitBytes', limitBytes, 'must be greater than 0'));
  if (sinceSeconds !== undefined && since !== undefined) {
    faults.push(forbidden('[]', 'at most one of `sinceTime` or `sinceSeconds` may be specified'));
  } else if (sinceSeconds !== undefined && sinceSeconds < 1) {
    faults.push(invalid('sinceSeconds', sinceSeconds, 'must be greater than 0'));
  }
  return faults;
}
