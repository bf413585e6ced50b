import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { FakeClock, RecordingLogger, settle } from '../testing/index.ts';
import { installSignals } from './signals.ts';

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
