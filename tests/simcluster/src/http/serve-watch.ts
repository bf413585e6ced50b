import type { ServerResponse } from 'node:http';
import type { Strike } from '../faults.ts';
import type { Fields } from '../json.ts';
import type { KubeObject } from '../storage/kube-object.ts';
import type { VerbDeps } from '../verbs/verb-deps.ts';
import { Watch, type WatchEventType, type WatchSink } from '../verbs/watch.ts';
import { readWatchOptions } from '../verbs/watch-options.ts';
import { failure } from './api-error.ts';
import type { ApiRequest } from './api-request.ts';
import {
  destroyConnection,
  endWith,
  startResponse,
  writeTo,
  type ServerRequestLike,
  type ServerResponseLike,
} from './connection.ts';
import { negotiate } from './negotiate.ts';
import { presentObject } from './present.ts';

/** Bytes that may wait for a slow client before it is cut off. */
const maxWaitingBytes = 64 * 1024 * 1024;

/** All watches that are open. */
export class WatchHub {
  readonly #deps: VerbDeps;
  readonly #streamsLists: boolean;
  readonly #open = new Set<{ watch: Watch; response: ServerResponseLike; resource: string }>();
  /** The text of an object, made once however many watches show it. */
  readonly #texts = new WeakMap<object, string>();

  constructor(deps: VerbDeps, streamsLists: boolean) {
    this.#deps = deps;
    this.#streamsLists = streamsLists;
  }

  /** How many watches are open. */
  get size(): number {
    return this.#open.size;
  }

  /** Opens a watch on a response. Throws `ApiError` before the first byte, never after. */
  serve(
    request: ApiRequest,
    incoming: ServerRequestLike,
    response: ServerResponseLike,
    strike: Strike | undefined,
  ): void {
    const options = readWatchOptions(request, this.#streamsLists);
    const form = negotiate(request.accept);
    const partial = form.as === 'PartialObjectMetadata';
    const printed = (type: WatchEventType, object: Fields | KubeObject): string => {
      const text = partial && type !== 'ERROR' ? printPartial(object) : this.#textOf(object, request, type);
      return `{"type":"${type}","object":${text}}\n`;
    };
    const sink = sinkFor(response, printed, strike);
    const watch = new Watch(request, options, sink, this.#deps);
    startResponse(response, 200, { 'cache-control': 'no-cache, private', 'content-type': 'application/json' });
    const entry = { watch, response, resource: request.kind.storedAs };
    this.#open.add(entry);
    const leave = (): void => {
      watch.stop();
      this.#open.delete(entry);
    };
    response.on('close', leave);
    incoming.on('error', leave);
    watch.start();
  }

  /** Ends the watches of one resource, or all of them, as a server that lets them go. */
  end(resource?: string): void {
    for (const { watch, response, resource: watched } of this.#open) {
      if (resource !== undefined && watched !== resource) continue;
      watch.stop();
      endWith(response);
    }
  }

  #textOf(object: Fields | KubeObject, request: ApiRequest, type: WatchEventType): string {
    if (type === 'BOOKMARK' || type === 'ERROR') return JSON.stringify(object);
    if (request.kind.group === 'events.k8s.io')
      return JSON.stringify(presentObject(object as KubeObject, request.kind));
    let text = this.#texts.get(object);
    if (text === undefined) {
      text = JSON.stringify(object);
      this.#texts.set(object, text);
    }
    return text;
  }
}

function printPartial(object: Fields | KubeObject): string {
  return JSON.stringify({ kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: object['metadata'] });
}

type Print = (type: WatchEventType, object: Fields | KubeObject) => string;

/** Writes lines to the client, with the fault that struck this watch, if one did. */
function sinkFor(response: ServerResponseLike, print: Print, strike: Strike | undefined): WatchSink {
  const effect = strike?.effect;
  let lines = 0;
  let over = false;
  const write = (text: string): void => {
    if (over || response.destroyed) return;
    writeTo(response, text);
    if (response.writableLength > maxWaitingBytes) destroyConnection(response);
  };
  const end = (): void => {
    if (over) return;
    over = true;
    endWith(response);
  };
  const expire = (): void => {
    write(
      print('ERROR', failure({ code: 410, reason: 'Expired', message: 'too old resource version: scripted fault' })),
    );
    end();
  };
  if (effect?.kind === 'halfOpen') return { send() {}, end() {}, whenRoom: () => true };
  if (effect?.kind === 'expire' && (effect.lines ?? 0) === 0) setImmediate(expire);
  return {
    send(type, object) {
      if (over) return;
      lines++;
      const text = print(type, object);
      if (effect?.kind === 'expire' && lines > (effect.lines ?? 0)) return expire();
      if (effect?.kind === 'garbageLine' && lines === (effect.line ?? 1))
        write(`${effect.text ?? '{"type":"ADD\u0000'}\n`);
      if (effect?.kind === 'cutMidLine' && lines === (effect.line ?? 1)) {
        write(text.slice(0, Math.ceil(text.length / 2)));
        over = true;
        // The half line must leave before the connection goes.
        setImmediate(() => destroyConnection(response));
        return;
      }
      write(text);
    },
    end,
    whenRoom(goOn) {
      if (over || response.destroyed || !response.writableNeedDrain) return true;
      (response as ServerResponse).once('drain', goOn);
      return false;
    },
  };
}
