import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock, RecordingLogger, settle } from '../testing/index.ts';
import { createLifecycle } from './lifecycle.ts';

function aLifecycle() {
  const clock = new FakeClock();
  const logger = new RecordingLogger();
  const failures: string[] = [];
  const lifecycle = createLifecycle({ clock, logger, onFailure: (name) => failures.push(name) });
  const ended: string[] = [];
  return { clock, logger, lifecycle, failures, ended };
}

test('stops run in reverse, one after the other', async () => {
  const { lifecycle, ended, clock } = aLifecycle();
  for (const name of ['database', 'cache', 'listener']) {
    lifecycle.onStop(name, async () => {
      ended.push(`${name} begins`);
      await settle(2);
      ended.push(`${name} ended`);
    });
  }
  assert.equal(await lifecycle.stop(), true);
  assert.deepEqual(ended, [
    'listener begins',
    'listener ended',
    'cache begins',
    'cache ended',
    'database begins',
    'database ended',
  ]);
  assert.equal(clock.sleepers, 0);
});

test('a stop that takes too long is given up by name, and the others follow', async () => {
  const { lifecycle, ended, clock, logger } = aLifecycle();
  let wasToldToHurry = false;
  lifecycle.onStop('database', () => void ended.push('database'));
  lifecycle.onStop(
    'dispatcher',
    (signal) => {
      signal.addEventListener('abort', () => (wasToldToHurry = true));
      return new Promise(() => {});
    },
    { stopMs: 15_000 },
  );
  const stopped = lifecycle.stop();
  await clock.advance(14_999);
  assert.deepEqual(ended, []);
  await clock.advance(1);
  assert.equal(await stopped, false);
  assert.deepEqual(ended, ['database']);
  assert.equal(wasToldToHurry, true);
  assert.deepEqual(logger.lines[0]?.fields, { name: 'dispatcher', stopMs: 15_000 });
});

test('a stop that throws is told, and the others follow', async () => {
  const { lifecycle, ended, logger } = aLifecycle();
  lifecycle.onStop('database', () => void ended.push('database'));
  lifecycle.onStop('cache', () => {
    throw new Error('broken');
  });
  assert.equal(await lifecycle.stop(), false);
  assert.deepEqual(ended, ['database']);
  assert.equal(logger.lines[0]?.message, 'a stop failed');
});

test('a start that fails half-way stops what it had started, and its error comes out', async () => {
  const { lifecycle, ended } = aLifecycle();
  const start = async () => {
    lifecycle.onStop('database', () => void ended.push('database'));
    await settle(1);
    lifecycle.onStop('cache', () => void ended.push('cache'));
    throw new Error('no port');
  };
  await assert.rejects(lifecycle.start(start), /no port/);
  assert.deepEqual(ended, ['cache', 'database']);
  assert.equal(lifecycle.stopping.aborted, true);
});

test('what is started while stopping is stopped at once', async () => {
  const { lifecycle, ended } = aLifecycle();
  lifecycle.onStop('slow', () => settle(4));
  const stopped = lifecycle.stop();
  lifecycle.onStop('late', () => void ended.push('late'));
  assert.equal(await stopped, true);
  assert.deepEqual(ended, ['late']);
});

test('a second stop waits for the first and stops nothing twice', async () => {
  const { lifecycle, ended } = aLifecycle();
  lifecycle.onStop('database', () => void ended.push('database'));
  assert.deepEqual(await Promise.all([lifecycle.stop(), lifecycle.stop()]), [true, true]);
  assert.deepEqual(ended, ['database']);
});

test('stopping aborts what waits, and awaits its end', async () => {
  const { lifecycle, clock, ended, failures } = aLifecycle();
  const loop = async () => {
    try {
      await clock.sleep(60_000, lifecycle.stopping);
    } finally {
      ended.push('loop');
    }
  };
  lifecycle.background('loop', loop());
  assert.equal(await lifecycle.stop(), true);
  assert.deepEqual(ended, ['loop']);
  assert.deepEqual(failures, []);
});

test('work in the background that does not end in its time is given up by name', async () => {
  const { lifecycle, clock, logger } = aLifecycle();
  lifecycle.background('stuck loop', new Promise(() => {}));
  const stopped = lifecycle.stop();
  await clock.advance(5000);
  assert.equal(await stopped, false);
  assert.deepEqual(logger.lines[0]?.fields, { name: 'stuck loop', stopMs: 5000 });
});

test('work in the background that fails is told, and ends the process once', async () => {
  const { lifecycle, failures, logger } = aLifecycle();
  lifecycle.background('first', Promise.reject(new Error('broken')));
  lifecycle.background('second', Promise.reject(new Error('broken too')));
  lifecycle.background('third', Promise.resolve());
  await settle();
  assert.deepEqual(failures, ['first']);
  assert.equal(logger.lines.filter(({ level }) => level === 'error').length, 2);
  assert.equal(await lifecycle.stop(), false);
});

test('an error of work while stopping is told, unless it is the abort', async () => {
  const { lifecycle, logger, failures } = aLifecycle();
  const fails = async () => {
    await settle(1);
    lifecycle.stopping.throwIfAborted();
  };
  lifecycle.background('aborted', fails());
  lifecycle.background(
    'broken',
    settle(2).then(() => Promise.reject(new Error('broken'))),
  );
  assert.equal(await lifecycle.stop(), true);
  assert.deepEqual(
    logger.lines.map(({ level, fields }) => [level, fields['name']]),
    [
      ['debug', 'aborted'],
      ['error', 'broken'],
    ],
  );
  assert.deepEqual(failures, []);
});
