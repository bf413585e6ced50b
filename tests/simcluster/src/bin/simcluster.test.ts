import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('simcluster.ts', import.meta.url));

test('the program prints its URL, serves those who know its token, and ends when it is told to', async (t) => {
  const child = spawn(process.execPath, [program, '--port', '0', '--token', 'secret', '--node', 'n1'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  const [url] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  assert.match(url, /^http:\/\/127\.0\.0\.1:\d+$/);
  const answer = await fetch(`${url}/api/v1/nodes/n1`, { headers: { authorization: 'Bearer secret' } });
  assert.equal(answer.status, 200);
  await answer.text();
  assert.equal((await fetch(`${url}/api/v1/nodes`, { headers: { authorization: 'Bearer wrong' } })).status, 401);
  child.kill('SIGTERM');
  const [code] = (await once(child, 'exit')) as [number | null];
  assert.equal(code, 0);
});
