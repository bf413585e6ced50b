import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { aTemporaryFolder, FakeClock, kubeconfigText, RecordingLogger, TestServer } from '../testing/index.ts';
import { createCluster } from './client.ts';
import type { Answered } from './exchange.ts';

const never = new AbortController().signal;

test('every request is told with its status, one without an answer with none', async (t) => {
  const server = await TestServer.start();
  const heard: Answered[] = [];
  const cluster = createCluster({
    kubeconfig: join(aTemporaryFolder(t, { config: kubeconfigText({ server: server.url }) }), 'config'),
    clock: new FakeClock(),
    logger: new RecordingLogger(),
    answered: (answer) => heard.push(answer),
  });
  const told = () => heard.map(({ verb, resource, status }) => [verb, resource, status]);

  server.answer = () => ({ body: { gitVersion: 'v1' } });
  await cluster.version(never);
  server.answer = () => ({ status: 403, body: {} });
  await assert.rejects(cluster.findCronJob({ namespace: 'a', name: 'b' }, never));
  server.answer = (_request, stream) => {
    stream.begin();
    stream.write('{"half":');
    stream.cut();
    return 'streamed';
  };
  await assert.rejects(cluster.version(never));
  server.answer = (_request, stream) => {
    stream.begin();
    stream.write('a line\n');
    stream.end();
    return 'streamed';
  };
  const log = await cluster.readLog({ namespace: 'a', pod: 'p', container: 'c' }, never);
  assert.equal(heard.length, 4, 'a stream is told when it begins');
  for await (const chunk of log) assert.equal(String(chunk), 'a line\n');
  await cluster.close();
  await server.stop();
  assert.deepEqual(told(), [
    ['get', 'version', 200],
    ['get', 'cronjobs', 403],
    ['get', 'version', undefined],
    ['get', 'pods/log', 200],
  ]);
  assert.ok(heard.every(({ tookMs }) => tookMs >= 0));
});
