import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { EventEmitter } from 'node:events';
import { FakeClock, RecordingLogger, settle } from '../testing/index.ts';
import { installSignals } from './run-process.ts';

const paths = ['run-process.ts', 'logger.ts', 'clock.ts'].map((name) => fileURLToPath(new URL(name, import.meta.url)));

/** Runs a process of its own whose wiring is `compose`; `signal` is sent when it says `ready`. */
async function run(compose: string, signal?: NodeJS.Signals): Promise<{ status: number | null; lines: string[] }> {
  const script = `
    import { runProcess } from '${paths[0]}';
    import { createLogger } from '${paths[1]}';
    import { systemClock as clock } from '${paths[2]}';
    const logger = createLogger({ level: 'info', format: 'text', clock });
    await runProcess({ logger, compose: async (lifecycle) => { ${compose} } });`;
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
    'a rejected promise was not handled',
    "Promise.reject(new Error('lost'));",
    'a rejected promise was not handled error={"code":"Error","message":"lost"}',
  ],
  [
    'an error was not caught',
    "queueMicrotask(() => { throw new Error('lost'); });",
    'an error was not caught error={"code":"Error","message":"lost"}',
  ],
] as const) {
  test(`${what} is told, and ends the process with 1 after its stops`, async () => {
    const { status, lines } = await run(`${wired} ${broken}`);
    assert.equal(status, 1);
    assert.deepEqual([...lines].sort(), ['stopped', told].sort());
  });
}

/** A process whose stop ends when `end` is called. */
function aProcess() {
  const clock = new FakeClock();
  const source = new EventEmitter();
  const exits: number[] = [];
  let end: (good: boolean) => void = () => {};
  let stops = 0;
  const lifecycle = {
    stop: () => {
      stops += 1;
      return new Promise<boolean>((resolve) => {
        end = resolve;
      });
    },
  };
  const ending = installSignals({
    lifecycle,
    clock,
    logger: new RecordingLogger(),
    source,
    exit: (status) => exits.push(status),
  });
  const finish = async (good: boolean) => {
    end(good);
    await settle();
  };
  return { clock, source, exits, ending, finish, stops: () => stops };
}

for (const signal of ['SIGTERM', 'SIGINT']) {
  test(`${signal} stops in order and ends with 0`, async () => {
    const { source, exits, finish, clock, stops } = aProcess();
    source.emit(signal);
    await settle();
    assert.equal(stops(), 1);
    assert.deepEqual(exits, []);
    await finish(true);
    assert.deepEqual(exits, [0]);
    assert.equal(clock.sleepers, 0);
  });
}

test('a stop in which something failed ends with 1', async () => {
  const { source, exits, finish } = aProcess();
  source.emit('SIGTERM');
  await finish(false);
  assert.deepEqual(exits, [1]);
});

test('one signal that several programs hand on is one stop', async () => {
  const { source, exits, stops, finish, clock } = aProcess();
  source.emit('SIGINT');
  source.emit('SIGTERM');
  await clock.advance(1_999);
  source.emit('SIGINT');
  assert.deepEqual(exits, []);
  assert.equal(stops(), 1);
  await finish(true);
  assert.deepEqual(exits, [0]);
});

test('a second signal ends at once with 1', async () => {
  const { source, exits, stops, clock } = aProcess();
  source.emit('SIGTERM');
  await clock.advance(2_000);
  source.emit('SIGINT');
  assert.deepEqual(exits, [1]);
  assert.equal(stops(), 1);
});

test('a stop of 40 s ends with 1', async () => {
  const { source, exits, clock } = aProcess();
  source.emit('SIGTERM');
  await clock.advance(39_999);
  assert.deepEqual(exits, []);
  await clock.advance(1);
  assert.deepEqual(exits, [1]);
});

test('a stop that the process asks for itself ends with its status, once', async () => {
  const { ending, exits, finish, stops } = aProcess();
  ending.stop(1);
  ending.stop(0);
  await finish(true);
  assert.deepEqual(exits, [1]);
  assert.equal(stops(), 1);
});

test('signals are left alone again', () => {
  const { ending, source } = aProcess();
  ending.dispose();
  assert.equal(source.listenerCount('SIGTERM') + source.listenerCount('SIGINT'), 0);
});
