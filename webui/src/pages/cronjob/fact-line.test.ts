import assert from 'node:assert/strict';
import { test } from 'node:test';
import { factLine, factSentence } from './fact-line.ts';

const span = { fromMs: 0, untilMs: 400 };
const points = (...values: number[]) => values.map((value, index) => ({ at: index * 200, value }));

test('a fact is drawn over its span with zero on the scale', () => {
  assert.equal(factLine(points(0, 5, 10), span).path, 'M0.0 33.0L200.0 18.0L400.0 3.0');
  assert.equal(factLine(points(-10, 0), span).path, 'M0.0 33.0L200.0 3.0');
  assert.equal(factLine(points(0, 0), span).path, 'M0.0 33.0L200.0 33.0', 'a height of nothing divides nothing');
  assert.equal(factLine(points(7), span).path, 'M0.0 3.0h0', 'one run is a dot');
});

test('what it shows is told in words', () => {
  const line = factLine(points(900, 1_200_000, 0), span);
  assert.deepEqual([line.least, line.median, line.most, line.last], [0, 900, 1_200_000, 0]);
  assert.equal(factSentence('rows', line), 'rows of 3 runs: from 0 to 1,200,000, last 0');
});
