import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Authentication, everywhere, reachOf } from '../auth/authentication.ts';
import type { ApiContext } from '../context.ts';
import { createGuard, permitIn, type Endpoint } from './guard.ts';
import { names } from './parameters.ts';
import { readQuery } from './validate.ts';

/** Runs a handler behind the guard of an endpoint, for a caller who may read `dev` alone, or everything. */
async function run(endpoint: Endpoint, handler: (ctx: ApiContext) => unknown, may: 'dev' | 'everything' = 'dev') {
  const permitted: (string | undefined)[] = [];
  const authentication = {
    authenticate: async () => ({ mode: 'token', user: { name: 'ana', groups: [] }, peer: '::1' }),
    isNamespaced: () => true,
    permit: async (_caller, _ability, { namespace }) => void permitted.push(namespace),
    reach: async () => (may === 'everything' ? everywhere : reachOf(['dev'])),
  } as Partial<Authentication> as Authentication;
  const guard = createGuard({
    isReadOnly: false,
    authentication,
    costlyCalls: { take: () => () => {} },
    expensiveReads: { enter: () => () => {} },
    databaseWatch: { view: () => ({ storage: 'connected', schema: undefined }) } as never,
  });
  const ctx = { state: {}, params: {}, method: 'GET', querystring: '', req: {} } as unknown as ApiContext;
  await guard(endpoint)(ctx, async () => void (await handler(ctx)));
  return permitted;
}

const forgot = { code: 'INTERNAL_ERROR' };

test('a list that forgets to cut itself to what its caller may see is not answered', async () => {
  await assert.rejects(
    run({ ability: 'read' }, () => {}),
    forgot,
  );
  await run({ ability: 'read' }, () => {}, 'everything');
});

test('a list whose query has namespaces is cut by reading it', async () => {
  let seen: readonly string[] = [];
  await run({ ability: 'read' }, (ctx) => {
    seen = readQuery(ctx, { namespace: names('Namespaces.') }).namespace;
  });
  assert.deepEqual(seen, ['dev']);
});

test('a handler that is to ask later and does not is not answered', async () => {
  await assert.rejects(
    run({ ability: 'read', asksLater: true }, () => {}),
    forgot,
  );
  assert.deepEqual(await run({ ability: 'read', asksLater: true }, (ctx) => permitIn(ctx, 'prod')), ['prod']);
});

test('to ask where nothing was left to ask is a mistake', async () => {
  await assert.rejects(
    run({ ability: 'read' }, (ctx) => permitIn(ctx, 'prod')),
    forgot,
  );
});
