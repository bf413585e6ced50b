import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '../testing/index.ts';
import { createLogger, type LoggerOptions } from './logger.ts';

function aLog(options: Partial<LoggerOptions> = {}) {
  const lines: string[] = [];
  const clock = new FakeClock(Date.UTC(2026, 10, 21, 7, 53));
  const logger = createLogger({ level: 'info', format: 'json', clock, write: (line) => lines.push(line), ...options });
  const parsed = () => lines.map((line): unknown => JSON.parse(line));
  return { logger, lines, parsed };
}

const at = '2026-11-21T07:53:00.000Z';

test('a line is one JSON object: time, level, message and the facts', () => {
  const { logger, lines, parsed } = aLog();
  logger.warn('the lease was lost', { holder: 'b', afterMs: 12.5, tried: null, sure: false, absent: undefined });
  assert.deepEqual(parsed(), [
    { time: at, level: 'warn', msg: 'the lease was lost', holder: 'b', afterMs: 12.5, tried: null, sure: false },
  ]);
  assert.ok(lines[0]?.endsWith('}\n'));
});

test('lines below the level are left out, audit lines never', () => {
  for (const [level, written] of [
    ['debug', 5],
    ['info', 4],
    ['warn', 3],
    ['error', 2],
  ] as const) {
    const { logger, parsed } = aLog({ level });
    logger.debug('a');
    logger.info('b');
    logger.warn('c');
    logger.error('d');
    logger.audit('e', { user: 'u' });
    assert.equal(parsed().length, written, level);
    assert.deepEqual(parsed().at(-1), { time: at, level: 'info', msg: 'e', user: 'u', audit: true });
  }
});

test('a child has the facts of its parents, and its own before them', () => {
  const { logger, parsed } = aLog();
  logger.child({ component: 'reflector', kind: 'Job' }).child({ kind: 'Pod' }).info('listed', { items: 3 });
  assert.deepEqual(parsed(), [
    { time: at, level: 'info', msg: 'listed', component: 'reflector', kind: 'Pod', items: 3 },
  ]);
});

test('a fact hides neither the time nor the level nor the message', () => {
  const { logger, parsed } = aLog();
  logger.info('m', { time: 1, level: 'x', msg: 'y', name: 'n', v: 2 });
  assert.deepEqual(parsed(), [
    { time: at, level: 'info', msg: 'm', name: 'n', v: 2, time_: 1, level_: 'x', msg_: 'y' },
  ]);
});

test('an error becomes its code and its message, and the code of its cause', () => {
  const { logger, parsed } = aLog();
  const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' });
  logger.error('failed', { error: new TypeError('no number', { cause: refused }), again: refused });
  assert.deepEqual(parsed(), [
    {
      time: at,
      level: 'error',
      msg: 'failed',
      error: { code: 'TypeError', message: 'no number', cause: 'ECONNREFUSED' },
      again: { code: 'ECONNREFUSED', message: 'connect ECONNREFUSED 127.0.0.1:1' },
    },
  ]);
});

test('the message of a database driver, which holds values, is left out', () => {
  const { logger, lines } = aLog();
  const values = "insert into executions values ('hunter2')";
  logger.error('a', { error: Object.assign(new Error(values), { code: 'SQLITE_BUSY' }) });
  logger.error('b', { error: Object.assign(new Error(values), { code: 'ER_DUP_ENTRY', sqlMessage: 'x' }) });
  logger.error('c', { error: Object.assign(new Error(values), { code: '23505', severity: 'ERROR', routine: 'x' }) });
  assert.equal(lines.join('').includes('hunter2'), false);
  assert.ok(lines[2]?.includes('23505'));
});

test('text from outside is cut at 200 characters and cannot steer a terminal or end a line', () => {
  for (const format of ['json', 'text'] as const) {
    const { logger, lines } = aLog({ format });
    logger.info('found\n\u001b[2J', {
      text: 'a\r\n\u001b[31m\u009b\u202e\u2028\u007fb',
      long: 'x'.repeat(300),
      half: '\ud800',
    });
    const [line = ''] = lines;
    assert.match(line.slice(0, -1), /^[\u0020-\u007e…\ufffd]*$/u, format);
    assert.equal(/x{201}/.test(line), false, format);
    assert.ok(line.includes(`${'x'.repeat(200)}…`), format);
  }
});

test('a sentence that says what to do is kept to its end, within 500 characters', () => {
  const lines: string[] = [];
  const logger = createLogger({
    level: 'info',
    format: 'json',
    clock: new FakeClock(),
    write: (line) => lines.push(line),
  });
  logger.error('the service is not ready', {
    problem: 'p'.repeat(400),
    reason: 'r'.repeat(600),
    other: 'o'.repeat(400),
  });
  const { problem, reason, other } = JSON.parse(lines[0] ?? '') as Record<string, string>;
  assert.deepEqual([problem?.length, reason?.length, other?.length], [400, 501, 201]);
});

test('a percent sign in a message or a fact means nothing', () => {
  const { logger, parsed } = aLog();
  logger.info('100 %s done %d', { text: '%s' });
  assert.deepEqual(parsed(), [{ time: at, level: 'info', msg: '100 %s done %d', text: '%s' }]);
});

test('whatever is handed in, a line comes out', () => {
  const { logger, lines } = aLog();
  const round: Record<string, unknown> = { a: 1 };
  round['self'] = round;
  logger.info('odd', {
    round,
    big: 2n ** 70n,
    nan: NaN,
    when: new Date(0),
    never: new Date(NaN),
    fn: () => {},
    list: [1, undefined, [new Error('e')]],
    map: new Map([['k', new Set([1])]]),
    many: Array.from({ length: 1000 }, (_, index) => index),
  });
  const [line = ''] = lines;
  assert.ok(line.includes('"big":"1180591620717411303424","nan":"NaN","when":"1970-01-01T00:00:00.000Z"'));
  assert.ok(line.includes('"map":{"k":[1]}'));
  assert.ok(line.length < 3000);
});

test('the text format is one line for people', () => {
  const { logger, lines } = aLog({ format: 'text' });
  logger.info('a "quoted" word', { namespace: 'prod', text: 'two words', count: 2, list: ['a'] });
  assert.deepEqual(lines, [`${at} info  a "quoted" word namespace=prod text="two words" count=2 list=["a"]\n`]);
});
