import { failure } from './http/api-error.ts';
import type { Fields } from './json.ts';

/** Which requests a fault strikes; what is absent fits all. */
export interface FaultTarget {
  /** `list`, `watch`, `get`, `create`, `update`, `patch`, `delete`; for other pages `get`. */
  readonly verb?: string | readonly string[];
  /** The path without its query: a part of it, or a pattern. */
  readonly path?: string | RegExp;
  /** The query text must hold this, such as `continue=`. */
  readonly query?: string | RegExp;
}

export type FaultEffect =
  /** An answer instead of the real one, in the words of the real server. */
  | { readonly kind: 'answer'; readonly code: number; readonly retryAfterSeconds?: number; readonly plain?: boolean }
  /** The request is taken and never answered. */
  | { readonly kind: 'hang' }
  /** The connection is closed without an answer. */
  | { readonly kind: 'disconnect' }
  /** The real answer, later. */
  | { readonly kind: 'slow'; readonly delayMs: number }
  /** A watch that opens and then never brings anything, its connection alive. */
  | { readonly kind: 'halfOpen' }
  /** A watch whose line `line` (1 by default) is cut in the middle, the connection closed. */
  | { readonly kind: 'cutMidLine'; readonly line?: number }
  /** A watch that brings a line of garbage before its line `line` (1 by default) and goes on. */
  | { readonly kind: 'garbageLine'; readonly line?: number; readonly text?: string }
  /** A watch that ends with an ERROR event of 410 after `lines` lines (0 by default). */
  | { readonly kind: 'expire'; readonly lines?: number }
  /** Lists at version 0 answer as things were when the fault was set, as a cache that lags behind. */
  | { readonly kind: 'stale' };

export interface FaultScript {
  readonly target?: FaultTarget;
  readonly effect: FaultEffect;
  /** How many requests it strikes; all by default. */
  readonly times?: number;
  /** How many fitting requests pass before it strikes. */
  readonly skip?: number;
}

export interface SetFault {
  /** Requests struck so far. */
  readonly hits: number;
  remove(): void;
}

/** A fault that struck, with the version of the store at which it was set. */
export interface Strike {
  readonly effect: FaultEffect;
  readonly setAtVersion: number;
}

interface Armed {
  readonly script: FaultScript;
  readonly setAtVersion: number;
  seen: number;
  hits: number;
}

/** The faults that are set, in the order in which they were. */
export class FaultBoard {
  readonly #armed: Armed[] = [];
  readonly #versionNow: () => number;

  constructor(versionNow: () => number) {
    this.#versionNow = versionNow;
  }

  set(script: FaultScript): SetFault {
    const armed: Armed = { script, setAtVersion: this.#versionNow(), seen: 0, hits: 0 };
    this.#armed.push(armed);
    return {
      get hits() {
        return armed.hits;
      },
      remove: () => {
        const index = this.#armed.indexOf(armed);
        if (index !== -1) this.#armed.splice(index, 1);
      },
    };
  }

  clear(): void {
    this.#armed.length = 0;
  }

  /** The first fault that strikes this request, counted as a hit; undefined: none does. */
  strike(request: { verb: string; path: string; query: string }): Strike | undefined {
    for (const armed of this.#armed) {
      const { script } = armed;
      if (!fits(script.target ?? {}, request)) continue;
      if (script.effect.kind === 'stale' && !/(?:^|&)resourceVersion=0(?:&|$)/.test(request.query)) continue;
      armed.seen++;
      if (armed.seen <= (script.skip ?? 0) || armed.hits >= (script.times ?? Infinity)) continue;
      armed.hits++;
      return { effect: script.effect, setAtVersion: armed.setAtVersion };
    }
    return undefined;
  }
}

function fits(target: FaultTarget, request: { verb: string; path: string; query: string }): boolean {
  const verbs = typeof target.verb === 'string' ? [target.verb] : target.verb;
  return (
    (verbs === undefined || verbs.includes(request.verb)) &&
    textFits(target.path, request.path) &&
    textFits(target.query, request.query)
  );
}

function textFits(wanted: string | RegExp | undefined, text: string): boolean {
  if (wanted === undefined) return true;
  return typeof wanted === 'string' ? text.includes(wanted) : wanted.test(text);
}

const reasons: Readonly<Record<number, readonly [reason: string, message: string]>> = {
  401: ['Unauthorized', 'Unauthorized'],
  403: ['Forbidden', 'forbidden: scripted fault'],
  404: ['NotFound', 'the server could not find the requested resource'],
  409: [
    'Conflict',
    'Operation cannot be fulfilled: the object has been modified; please apply your changes to the latest version and try again',
  ],
  410: ['Expired', 'The resourceVersion for the provided list is too old.'],
  429: ['TooManyRequests', 'Too many requests, please try again later.'],
  500: ['InternalError', 'Internal error occurred: scripted fault'],
  503: ['ServiceUnavailable', 'the server is currently unable to handle the request'],
  504: ['Timeout', 'Timeout: request did not complete within the allotted timeout'],
};

/** The answer of a scripted failure. A 429 is plain text, as from a server whose places are all taken. */
export function faultAnswer(effect: Extract<FaultEffect, { kind: 'answer' }>): {
  code: number;
  body: Fields | string;
  headers: Record<string, string>;
} {
  const { code, retryAfterSeconds } = effect;
  const headers: Record<string, string> = {};
  const wait = retryAfterSeconds ?? (code === 429 ? 1 : undefined);
  if (wait !== undefined) headers['retry-after'] = String(wait);
  const [reason, message] = reasons[code] ?? ['Unknown', 'scripted fault'];
  if (effect.plain ?? code === 429) return { code, body: `${message}\n`, headers };
  const details = wait === undefined ? undefined : { retryAfterSeconds: wait };
  return { code, body: failure({ code, reason, message, details }), headers };
}
