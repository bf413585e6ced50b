import type { Kind } from '../kinds/kind.ts';

/** Who asks. */
export interface User {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection';

/** One request for objects, after its path is understood and its sender is known. */
export interface ApiRequest {
  readonly verb: Verb;
  readonly kind: Kind;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
  readonly query: URLSearchParams;
  readonly contentType: string;
  readonly accept: string;
  readonly body: Buffer;
  readonly userAgent: string;
  readonly user: User;
}

/** What a verb answers, before it is written in the form the client asked for. */
export interface Answer {
  readonly code: number;
  readonly body: unknown;
  readonly warnings?: readonly string[];
}
