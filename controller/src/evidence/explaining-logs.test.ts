import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Evidence } from '@cronjob-monitor/shared/domain';
import { aContainer, aPod } from '@cronjob-monitor/shared/testing';
import { explainingLogs } from './run-explaining.ts';

const log = (name: string, body: string | undefined = `log of ${name}`): Evidence => ({
  owner: 'run',
  kind: 'logs',
  name,
  cronJobUid: 'c',
  createdAt: 0,
  capturedAt: 0,
  body,
  truncated: false,
  unavailable: body === undefined ? 'podGone' : undefined,
});
const missing = (name: string): Evidence => ({ ...log(name), body: undefined, unavailable: 'podGone' });
const pods = ['old', 'new'].map((name) =>
  aPod({
    name,
    containers: [
      aContainer({ name: 'fetch', init: true }),
      aContainer({ name: 'check', init: true }),
      aContainer({ name: 'main' }),
      aContainer({ name: 'worker' }),
    ],
  }),
);
const causeOf = (index: number, container: string) => ({ pod: pods[index], container });

const cases: { says: string; cause: ReturnType<typeof causeOf>; pieces: Evidence[]; main?: string; init?: string[] }[] =
  [
    {
      says: 'the container that failed is heard, whatever was read after it',
      cause: causeOf(0, 'worker'),
      pieces: [log('old/worker'), log('new/main')],
      main: 'old/worker',
    },
    {
      says: 'with the init containers of its pod, in their order',
      cause: causeOf(1, 'main'),
      pieces: [log('old/fetch'), log('new/main'), log('new/check'), log('new/fetch')],
      main: 'new/main',
      init: ['new/fetch', 'new/check'],
    },
    {
      says: 'when its log is gone the last one of a regular container is',
      cause: causeOf(1, 'main'),
      pieces: [log('old/main'), log('old/fetch'), missing('new/main')],
      main: 'old/main',
      init: ['old/fetch'],
    },
    {
      says: 'an init container that failed is not told twice',
      cause: causeOf(1, 'fetch'),
      pieces: [log('new/fetch')],
      main: 'new/fetch',
    },
    {
      says: 'what only says why there is none is better than nothing',
      cause: causeOf(1, 'main'),
      pieces: [missing('new/main')],
      main: 'new/main',
    },
    { says: 'without any there is none', cause: causeOf(1, 'main'), pieces: [] },
  ];

for (const { says, cause, pieces, main, init = [] } of cases) {
  test(`of the logs of a run: ${says}`, () => {
    const found = explainingLogs(cause, pieces, pods);
    assert.deepEqual([found.main?.name, found.init.map(({ name }) => name)], [main, init]);
  });
}
