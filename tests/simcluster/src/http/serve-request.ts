import { impersonatedUser, type Authenticator } from '../access/authenticate.ts';
import type { Authorizer, Deed } from '../access/authorize.ts';
import { answerReview, requestToken, type ReviewDeps } from '../access/reviews.ts';
import { faultAnswer, type FaultBoard, type Strike } from '../faults.ts';
import { hasSubresource, type Kind } from '../kinds/kind.ts';
import { serveLog, type LogDeps } from '../logs/serve-log.ts';
import { createObject } from '../verbs/create.ts';
import { deleteCollection, deleteObject } from '../verbs/delete.ts';
import { evictPod } from '../verbs/evict.ts';
import { getObject } from '../verbs/get.ts';
import { listObjects } from '../verbs/list.ts';
import { patchObject } from '../verbs/patch.ts';
import { nameInFieldSelector } from '../verbs/selector.ts';
import { updateObject } from '../verbs/update.ts';
import type { VerbDeps } from '../verbs/verb-deps.ts';
import { methodNotAllowed, noSuchResource, pageNotFound, statusError } from './api-error.ts';
import type { Answer, ApiRequest, User, Verb } from './api-request.ts';
import {
  BodyTooLarge,
  destroyConnection,
  readBody,
  type ServerRequestLike,
  type ServerResponseLike,
} from './connection.ts';
import { discoveryPage } from './discovery.ts';
import { negotiate } from './negotiate.ts';
import type { Places } from './places.ts';
import { present } from './present.ts';
import { readResourcePath, verbOf, type ResourcePath } from './request-path.ts';
import { replyOf, respond } from './respond.ts';
import { isHealthPath } from './root-paths.ts';
import type { WatchHub } from './serve-watch.ts';

/** More bytes than this are refused. */
const maxBodyBytes = 3_145_728;

export interface ServeDeps extends VerbDeps, ReviewDeps {
  readonly authenticator: Authenticator;
  readonly authorizer: Authorizer;
  readonly faults: FaultBoard;
  readonly watches: WatchHub;
  readonly logs: LogDeps;
  readonly places: Places;
}

interface Incoming {
  readonly request: ServerRequestLike;
  readonly response: ServerResponseLike;
  readonly path: string;
  readonly query: URLSearchParams;
}

/** Answers one request, from its first line to its last byte. Never throws. */
export async function serveRequest(
  request: ServerRequestLike,
  response: ServerResponseLike,
  deps: ServeDeps,
): Promise<void> {
  response.setHeader('date', new Date(deps.clock.now()).toUTCString());
  try {
    const url = request.url ?? '/';
    const mark = url.indexOf('?');
    const path = decodePath(mark === -1 ? url : url.slice(0, mark));
    const query = new URLSearchParams(mark === -1 ? '' : url.slice(mark + 1));
    await route({ request, response, path, query }, deps);
  } catch (error) {
    if (!response.headersSent) await respond(request, response, replyOf(error));
    else destroyConnection(response);
  }
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    // A broken escape stands for itself.
    return path;
  }
}

async function route(incoming: Incoming, deps: ServeDeps): Promise<void> {
  const { request, path, query } = incoming;
  const resource = path.startsWith('//') ? undefined : readResourcePath(path);
  const verb = resource === undefined ? undefined : verbOf(request.method ?? 'GET', resource, query);
  const faultVerb = verb ?? (request.method ?? 'GET').toLowerCase();
  const strike = deps.faults.strike({ verb: faultVerb, path, query: query.toString() });
  if (strike !== undefined && (await struck(incoming, strike, deps))) return;
  const user = senderOf(request, deps);
  const lasting = verb === 'watch' || resource?.subresource === 'log';
  const leave = lasting ? undefined : deps.places.enter(request.method ?? 'GET', user);
  try {
    if (resource === undefined) await servePage(incoming, user, deps);
    else await serveResource({ ...incoming, resource, verb, user, strike }, deps);
  } finally {
    leave?.();
  }
}

interface ResourceRequest extends Incoming {
  readonly resource: ResourcePath;
  readonly verb: Verb | undefined;
  readonly user: User;
  readonly strike: Strike | undefined;
}

async function serveResource(incoming: ResourceRequest, deps: ServeDeps): Promise<void> {
  const { request, response, query, resource, verb, user, strike } = incoming;
  const deed = deedOf(resource, verb, query, request.method ?? 'GET');
  deps.authorizer.check(user, deed);
  const kind = kindAt(resource, deps);
  if (verb === undefined || resource.overlong) throw verb === undefined ? methodNotAllowed() : noSuchResource();
  const body = await bodyOf(request);
  const accept = headerOf(request, 'accept');
  const apiRequest: ApiRequest = {
    verb,
    kind,
    namespace: resource.namespace,
    name: resource.name,
    subresource: resource.subresource,
    query: watchQuery(resource, query),
    contentType: headerOf(request, 'content-type'),
    accept,
    userAgent: headerOf(request, 'user-agent'),
    body,
    user,
  };
  checkMethod(apiRequest);
  if (verb === 'watch') return deps.watches.serve(apiRequest, request, response, strike);
  if (resource.subresource === 'log') return serveLog(apiRequest, request, response, deps.logs);
  const form = negotiate(accept);
  const answer = await answerOf(apiRequest, strike, deps);
  const shown = present(answer.body, form, kind, { query, now: deps.clock.now() });
  await respond(request, response, { code: answer.code, body: shown, warnings: answer.warnings, yaml: form.yaml });
}

/** Plays a fault that needs no knowledge of the request. True: the request is done with. */
async function struck({ request, response }: Incoming, { effect }: Strike, deps: ServeDeps): Promise<boolean> {
  switch (effect.kind) {
    case 'answer':
      await respond(request, response, faultAnswer(effect));
      return true;
    case 'hang':
      return true;
    case 'disconnect':
      destroyConnection(response);
      return true;
    case 'slow':
      await new Promise<void>((resolve) => {
        deps.clock.callAt(deps.clock.now() + effect.delayMs, resolve);
      });
      return false;
    default:
      return false;
  }
}

function senderOf(request: ServerRequestLike, deps: ServeDeps): User {
  const user = deps.authenticator.userOf(request.headers);
  const wanted = impersonatedUser(request.headers, request.rawHeaders);
  if (wanted === undefined) return user;
  const account = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(wanted.name);
  const deed: Deed =
    account === null
      ? { verb: 'impersonate', group: '', resource: 'users', name: wanted.name }
      : { verb: 'impersonate', group: '', resource: 'serviceaccounts', namespace: account[1], name: account[2] };
  deps.authorizer.check(user, deed);
  return wanted;
}

function headerOf(request: ServerRequestLike, name: string): string {
  const value = request.headers[name];
  return typeof value === 'string' ? value : '';
}

async function servePage({ request, response, path }: Incoming, user: User, deps: ServeDeps): Promise<void> {
  const method = request.method ?? 'GET';
  deps.authorizer.check(user, { verb: method.toLowerCase(), path });
  if (isHealthPath(path)) {
    return respond(request, response, { code: 200, body: 'ok', headers: { 'x-content-type-options': 'nosniff' } });
  }
  const page = discoveryPage(path, headerOf(request, 'accept'), deps.registry);
  if (page === undefined) throw pageNotFound();
  if (method !== 'GET') throw methodNotAllowed();
  return respond(request, response, { code: 200, ...page });
}

function deedOf(path: ResourcePath, verb: Verb | undefined, query: URLSearchParams, method: string): Deed {
  const named =
    path.name ?? (verb === 'list' || verb === 'watch' ? nameInFieldSelector(query.get('fieldSelector')) : undefined);
  return {
    verb: verb ?? method.toLowerCase(),
    group: path.group,
    resource: path.plural,
    subresource: path.subresource,
    namespace: path.namespace ?? (path.plural === 'namespaces' ? path.name : undefined),
    name: verb === 'create' && path.subresource === undefined ? undefined : named,
  };
}

function kindAt(path: ResourcePath, deps: ServeDeps): Kind {
  const kind = deps.registry.find(path.group, path.version, path.plural);
  const builtIn = deps.registry.isBuiltIn(path.group) && deps.registry.ofVersion(path.group, path.version).length > 0;
  if (kind === undefined) throw builtIn ? noSuchResource() : pageNotFound();
  const misplaced = path.namespace !== undefined && !kind.namespaced;
  const unknownPart = path.subresource !== undefined && !hasSubresource(kind, path.subresource);
  if (misplaced || unknownPart) throw builtIn ? noSuchResource() : pageNotFound();
  return kind;
}

/** A watch by the old path, or of one object, in the words of the query. */
function watchQuery(path: ResourcePath, query: URLSearchParams): URLSearchParams {
  if (path.name === undefined || path.subresource !== undefined || !path.watching) return query;
  const narrowed = new URLSearchParams(query);
  narrowed.set('fieldSelector', `metadata.name=${path.name}`);
  return narrowed;
}

async function bodyOf(request: ServerRequestLike): Promise<Buffer> {
  try {
    return await readBody(request, maxBodyBytes);
  } catch (error) {
    if (!(error instanceof BodyTooLarge)) throw error;
    throw statusError({
      code: 413,
      reason: 'RequestEntityTooLarge',
      message: `Request entity too large: limit is ${maxBodyBytes}`,
    });
  }
}

function checkMethod({ verb, kind, name, subresource }: ApiRequest): void {
  if (subresource !== undefined) {
    const verbs = kind.subresources.find((one) => one.name === subresource)?.verbs ?? [];
    if (!verbs.includes(verb)) throw methodNotAllowed();
    return;
  }
  const forOne = ['get', 'update', 'patch', 'delete'].includes(verb);
  const forMany = ['list', 'create', 'deletecollection'].includes(verb);
  if ((forOne && name === undefined) || (forMany && name !== undefined)) throw methodNotAllowed();
  if (!kind.verbs.includes(verb)) throw methodNotAllowed();
}

async function answerOf(request: ApiRequest, strike: Strike | undefined, deps: ServeDeps): Promise<Answer> {
  const { verb, subresource } = request;
  if (verb === 'create') {
    if (subresource === 'eviction') return evictPod(request, deps);
    if (subresource === 'token') return requestToken(request, deps);
    return answerReview(request, deps) ?? createObject(request, deps);
  }
  switch (verb) {
    case 'get':
      return getObject(request, deps);
    case 'list':
      return listObjects(staleRequest(request, strike), deps);
    case 'update':
      return updateObject(request, deps);
    case 'patch':
      return patchObject(request, deps);
    case 'delete':
      return deleteObject(request, deps);
    case 'deletecollection':
      return deleteCollection(request, deps);
    default:
      throw methodNotAllowed();
  }
}

/** A list that a lagging cache answers: the very state of the moment at which the fault was set. */
function staleRequest(request: ApiRequest, strike: Strike | undefined): ApiRequest {
  if (strike?.effect.kind !== 'stale') return request;
  const query = new URLSearchParams(request.query);
  query.set('resourceVersion', String(strike.setAtVersion));
  query.set('resourceVersionMatch', 'Exact');
  query.delete('limit');
  return { ...request, query };
}
