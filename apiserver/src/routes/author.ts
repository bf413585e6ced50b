import type { ApiContext } from '../context.ts';

const anonymous = 'anonymous';

/** Who says or does something: the caller; where callers are not asked who they are, whom the body names. */
export function authorOf(ctx: ApiContext, named?: string): string {
  const { caller } = ctx.state;
  if (caller?.mode === 'none') return named ?? anonymous;
  return caller?.user?.name ?? anonymous;
}
