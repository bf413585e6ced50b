import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { aTemporaryFolder } from './temporary-folder.ts';

const leakCheck = fileURLToPath(new URL('leak-check.ts', import.meta.url));

/** Runs one test file as `npm test` does. */
function run(t: TestContext, source: string): { status: number | null; output: string } {
  const folder = aTemporaryFolder(t, { 'x.test.mjs': `import { after, test } from 'node:test';\n${source}` });
  const flags = ['--import', leakCheck, '--test', '--test-force-exit', join(folder, 'x.test.mjs')];
  const { NODE_TEST_CONTEXT: _, ...env } = process.env; // Without it the child would report to our own runner.
  const { status, stdout, stderr } = spawnSync(process.execPath, flags, { cwd: folder, env, encoding: 'utf8' });
  return { status, output: stdout + stderr };
}

test('a file that closes what it opens passes, however it does so', (t) => {
  const { status, output } = run(
    t,
    `import net from 'node:net';
     const server = net.createServer((socket) => socket.end()).listen(0);
     after(() => server.close());
     test('connects', (t, done) => { net.connect(server.address().port, () => done()).on('error', done); });
     test('prints', () => { console.log('out'); console.error('err'); });
     test('waits', () => new Promise((resolve) => setTimeout(resolve, 10)));`,
  );
  assert.equal(status, 0, output);
});

test('a file that leaves a server or a timer behind fails by name', (t) => {
  const { status, output } = run(
    t,
    `import net from 'node:net';
     test('opens', () => { net.createServer().listen(0); setInterval(() => {}, 1000); });`,
  );
  assert.equal(status, 1);
  assert.match(output, /x\.test\.mjs leaves behind: TCPServerWrap x1, Timeout x1/);
});

test('a file whose tests are over before it is loaded fails, for the rest would be left out', (t) => {
  const { status, output } = run(
    t,
    `test('first', () => {});
     await new Promise((resolve) => setTimeout(resolve, 5000));
     test('second', () => {});`,
  );
  assert.equal(status, 1);
  assert.match(output, /x\.test\.mjs was not loaded to its end when its tests were over: no await before a test/);
});

test('a test that fails still fails', (t) => {
  assert.equal(run(t, `test('fails', () => { throw new Error('broken'); });`).status, 1);
});
