import { badRequest, invalidObject } from '../http/api-error.ts';
import type { ApiRequest } from '../http/api-request.ts';
import { byPlural } from '../kinds/kind.ts';
import { forbidden, invalid, notSupported, type Fault } from '../validation/fault.ts';
import { readFlag, readInteger } from './query-options.ts';

export interface WatchOptions {
  /** Only changes later than this; undefined: from now on. */
  readonly after: number | undefined;
  /** First one ADDED for each object that is there. */
  readonly initialEvents: boolean;
  readonly bookmarks: boolean;
  /** Undefined: the server decides. */
  readonly timeoutSeconds: number | undefined;
}

/** Reads and checks the query of a watch. `streamsLists`: the feature gate WatchList. Throws `ApiError`. */
export function readWatchOptions(request: ApiRequest, streamsLists: boolean): WatchOptions {
  const { query } = request;
  const match = query.get('resourceVersionMatch') ?? '';
  const asked = query.get('resourceVersion') ?? '';
  const sent = query.get('sendInitialEvents');
  const sendInitialEvents = sent === null || sent === '' ? undefined : readFlag(query, 'sendInitialEvents');
  const faults = matchFaults(match, sendInitialEvents);
  if (sendInitialEvents !== undefined && !streamsLists) {
    const detail = 'sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled';
    faults.push(forbidden('sendInitialEvents', detail));
  }
  if (faults.length > 0) throw invalidObject({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', faults);
  const version = readWatchVersion(asked, request);
  const fromNow = version === 0;
  const initialEvents = sendInitialEvents ?? fromNow;
  const timeoutSeconds = readInteger(query, 'timeoutSeconds');
  if (timeoutSeconds !== undefined && timeoutSeconds < 0) throw badRequest('timeoutSeconds must not be negative');
  return {
    after: fromNow || initialEvents ? undefined : version,
    initialEvents,
    bookmarks: readFlag(query, 'allowWatchBookmarks'),
    timeoutSeconds: timeoutSeconds === 0 ? undefined : timeoutSeconds,
  };
}

function matchFaults(match: string, sendInitialEvents: boolean | undefined): Fault[] {
  const field = 'resourceVersionMatch';
  if (sendInitialEvents === undefined) {
    if (match === '') return [];
    return [forbidden(field, `${field} is forbidden for watch unless sendInitialEvents is provided`)];
  }
  if (match === 'NotOlderThan') return [];
  const faults = [forbidden(field, `sendInitialEvents requires setting ${field} to NotOlderThan`)];
  if (match !== '') faults.push(notSupported(field, match, ['NotOlderThan']));
  return faults;
}

function readWatchVersion(text: string, request: ApiRequest): number {
  if (text === '') return 0;
  if (/^[0-9]+$/.test(text)) return Number(text);
  const detail = `strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`;
  throw invalidObject(byPlural(request.kind), '', [invalid('resourceVersion', text, detail)]);
}
