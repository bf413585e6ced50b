import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Outcome } from '@cronjob-monitor/controller/channels';
import { aTemporaryFolder } from '@cronjob-monitor/shared/testing';
import { Child, makeAuthority } from '../servers/index.ts';
import { HttpSink, startPagingSink, startWebhookSink } from '../sinks/index.ts';

/** What a process with this environment makes of one message. */
async function sendFrom(env: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<Outcome> {
  const script = join(import.meta.dirname, 'send-once.ts');
  const child = new Child({ command: process.execPath, args: [script, ...args], env });
  await child.ended();
  const line = child.output.split('\n').findLast((text) => text.startsWith('{'));
  assert.ok(line !== undefined, child.output);
  return JSON.parse(line) as Outcome;
}

test('a proxy of the environment is not asked', async (t) => {
  const [proxy, receiver] = [await HttpSink.start(), await startWebhookSink()];
  t.after(() => Promise.all([proxy.stop(), receiver.stop()]));
  const env = { NODE_USE_ENV_PROXY: '1', HTTP_PROXY: proxy.url, http_proxy: proxy.url, NO_PROXY: '', no_proxy: '' };
  assert.equal((await sendFrom(env, 'webhook', receiver.url)).kind, 'delivered');
  assert.deepEqual([proxy.connections, receiver.arrivals.length], [0, 1]);
});

test('NODE_EXTRA_CA_CERTS makes an authority of the house trusted, and no variable switches verification off', async (t) => {
  const authority = await makeAuthority();
  const file = 'authority.pem';
  const folder = aTemporaryFolder(t, { [file]: authority.certificate });
  const receiver = await startPagingSink({ tls: await authority.issue(['localhost']) });
  t.after(() => receiver.stop());
  const trusting = await sendFrom({ NODE_EXTRA_CA_CERTS: join(folder, file) }, 'paging', receiver.url);
  assert.deepEqual([trusting.kind, trusting.kind === 'delivered' && trusting.httpStatus], ['delivered', 202]);
  const careless = await sendFrom({ NODE_TLS_REJECT_UNAUTHORIZED: '0' }, 'paging', receiver.url);
  assert.ok(careless.kind === 'failed' && careless.category === 'tls');
  assert.equal(receiver.arrivals.length, 1);
});
