import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { aTemporaryFolder } from '@cronjob-monitor/shared/testing';
import { takeFolder } from './one-start.ts';

const address = 'http://127.0.0.1:8080/';

test('while one start has the folder a second is told which process has it and where its pages are', async (t) => {
  const folder = aTemporaryFolder(t);
  const first = await startElsewhere(t, folder);
  const second = takeFolder(folder, 'http://127.0.0.1:9090/');
  assert.match(String(second), new RegExp(`runs already: process ${first.pid}, ${address}\n.+Ctrl-C`));
});

test('the folder of a start that was killed is free', async (t) => {
  const folder = aTemporaryFolder(t);
  const first = await startElsewhere(t, folder);
  first.kill('SIGKILL');
  await once(first, 'exit');
  assert.equal(takeFolder(folder, address), undefined);
});

async function startElsewhere(t: TestContext, folder: string) {
  const module = fileURLToPath(new URL('one-start.ts', import.meta.url));
  const program = `
    const { takeFolder } = await import(${JSON.stringify(module)});
    console.log(takeFolder(${JSON.stringify(folder)}, ${JSON.stringify(address)}) ?? 'taken');
    setInterval(() => {}, 1000);`;
  const started = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => void started.kill('SIGKILL'));
  const [said] = (await once(started.stdout, 'data')) as [Buffer];
  assert.equal(String(said), 'taken\n');
  return started;
}
