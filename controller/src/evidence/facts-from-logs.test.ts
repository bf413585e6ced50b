import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodFacts } from '@cronjob-monitor/shared/domain';
import { ClusterError } from '@cronjob-monitor/shared/kube';
import { aContainer, anEnd, aPod, FakeClock } from '@cronjob-monitor/shared/testing';
import { readFactsOfLogs } from './facts-from-logs.ts';
import { createReadPool } from './read-pool.ts';

const ended = (name: string, containers: readonly string[] = ['main']): PodFacts =>
  aPod({
    uid: name,
    name,
    phase: 'Succeeded',
    containers: [
      aContainer({ name: 'prepare', init: true, terminated: anEnd(0) }),
      ...containers.map((container) => aContainer({ name: container, terminated: anEnd(0) })),
    ],
  });

/** Logs by pod and container; what is missing cannot be read. */
async function read(logs: Readonly<Record<string, string>>, pods: readonly PodFacts[]) {
  const asked: string[] = [];
  const cluster = {
    async readLog({ pod, container, tailLines }: { pod: string; container: string; tailLines: number }) {
      asked.push(`${pod}/${container} ${tailLines}`);
      const log = logs[`${pod}/${container}`];
      if (log === undefined) throw new ClusterError('notFound', { verb: 'get', resource: 'pods/log', message: '404' });
      return (async function* () {
        yield Buffer.from(log);
      })();
    },
  } as never;
  const pool = createReadPool({ concurrency: 1, perNode: 1 });
  const deps = { cluster, pool, clock: new FakeClock(), timeoutMs: 1_000, signal: new AbortController().signal };
  const { values, problems } = await readFactsOfLogs({ namespace: 'prod' }, pods, deps);
  return { asked, values: Object.fromEntries(values), problems };
}

test('the ends of the logs of regular containers are read; later containers win, and pods add up', async () => {
  const logs = {
    'a/main': 'hello\n::cronjob-monitor rows=1 bytes=2\n',
    'a/second': '::cronjob-monitor rows=3',
    'b/main': '::cronjob-monitor rows=4\nbye',
    'b/second': '',
  };
  const both = ['main', 'second'];
  assert.deepEqual(await read(logs, [ended('a', both), ended('b', both)]), {
    asked: ['a/main 20', 'a/second 20', 'b/main 20', 'b/second 20'],
    values: { rows: 7, bytes: 2 },
    problems: [],
  });
});

test('a log that cannot be read leaves the run without facts, and says so', async () => {
  const { values, problems } = await read({ 'a/main': '::cronjob-monitor rows=1' }, [ended('a'), ended('b')]);
  assert.deepEqual([values, problems], [{}, ['the log of container main could not be read: podGone']]);
});

test('logs of more than 20 pods are not read, for a sum of some of them would be wrong', async () => {
  const pods = Array.from({ length: 21 }, (_, index) => ended(`p${index}`));
  const { asked, problems } = await read({}, pods);
  assert.deepEqual([asked, problems], [[], ['its 21 pods are more than the 20 whose logs are read for facts']]);
});

test('a log that says nothing tells that the run has no facts', async () => {
  assert.deepEqual(await read({ 'a/main': 'nothing to see' }, [ended('a')]), {
    asked: ['a/main 20'],
    values: {},
    problems: [],
  });
});
