import { bool, each, listOf, nullable, object, type Of, text, words } from './shape/index.ts';
import { abilities, authModes } from './vocabulary.ts';

/** GET /api/v1/whoami */
export const Whoami = object('Whoami', {
  mode: words(authModes),
  authenticated: bool,
  user: nullable(object({ name: text, groups: listOf(text) })),
  /** The namespace that was asked about; null = in any namespace. */
  namespace: nullable(text),
  readOnly: bool,
  defaultTimeZone: text,
  can: each(abilities, bool),
});
export type Whoami = Of<typeof Whoami>;
