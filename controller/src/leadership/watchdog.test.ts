import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { FakeClock } from '@cronjob-monitor/shared/testing';
import { startWatchdog } from './watchdog.ts';

const watchdogUrl = new URL('./watchdog.ts', import.meta.url).href;

/** Beats as a clock does. Like all else in the process they do not keep it alive. */
const regular =
  'const timer = setInterval(fn, ms).unref(); signal.addEventListener("abort", () => clearInterval(timer));';
/** Beats without a pause: the first thing the process does when it wakes is to raise the counter. */
const restless = 'const again = () => { fn(); setImmediate(again); }; again();';

/** A process with a watchdog of that limit, which then does what `act` says. */
function aProcess(t: TestContext, stallMs: number, act: string, beats = regular): ChildProcess {
  const program = `
    import { startWatchdog } from ${JSON.stringify(watchdogUrl)};
    const clock = { every(ms, fn, signal) { ${beats} } };
    const stop = new AbortController();
    await startWatchdog({ clock, stallMs: ${stallMs}, lastWords: 'stalled' }, stop.signal);
    process.stdout.write('started');
    ${act}
  `;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.after(() => child.kill('SIGKILL'));
  return child;
}

async function ended(
  child: ChildProcess,
): Promise<{ readonly signal: string | null; readonly atMs: number; readonly words: string }> {
  let words = '';
  child.stderr?.on('data', (bytes: Buffer) => (words += bytes.toString()));
  const [, signal] = (await once(child, 'close')) as [number | null, string | null];
  return { signal, atMs: performance.now(), words };
}

test('a process whose event loop stands still is ended hard, with its last words', async (t) => {
  const child = aProcess(t, 400, 'setTimeout(() => { for (;;); }, 50);');
  const { signal, words } = await ended(child);
  assert.equal(signal, 'SIGKILL');
  assert.equal(words, 'stalled\n');
});

test('a process whose event loop turns lives on, and can end by itself', async (t) => {
  const child = aProcess(t, 1_500, 'setTimeout(() => {}, 2_500);');
  const { signal, words } = await ended(child);
  assert.equal(signal, null);
  assert.equal(words, '');
  assert.equal(child.exitCode, 0, 'the thread keeps no process alive');
});

test('a process that was stopped for longer than the limit ends within a second after it wakes', async (t) => {
  const child = aProcess(t, 1_000, '', restless);
  assert.ok(child.stdout);
  await once(child.stdout, 'data');
  const end = ended(child);
  child.kill('SIGSTOP');
  await new Promise((resolve) => setTimeout(resolve, 1_600));
  assert.equal(child.signalCode, null);
  const wokenAtMs = performance.now();
  child.kill('SIGCONT');
  const { signal, atMs } = await end;
  assert.equal(signal, 'SIGKILL');
  assert.ok(atMs - wokenAtMs <= 1_000, `${atMs - wokenAtMs} ms`);
});

test('a watchdog that was told to end watches no more', async (t) => {
  const child = aProcess(t, 400, 'stop.abort(); const until = Date.now() + 1_000; while (Date.now() < until);');
  const { signal } = await ended(child);
  assert.equal(signal, null);
  assert.equal(child.exitCode, 0);
});

for (const [when, abort] of [
  ['before it starts', (stop: AbortController) => stop.abort()],
  ['before its thread watches', (stop: AbortController) => void setImmediate(() => stop.abort())],
] as const) {
  test(`a process that is told to end ${when} waits for no thread`, async () => {
    const clock = new FakeClock(0);
    const stop = new AbortController();
    abort(stop);
    const started = startWatchdog({ clock }, stop.signal);
    await assert.rejects(started, { name: 'AbortError' });
  });
}
