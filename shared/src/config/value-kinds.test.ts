import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { anyText, bool, duration, int, list, oneOf, text, type Given, type ValueKind } from './value-kinds.ts';

/** The value of a text, or the words about what is wrong. */
function reading<T>(kind: ValueKind<T>, given: Given): T | string {
  const parsed = kind.parse(given);
  return 'value' in parsed ? parsed.value : parsed.problem;
}

describe('bool', () => {
  test('is true or false in exactly this spelling', () => {
    assert.equal(reading(bool, 'true'), true);
    assert.equal(reading(bool, 'false'), false);
    for (const wrong of ['True', 'yes', '1', '', ' true']) {
      assert.equal(reading(bool, wrong), 'is neither true nor false', wrong);
    }
  });
});

describe('int', () => {
  const port = int(1, 65_535);

  test('reads decimal numbers within its bounds, both included', () => {
    assert.equal(reading(port, '1'), 1);
    assert.equal(reading(port, '65535'), 65_535);
    assert.equal(reading(port, '0'), 'is out of range');
    assert.equal(reading(port, '65536'), 'is out of range');
    assert.equal(reading(port, '-1'), 'is out of range');
    assert.equal(port.allowed, '1 to 65535');
  });

  test('refuses every other writing of a number', () => {
    for (const wrong of ['', ' 80', '80 ', '0x50', '1e3', '8_0', '80.0', 'eighty', '٨٠']) {
      assert.equal(reading(port, wrong), 'is not a number', wrong);
    }
  });

  test('without an upper bound takes whatever a number holds exactly', () => {
    assert.equal(int(0).allowed, '0 or more');
    assert.equal(reading(int(0), '9007199254740991'), Number.MAX_SAFE_INTEGER);
    assert.equal(reading(int(0), '9007199254740992'), 'is out of range');
  });
});

describe('duration', () => {
  const interval = duration({ min: '1s', max: '24h' });

  test('reads Go syntax, days and weeks as milliseconds', () => {
    assert.equal(reading(interval, '90s'), 90_000);
    assert.equal(reading(interval, '1h30m'), 5_400_000);
    assert.equal(reading(interval, '1d'), 86_400_000);
    assert.equal(reading(duration(), '2w'), 1_209_600_000);
  });

  test('refuses a number without a unit, with an example', () => {
    assert.deepEqual(interval.parse('90'), { problem: 'is no duration', example: 'such as 90s' });
    for (const wrong of ['', '1 h', ' 1h', '-1h', '+1h', '1y', '293y', '2562048h']) {
      assert.equal(reading(interval, wrong), 'is no duration', wrong);
    }
  });

  test('keeps its bounds, both included', () => {
    assert.equal(reading(interval, '1s'), 1000);
    assert.equal(reading(interval, '24h'), 86_400_000);
    assert.equal(reading(interval, '999ms'), 'is out of range');
    assert.equal(reading(interval, '24h1ms'), 'is out of range');
  });

  test('takes zero, with a unit or bare, only where zero is allowed', () => {
    const grace = duration({ max: '1h', orZero: true });
    for (const zero of ['0', '0s', '0h']) assert.equal(reading(grace, zero), 0, zero);
    assert.equal(reading(duration(), '0s'), 'is not longer than zero');
    assert.equal(reading(duration(), '0'), 'is no duration');
  });

  test('asks for whole seconds where a record holds nothing finer', () => {
    const lease = duration({ min: '1s', wholeSeconds: true });
    assert.equal(reading(lease, '15s'), 15_000);
    assert.equal(reading(lease, '1500ms'), 'is not in whole seconds');
  });

  test('says what it takes', () => {
    assert.equal(interval.allowed, '1s to 24h');
    assert.equal(duration().allowed, 'longer than zero');
    assert.equal(duration({ orZero: true }).allowed, '0 or longer');
    assert.equal(duration({ max: '1h', orZero: true }).allowed, '0 to 1h');
    assert.equal(duration({ min: '1s', wholeSeconds: true }).allowed, 'whole seconds, 1s or longer');
  });
});

describe('texts and words', () => {
  test('takes one of its words and nothing near it', () => {
    const level = oneOf('debug', 'info');
    assert.equal(reading(level, 'info'), 'info');
    for (const wrong of ['INFO', 'inf', '', 'info ']) assert.equal(reading(level, wrong), 'is unknown', wrong);
  });

  test('keeps spaces, and refuses an empty text unless any text is taken', () => {
    assert.equal(reading(text(), ' a '), ' a ');
    assert.equal(reading(text(), ''), 'is empty');
    assert.equal(reading(anyText, ''), '');
  });
});

describe('list', () => {
  const names = list({
    allowed: 'small letters',
    problem: 'is not in small letters',
    fits: (item) => /^[a-z]+$/.test(item),
  });

  test('splits a text at commas and keeps the items of a list', () => {
    assert.deepEqual(reading(names, 'a,b'), ['a', 'b']);
    assert.deepEqual(reading(names, ['a', 'b']), ['a', 'b']);
    assert.deepEqual(reading(list(), ['a,b']), ['a,b']);
  });

  test('is empty for an empty text', () => {
    assert.deepEqual(reading(names, ''), []);
    assert.deepEqual(reading(names, []), []);
  });

  test('names the item that does not fit; spaces belong to an item', () => {
    assert.equal(reading(names, 'a,B'), 'has "B", which is not in small letters');
    assert.equal(reading(names, 'a, b'), 'has " b", which is not in small letters');
    assert.equal(reading(names, 'a,,b'), 'has an empty item');
  });

  test('has at most as many items as allowed', () => {
    assert.equal(reading(list(undefined, 2), 'a,b,c'), 'has more than 2 items');
  });
});
