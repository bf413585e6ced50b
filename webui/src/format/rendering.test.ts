import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RenderedMessage } from '@cronjob-monitor/shared/contract';
import { formOf, formsOf } from './rendering.ts';
import { hoursAhead } from './tracer.ts';

const message: RenderedMessage = {
  format: 'slack',
  title: 'T',
  text: 'a',
  html: null,
  blocks: [{ x: 1 }],
  body: '{"a":1}',
};

test('a message offers the forms that its medium has', () => {
  assert.deepEqual(
    formsOf(message).map(({ id }) => id),
    ['text', 'blocks', 'body'],
  );
  const mail = { ...message, html: '<p>a</p>', blocks: null, body: null };
  assert.deepEqual(
    formsOf(mail).map(({ word }) => word),
    ['As read', 'HTML source'],
  );
  assert.equal(formOf(mail, 'html'), '<p>a</p>');
});

test('JSON is shown a field on a line, and what is none as it is', () => {
  assert.equal(formOf(message, 'body'), '{\n  "a": 1\n}');
  assert.equal(formOf({ ...message, body: '<b>' }, 'body'), '<b>');
});

test('the hours ahead are whole ones of the view’s zone, now first', () => {
  const nowMs = Date.UTC(2026, 10, 21, 14, 3);
  const offered = hoursAhead({ nowMs, timeZone: 'Asia/Kolkata' });
  assert.deepEqual(offered.slice(0, 3), [
    { value: 'now', word: 'Now' },
    { value: '2026-11-21T14:30:00.000Z', word: '20:00' },
    { value: '2026-11-21T15:30:00.000Z', word: '21:00' },
  ]);
  assert.equal(offered.length, 25);
  assert.match(offered.at(-1)?.word ?? '', /2026-11-22 19:00/);
});
