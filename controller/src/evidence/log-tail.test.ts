import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClusterError } from '@cronjob-monitor/shared/kube';
import { FakeClock } from '@cronjob-monitor/shared/testing';
import { readLogTail } from './log-tail.ts';
import { createReadPool } from './read-pool.ts';

test('a server that has too much to do is asked again for the log, and no run is told that its node is away', async () => {
  let asked = 0;
  const cluster = {
    async readLog() {
      if (++asked < 3) throw new ClusterError('throttled', { verb: 'get', resource: 'pods/log', message: '429' });
      return (async function* () {
        yield Buffer.from('no space left\n');
      })();
    },
  } as never;
  const tail = await readLogTail(
    { namespace: 'prod', pod: 'p', node: 'n', container: 'main', urgency: 'soon', tailLines: 10, maxBytes: 100 },
    { cluster, pool: createReadPool({ concurrency: 1, perNode: 1 }), clock: new FakeClock(), timeoutMs: 1_000 },
    new AbortController().signal,
  );
  assert.deepEqual([asked, 'bytes' in tail && Buffer.from(tail.bytes).toString()], [3, 'no space left\n']);
});
