import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createClock } from './sim-clock.ts';

describe('virtual time', () => {
  test('stands still until it is advanced, and then stands where it was told', () => {
    const clock = createClock(1_000);
    assert.equal(clock.now(), 1_000);
    clock.advanceBy(500);
    assert.equal(clock.now(), 1_500);
    clock.advanceTo(1_200);
    assert.equal(clock.now(), 1_500, 'never back');
  });

  test('calls what is due in the order of the instants, and in the order of asking within one', () => {
    const clock = createClock(0);
    const calls: string[] = [];
    const note = (name: string) => () => calls.push(`${name}@${clock.now()}`);
    clock.callAt(20, note('late'));
    clock.callAt(10, note('first'));
    clock.callAt(10, note('second'));
    clock.callAt(30, note('beyond'));
    clock.advanceTo(20);
    assert.deepEqual(calls, ['first@10', 'second@10', 'late@20']);
  });

  test('calls what a call asks for, if that is due too', () => {
    const clock = createClock(0);
    const calls: number[] = [];
    clock.callAt(10, () => clock.callAt(15, () => calls.push(clock.now())));
    clock.advanceTo(15);
    assert.deepEqual(calls, [15]);
  });

  test('does not call what was cancelled, nor anything after its stop', () => {
    const clock = createClock(0);
    let calls = 0;
    clock.callAt(10, () => calls++).cancel();
    clock.callAt(20, () => calls++);
    clock.stop();
    clock.callAt(30, () => calls++);
    clock.advanceTo(100);
    assert.equal(calls, 0);
  });

  test('knows during an advance how far there will be no look', () => {
    const clock = createClock(0);
    const horizons: number[] = [clock.horizon];
    clock.callAt(10, () => horizons.push(clock.horizon));
    clock.advanceTo(1_000);
    horizons.push(clock.horizon);
    assert.deepEqual(horizons, [0, 1_000, 1_000]);
  });

  test('runs by itself once it follows the wall clock, as much faster as it is told', async () => {
    const clock = createClock(5_000);
    clock.follow(1_000);
    await new Promise<void>((resolve) => clock.callAt(5_000 + 3_600, resolve));
    assert.ok(clock.now() >= 8_600);
    assert.throws(() => clock.advanceBy(1), /follows the wall clock/);
    clock.stop();
  });

  test('calls what is due in the order of the instants even when the process was too busy to come in time', async () => {
    const clock = createClock(0);
    clock.follow();
    const calls: string[] = [];
    clock.callAt(10, () => clock.callAt(clock.now() + 5, () => calls.push(`asked for at 10, due at ${clock.now()}`)));
    clock.callAt(20, () => calls.push(`due at ${clock.now()}`));
    const busyUntil = performance.now() + 60;
    while (performance.now() < busyUntil);
    await new Promise<void>((resolve) => clock.callAt(70, resolve));
    assert.deepEqual(calls, ['asked for at 10, due at 15', 'due at 20']);
    clock.stop();
  });

  test('is the wall clock when no start is given', async () => {
    const clock = createClock();
    const before = clock.now();
    await new Promise<void>((resolve) => clock.callAt(before + 5, resolve));
    assert.ok(clock.now() - before >= 5);
    clock.stop();
  });
});
