import { badRequest, notFound } from '../http/api-error.ts';
import type { ApiRequest } from '../http/api-request.ts';
import {
  endWith,
  startResponse,
  writeTo,
  type ServerRequestLike,
  type ServerResponseLike,
} from '../http/connection.ts';
import { readMediaTypes } from '../http/media-type.ts';
import { respond } from '../http/respond.ts';
import { negotiate } from '../http/negotiate.ts';
import { at, fieldsOf, listOf, textOf } from '../json.ts';
import type { KubeObject } from '../storage/kube-object.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import type { SimClock } from '../time/sim-clock.ts';
import { askKubelet, kubeletOf } from './kubelet-proxy.ts';
import type { ContainerLog, LogBook } from './log-book.ts';
import { readLogOptions, type LogOptions } from './log-options.ts';
import { createLimit, printPiece, selectPieces } from './select-log.ts';

export interface LogDeps {
  readonly store: ObjectStore;
  readonly clock: SimClock;
  readonly book: LogBook;
}

/** How often a followed log is looked at. */
const followEveryMs = 50;

/** GET of pods/log. Throws `ApiError` before the first byte. */
export async function serveLog(
  request: ApiRequest,
  incoming: ServerRequestLike,
  response: ServerResponseLike,
  deps: LogDeps,
): Promise<void> {
  const { namespace = '', name = '' } = request;
  const options = readLogOptions(request.query, name);
  const pod = deps.store.get('pods', namespace, name);
  if (pod === undefined) throw plainOnly(request, notFound({ group: '', kind: 'pods' }, name));
  const container = containerOf(pod, options);
  const nodeName = textOf(at(pod, 'spec', 'nodeName'));
  if (nodeName === '') return respond(incoming, response, { code: 204, body: '' });
  const node = deps.store.get('nodes', undefined, nodeName);
  // The real server names the node as if it were a pod.
  if (node === undefined) throw notFound({ group: '', kind: 'pods' }, nodeName);
  const remote = kubeletOf(node);
  if (remote !== undefined)
    return askKubelet(remote, { namespace, pod: name, container, query: request.query }, response);
  const log = playedLog(deps.book.find(namespace, name, container), { pod: name, container, options });
  startResponse(response, 200, { 'cache-control': 'no-cache, private', 'content-type': 'text/plain' });
  send(log, { options, place: { namespace, pod: name, container }, response }, deps);
}

/** A client that only takes plain text cannot be told of an error. */
function plainOnly(request: ApiRequest, error: Error): Error {
  const wanted = readMediaTypes(request.accept);
  if (wanted.length === 0 || !wanted.every((one) => one.type === 'text/plain')) return error;
  try {
    negotiate(request.accept);
    return error;
  } catch (refusal) {
    return refusal instanceof Error ? refusal : error;
  }
}

function containerOf(pod: KubeObject, options: LogOptions): string {
  const names = (field: string): string[] =>
    listOf(at(pod, 'spec', field)).map((container) => textOf(fieldsOf(container)['name']));
  const regular = names('containers');
  const initial = names('initContainers');
  const [only = ''] = regular;
  if (options.container === '') {
    if (regular.length === 1) return only;
    const others = initial.length === 0 ? '' : ` or one of the init containers: [${initial.join(' ')}]`;
    throw badRequest(
      `a container name must be specified for pod ${pod.metadata.name}, choose one of: [${regular.join(' ')}]${others}`,
    );
  }
  if (![...regular, ...initial].includes(options.container)) {
    throw badRequest(`container ${options.container} is not valid for pod ${pod.metadata.name}`);
  }
  return options.container;
}

function playedLog(
  log: ContainerLog | undefined,
  { pod, container, options }: { pod: string; container: string; options: LogOptions },
): ContainerLog {
  const name = JSON.stringify(container);
  if (options.previous) {
    if (log?.previous === undefined) {
      throw badRequest(`previous terminated container ${name} in pod ${JSON.stringify(pod)} not found`);
    }
    return { pieces: log.previous, ended: true };
  }
  const waiting = log === undefined ? 'ContainerCreating' : log.waiting;
  if (log === undefined || waiting !== undefined) {
    throw badRequest(`container ${name} in pod ${JSON.stringify(pod)} is waiting to start: ${waiting ?? ''}`);
  }
  return log;
}

interface Sending {
  readonly options: LogOptions;
  readonly place: { readonly namespace: string; readonly pod: string; readonly container: string };
  readonly response: ServerResponseLike;
}

function send(log: ContainerLog, { options, place, response }: Sending, deps: LogDeps): void {
  const limit = createLimit(options.limitBytes);
  let sent = selectPieces(log.pieces, options, deps.clock.now());
  let seen = log.pieces.filter((piece) => piece.at <= deps.clock.now()).length;
  const write = (): void => {
    for (const piece of sent) writeTo(response, limit.cut(printPiece(piece, options.timestamps)));
  };
  write();
  const follow = (): void => {
    if (response.destroyed) return;
    const current = deps.book.find(place.namespace, place.pod, place.container);
    const come = (current?.pieces ?? []).filter((piece) => piece.at <= deps.clock.now());
    sent = come.slice(seen);
    seen = come.length;
    write();
    const ended = current === undefined || (current.ended && come.length === current.pieces.length);
    if (ended || limit.reached) endWith(response);
    else deps.clock.callAt(deps.clock.now() + followEveryMs, follow);
  };
  if (options.follow && !limit.reached) follow();
  else endWith(response);
}
