import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createApiRouter } from '../routes/index.ts';
import { documentedOperations, documentedQuery } from '../testing/agreement.ts';
import { startApi } from '../testing/api.ts';
import { resolve } from '../testing/json-schema.ts';
import { buildOpenApi } from './build.ts';
import { documentedRoutes } from './index.ts';

type RouteDeps = Parameters<typeof createApiRouter>[0];

test('every reference in it means something', () => {
  const document = buildOpenApi(documentedRoutes);
  const look = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const { $ref } = value as { $ref?: unknown };
    if (typeof $ref === 'string') resolve($ref, document);
    for (const inner of Object.values(value)) look(inner);
  };
  look(document);
});

/** The routers as the application has them: none of their handlers is called. */
function servedOperations(): readonly string[] {
  const handler = (): void => {};
  // Whatever a router calls of its parts while it is made gives it a handler.
  const part = new Proxy(() => handler, { get: () => () => handler });
  const nothing = new Proxy({}, { get: () => part }) as unknown as RouteDeps;
  return createApiRouter(nothing, documentedRoutes)
    .stack.flatMap(({ methods, path }) =>
      methods
        .filter((method) => method !== 'HEAD')
        .map((method) => `${method} ${String(path).replaceAll(/:(\w+)/g, '{$1}')}`),
    )
    .sort();
}

test('it has every operation that is served, and no other', () => {
  assert.deepEqual(documentedOperations, servedOperations());
});

test('it has every parameter of every operation, and no other', async () => {
  await using api = await startApi();
  for (const operation of documentedOperations) {
    const [method = '', template = ''] = operation.split(' ');
    const path = template.replaceAll(/\{\w+\}/g, 'x');
    const answer = await api.ask(`${path}?no-such-parameter=1`, { method });
    assert.equal(answer.status, 400, `${operation} ${answer.text}`);
    const [problem] = answer.error().details?.problems ?? [];
    assert.equal(problem?.field, 'no-such-parameter', operation);
    const allowed = problem.allowed === 'none' ? [] : (problem.allowed ?? '').split(', ');
    assert.deepEqual(documentedQuery(operation).toSorted(), allowed.toSorted(), operation);
  }
});

test('is served as it is', async () => {
  await using api = await startApi();
  const answer = await api.ask('/api/v1/openapi.json');
  assert.deepEqual([answer.status, answer.json()], [200, buildOpenApi(documentedRoutes)]);
  assert.equal((await api.ask('/api/v1/openapi.json?x=1')).status, 400);
});
