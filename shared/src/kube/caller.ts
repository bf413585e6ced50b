import { ClusterError, type RawObject } from './cluster.ts';
import { askStream, askText, type ExchangeDeps, type Question } from './exchange.ts';

/** Requests whose answers are JSON objects, and such that are read as they come. All reject with a `ClusterError`. */
export interface Caller {
  send(question: Question, signal: AbortSignal): Promise<RawObject>;
  /** A GET on the lane of calls. */
  get(verb: string, resource: string, path: string, signal: AbortSignal): Promise<RawObject>;
  /** Undefined when the object does not exist. */
  find(question: Question, signal: AbortSignal): Promise<RawObject | undefined>;
  stream(question: Omit<Question, 'method'>, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
}

export function createCaller(deps: ExchangeDeps): Caller {
  const send = async (question: Question, signal: AbortSignal): Promise<RawObject> =>
    toObject(question, await askText(question, deps, signal));
  return {
    send,
    get: (verb, resource, path, signal) => send({ lane: 'calls', method: 'GET', verb, resource, path }, signal),
    async find(question, signal) {
      try {
        return await send(question, signal);
      } catch (error) {
        if (error instanceof ClusterError && error.code === 'notFound') return undefined;
        throw error;
      }
    },
    stream: (question, signal) => askStream({ ...question, method: 'GET' }, deps, signal),
  };
}

function toObject({ verb, resource }: Question, text: string): RawObject {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as RawObject;
  } catch {
    // Told below, without the text.
  }
  throw new ClusterError('badAnswer', {
    verb,
    resource,
    message: `${verb} ${resource}: the answer is not a JSON object`,
  });
}
