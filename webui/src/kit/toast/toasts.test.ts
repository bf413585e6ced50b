import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { toasts } from './toasts.svelte.ts';

afterEach(() => {
  for (const { id } of toasts.shown) toasts.close(id);
});

const texts = (): string[] => toasts.shown.map(({ text }) => text);

test('a result goes by itself, a failure stays until it is closed', (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  toasts.say('done', { tone: 'ok' });
  toasts.say('refused', { tone: 'crit' });
  context.mock.timers.tick(60_000);
  assert.deepEqual(texts(), ['refused']);
  for (const { id } of toasts.shown) toasts.close(id);
  assert.deepEqual(texts(), []);
});

test('four are shown at most: the oldest makes room', () => {
  for (const text of ['one', 'two', 'three', 'four', 'five']) toasts.say(text);
  assert.deepEqual(texts(), ['two', 'three', 'four', 'five']);
});

test('what offers something goes when the cluster that it is of is left, and a result stays', () => {
  toasts.say('Suspended', { action: { word: 'Undo', run: () => {} } });
  toasts.say('done');
  toasts.closeOffers();
  assert.deepEqual(texts(), ['done']);
});
