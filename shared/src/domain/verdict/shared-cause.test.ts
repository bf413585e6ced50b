import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sharedCause } from './shared-cause.ts';

describe('what CronJobs fail by together', () => {
  const facts = { namespace: 'prod', cause: 'exit code 1, Error', scope: undefined };

  const lines: readonly (readonly [string, string | undefined])[] = [
    ['dial tcp 10.0.0.7:5432: connect: connection refused', '10.0.0.7:5432 refuses connections'],
    ['Error: connect ECONNREFUSED 10.0.0.7:5432', '10.0.0.7:5432 refuses connections'],
    ['2026/11/30 02:00:07 main.go:42: dial tcp db.prod:5432: i/o timeout', 'db.prod:5432 does not answer'],
    ["ERROR 2003: Can't connect to MySQL server on 'orders-db' (111)", 'orders-db refuses connections'],
    [
      'psql: connection to server at "db.prod" (10.0.0.7), port 5432 failed: Connection refused',
      'db.prod refuses connections',
    ],
    ['dial tcp: lookup db.prod on 10.96.0.10:53: no such host', 'db.prod is not found by its name'],
    ['Error: getaddrinfo ENOTFOUND db.prod', 'db.prod is not found by its name'],
    ['curl: (6) Could not resolve host: feeds.example.org', 'feeds.example.org is not found by its name'],
    ['psql: error: FATAL:  password authentication failed for user "settle_ro"', 'The login of settle_ro is refused'],
    [
      `ERROR 1045 (28000): Access denied for user 'etl'@'10.0.0.9' (using password: YES)`,
      'The login of etl is refused',
    ],
    ['02:00:07 error: the gateway timed out', undefined],
    ['worker.py:42: request refused', undefined],
    ['Killed', undefined],
  ];
  for (const [line, words] of lines)
    test(`${line}: ${words ?? 'its own'}`, () => assert.equal(sharedCause(facts, line), words));

  const causes: readonly (readonly [string, string | undefined])[] = [
    [
      'Image registry.example.org/report:2.0 cannot be pulled',
      'Image registry.example.org/report:2.0 cannot be pulled',
    ],
    ['Image a/report:2.0 cannot be pulled: the registry has no such image', 'Image a/report:2.0 cannot be pulled'],
    ['Secret db-password is missing', 'Secret db-password is missing in prod'],
    ['Quota batch is used up', 'Quota batch is used up in prod'],
    ['The cluster refused the Job: forbidden: exceeded quota: batch, requested: 1', 'Quota batch is used up in prod'],
    [
      "0/5 nodes are available: 5 node(s) didn't match Pod's node affinity/selector",
      "No node takes their pods: 5 node(s) didn't match Pod's node affinity/selector",
    ],
    ['Volume data cannot be mounted', 'Volume data cannot be mounted in prod'],
    ['Its pod was evicted from node node-1', 'Node node-1 evicts their pods'],
    ['Killed at 256 Mi in 2 attempts', undefined],
    ['exit code 1, Error', undefined],
  ];
  for (const [cause, words] of causes)
    test(`${cause}: ${words ?? 'its own'}`, () => assert.equal(sharedCause({ ...facts, cause }), words));

  test('is the node, registry or webhook that a fault concerns, whatever each of them says', () => {
    assert.equal(
      sharedCause({ ...facts, cause: 'Image a:1 cannot be pulled', scope: 'registry ghcr.io' }),
      'Registry ghcr.io does not serve their images',
    );
    assert.equal(sharedCause({ ...facts, scope: 'namespace prod' }), undefined);
  });
});
