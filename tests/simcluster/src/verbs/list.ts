import { badRequest, invalidObject, statusError } from '../http/api-error.ts';
import type { Answer, ApiRequest } from '../http/api-request.ts';
import type { Fields } from '../json.ts';
import type { Kind } from '../kinds/kind.ts';
import { keyOf, type KubeObject } from '../storage/kube-object.ts';
import { stateAt } from '../storage/state-at.ts';
import { forbidden, notSupported, type Fault } from '../validation/fault.ts';
import { printToken, readToken } from './continue-token.ts';
import { readInteger } from './query-options.ts';
import { readFieldSelector, readLabelSelector, type Matches } from './selector.ts';
import type { VerbDeps } from './verb-deps.ts';

/** Objects of one kind, before they are written in the form the client asked for. */
export interface ObjectList {
  readonly listOf: Kind;
  readonly metadata: Fields;
  readonly items: readonly KubeObject[];
}

/** How long a list waits for a version that has not come yet. */
const futureVersionWaitMs = 3_000;

/** GET of a collection. */
export async function listObjects(request: ApiRequest, deps: VerbDeps): Promise<Answer> {
  const { query, kind } = request;
  const limit = readInteger(query, 'limit') ?? 0;
  const matches = collectionMatches(request);
  const token = query.get('continue') ?? '';
  const asked = query.get('resourceVersion') ?? '';
  const match = query.get('resourceVersionMatch') ?? '';
  checkListOptions({ token, asked, match });
  if (token !== '') return continued(request, { limit, matches, token }, deps);

  const version = readVersion(asked, (detail) => badRequest(`invalid resource version: ${detail}`));
  if (version > deps.store.version) await refuseFutureVersion(version, deps);
  // A version with a limit and no word about its meaning is that very version.
  const exact = match === 'Exact' || (match === '' && version > 0 && limit > 0);
  if (!exact) {
    const page = pageOf(
      request,
      { version: deps.store.version, start: '', limit: asked === '0' ? 0 : limit, matches },
      deps,
    );
    return { code: 200, body: page };
  }
  if (version < deps.store.oldestPage(kind.storedAs)) {
    throw statusError({
      code: 410,
      reason: 'Expired',
      message: 'The resourceVersion for the provided list is too old.',
    });
  }
  return { code: 200, body: pageOf(request, { version, start: '', limit, matches }, deps) };
}

/** The selectors of a request as one question; undefined when there are none. */
export function collectionMatches(request: ApiRequest): Matches | undefined {
  const byLabel = readLabelSelector(request.query.get('labelSelector'));
  const byField = readFieldSelector(request.query.get('fieldSelector'), request.kind);
  if (byLabel === undefined) return byField;
  return byField === undefined ? byLabel : (object) => byLabel(object) && byField(object);
}

/** A version as sent; 0 for none. `refuse` makes the error for what is no number. */
export function readVersion(text: string, refuse: (detail: string) => Error): number {
  if (text === '') return 0;
  if (/^[0-9]+$/.test(text)) return Number(text);
  const quoted = JSON.stringify(text);
  throw refuse(`resourceVersion: Invalid value: ${quoted}: strconv.ParseUint: parsing ${quoted}: invalid syntax`);
}

function checkListOptions(sent: { token: string; asked: string; match: string }): void {
  const faults: Fault[] = [];
  if (sent.match !== '') {
    const field = 'resourceVersionMatch';
    if (sent.asked === '') faults.push(forbidden(field, `${field} is forbidden unless resourceVersion is provided`));
    if (sent.token !== '') faults.push(forbidden(field, `${field} is forbidden when continue is provided`));
    if (sent.match !== 'Exact' && sent.match !== 'NotOlderThan') {
      faults.push(notSupported(field, sent.match, ['Exact', 'NotOlderThan', '']));
    }
    if (sent.match === 'Exact' && sent.asked === '0') {
      faults.push(forbidden(field, `${field} "exact" is forbidden for resourceVersion "0"`));
    }
  }
  if (faults.length > 0) throw invalidObject({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', faults);
  if (sent.token !== '' && sent.asked !== '' && sent.asked !== '0') {
    throw badRequest('specifying resource version is not allowed when using continue');
  }
}

async function refuseFutureVersion(version: number, deps: VerbDeps): Promise<void> {
  const reached = await new Promise<boolean>((resolve) => {
    const giveUp = deps.clock.callAt(deps.clock.now() + futureVersionWaitMs, () => {
      leave();
      resolve(false);
    });
    const leave = deps.store.subscribe((change) => {
      if (change.version < version) return;
      giveUp.cancel();
      leave();
      resolve(true);
    });
  });
  if (reached) return;
  throw statusError(
    {
      code: 504,
      reason: 'Timeout',
      message: `Timeout: Too large resource version: ${version}, current: ${deps.store.version}`,
      details: {
        causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
        retryAfterSeconds: 1,
      },
    },
    { 'retry-after': '1' },
  );
}

interface Page {
  readonly version: number;
  readonly start: string;
  readonly limit: number;
  readonly matches: Matches | undefined;
}

function continued(
  request: ApiRequest,
  { limit, matches, token }: { limit: number; matches: Matches | undefined; token: string },
  deps: VerbDeps,
): Answer {
  const { version, start } = readToken(token);
  const oldest = deps.store.oldestPage(request.kind.storedAs);
  if (version >= 0 && version < oldest) throw expiredToken(start);
  const at = version < 0 ? deps.store.version : version;
  return { code: 200, body: pageOf(request, { version: at, start, limit, matches }, deps) };
}

function expiredToken(start: string): Error {
  return statusError({
    code: 410,
    reason: 'Expired',
    message:
      'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.',
    metadata: { continue: printToken({ version: -1, start }) },
  });
}

function pageOf(request: ApiRequest, page: Page, deps: VerbDeps): ObjectList {
  const { kind, namespace } = request;
  const table = deps.store.table(kind.storedAs);
  const prefix = kind.namespaced && namespace !== undefined ? keyOf(namespace, '') : kind.namespaced ? '' : '/';
  const state = stateAt(table, page.version);
  const items: KubeObject[] = [];
  let lastKey = '';
  let more = false;
  for (const key of state.keys(prefix, prefix + page.start)) {
    const object = state.get(key);
    if (page.matches !== undefined && !page.matches(object)) continue;
    if (page.limit > 0 && items.length === page.limit) {
      more = true;
      break;
    }
    items.push(object);
    lastKey = key;
  }
  const metadata: Fields = { resourceVersion: String(page.version) };
  if (kind.custom !== undefined) metadata['continue'] = '';
  if (more) {
    const start = `${lastKey.slice(prefix.length)}\u0000`;
    metadata['continue'] = printToken({ version: page.version, start: `/${start}` });
    if (page.matches === undefined) metadata['remainingItemCount'] = state.count(prefix, prefix + start);
  }
  return { listOf: kind, metadata, items };
}
