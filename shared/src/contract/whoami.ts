import type { Ability, AuthMode } from './vocabulary.ts';

/** GET /api/v1/whoami */
export interface Whoami {
  readonly mode: AuthMode;
  readonly authenticated: boolean;
  readonly user: { readonly name: string; readonly groups: readonly string[] } | null;
  /** The namespace that was asked about; null = in any namespace. */
  readonly namespace: string | null;
  readonly readOnly: boolean;
  readonly defaultTimeZone: string;
  readonly can: Readonly<Record<Ability, boolean>>;
}
