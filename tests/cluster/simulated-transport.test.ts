import assert from 'node:assert/strict';
import { createServer, request as askOverTls } from 'node:https';
import { connect } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { describe, test } from 'node:test';
import { createSimCluster } from '@cronjob-monitor/simcluster';
import { makeAuthority } from '../servers/certificates.ts';

const path = '/api/v1/namespaces/default';

describe('the simulated cluster over TLS', () => {
  test('serves HTTP/1.1 and HTTP/2 with the certificate it was given', async (t) => {
    const authority = await makeAuthority();
    const { certificate: cert, key } = await authority.issue(['127.0.0.1']);
    const cluster = createSimCluster({ tls: { cert, key } });
    await cluster.start();
    t.after(() => cluster.stop());
    assert.match(cluster.url, /^https:/);

    const status = await new Promise((resolve, reject) => {
      const asked = askOverTls(new URL(path, cluster.url), { ca: authority.certificate, agent: false }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      });
      asked.on('error', reject).end();
    });
    assert.equal(status, 200);

    const session = connect(cluster.url, { ca: authority.certificate });
    const stream = session.request({ ':path': path });
    let text = '';
    for await (const chunk of stream.setEncoding('utf8')) text += String(chunk);
    session.close();
    assert.equal((JSON.parse(text) as { kind: string }).kind, 'Namespace');
  });
});

test('the simulated cluster asks the kubelet that a node names for the logs of its pods', async (t) => {
  const authority = await makeAuthority();
  const { certificate: cert, key } = await authority.issue(['127.0.0.1']);
  const asked: string[] = [];
  const kubelet = createServer({ cert, key }, (request, response) => {
    asked.push(request.url ?? '');
    if (request.url?.includes('previous=true') === true)
      response.writeHead(400).end('previous terminated container not found');
    else response.end('from the node\n');
  });
  await new Promise<void>((resolve) => kubelet.listen(0, '127.0.0.1', resolve));
  t.after(() => kubelet.close());
  const cluster = createSimCluster();
  await cluster.start();
  t.after(() => cluster.stop());
  const { port } = kubelet.address() as AddressInfo;
  const status = {
    addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
    daemonEndpoints: { kubeletEndpoint: { Port: port } },
  };
  cluster.objects.put({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'far' }, status });
  cluster.objects.put({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p' },
    spec: { nodeName: 'far', containers: [{ name: 'main', image: 'i' }] },
  });
  const log = `${cluster.url}${path}/pods/p/log`;
  assert.equal(await (await fetch(`${log}?tailLines=5`)).text(), 'from the node\n');
  const refused = (await (await fetch(`${log}?previous=true`)).json()) as { code: number; message: string };
  assert.deepEqual([refused.code, refused.message], [400, 'previous terminated container not found']);
  assert.match(asked[0] ?? '', /^\/containerLogs\/default\/p\/main\?.*tailLines=5/);
});
