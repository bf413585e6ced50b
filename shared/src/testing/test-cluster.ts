import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { createCluster, type ClusterOptions } from '../kube/client.ts';
import type { Cluster, LeaseRecord } from '../kube/cluster.ts';
import { FakeClock } from './fake-clock.ts';
import { kubeconfigText } from './kubeconfig.ts';
import { RecordingLogger } from './recording-logger.ts';
import { aTemporaryFolder } from './temporary-folder.ts';
import { TestServer } from './test-server.ts';

/** The real client in front of a server that answers what the test says; both end with the test, which fails when a timer is left. */
export async function startTestCluster(
  t: TestContext,
  options: Partial<ClusterOptions> = {},
  path = '',
): Promise<{ server: TestServer; clock: FakeClock; cluster: Cluster }> {
  const server = await TestServer.start();
  const clock = new FakeClock();
  const cluster = createCluster({
    kubeconfig: join(
      aTemporaryFolder(t, { config: kubeconfigText({ server: `${server.url}${path}`, namespace: 'own' }) }),
      'config',
    ),
    clock,
    logger: new RecordingLogger(),
    ...options,
  });
  t.after(async () => {
    await cluster.close();
    await server.stop();
    assert.equal(clock.sleepers, 0, 'no timer is left');
  });
  return { server, clock, cluster };
}

/** A stream of the API server as text, to its end. */
export async function readAll(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

/** One that is held. */
export const aLease: LeaseRecord = {
  resourceVersion: '5',
  holder: 'pod_1',
  leaseDurationSeconds: 15,
  acquireTime: '2026-11-21T07:53:00.000Z',
  renewTime: '2026-11-21T07:53:10.123456Z',
  transitions: 2,
};
