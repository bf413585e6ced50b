import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const paths = ['run-process.ts', 'logger.ts', 'clock.ts'].map((name) => fileURLToPath(new URL(name, import.meta.url)));

/** Runs a process of its own whose wiring is `compose`; `signal` is sent when it says `ready`. */
async function run(compose: string, signal?: NodeJS.Signals): Promise<{ status: number | null; lines: string[] }> {
  const script = `
    import { runProcess } from '${paths[0]}';
    import { createLogger } from '${paths[1]}';
    import { systemClock as clock } from '${paths[2]}';
    const logger = createLogger({ level: 'info', format: 'text', clock });
    await runProcess({ logger, heap: 'small', compose: async (lifecycle) => { ${compose} } });`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
    if (signal && text.includes('ready')) child.kill(signal);
  });
  const status = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return {
    status,
    lines: text
      .split('\n')
      .filter(Boolean)
      .map((line) => line.split(' ').slice(2).join(' ').trim()),
  };
}

/** A wiring that would run for ever, and tells when its stop has come. */
const wired = `
  lifecycle.onStop('listener', () => logger.info('stopped'));
  lifecycle.background('loop', clock.sleep(2 ** 40, lifecycle.stopping));`;

test('a signal stops what was started and ends the process with 0', async () => {
  const { status, lines } = await run(`${wired} logger.info('ready');`, 'SIGTERM');
  assert.equal(status, 0);
  assert.equal(lines.at(-1), 'stopped');
});

test('a signal during the start ends it too, with 0', async () => {
  const { status, lines } = await run(
    `${wired} logger.info('ready'); await clock.sleep(60_000, lifecycle.stopping);`,
    'SIGINT',
  );
  assert.equal(status, 0);
  assert.equal(lines.at(-1), 'stopped');
});

for (const [what, broken, told] of [
  ['a start that fails', "throw new Error('no port');", 'the start failed error={"code":"Error","message":"no port"}'],
  [
    'work in the background that fails',
    "lifecycle.background('watch', Promise.reject(new Error('gone')));",
    'work in the background failed name=watch error={"code":"Error","message":"gone"}',
  ],
  [
    'a rejection that nobody caught',
    "Promise.reject(new Error('lost'));",
    'a rejection that nobody caught error={"code":"Error","message":"lost"}',
  ],
  [
    'an error that nobody caught',
    "queueMicrotask(() => { throw new Error('lost'); });",
    'an error that nobody caught error={"code":"Error","message":"lost"}',
  ],
] as const) {
  test(`${what} is told, and ends the process with 1 after its stops`, async () => {
    const { status, lines } = await run(`${wired} ${broken}`);
    assert.equal(status, 1);
    assert.deepEqual([...lines].sort(), ['stopped', told].sort());
  });
}
