import assert from 'node:assert/strict';
import { test } from 'node:test';
import { performancePage } from './performance-page.mjs';

const at = '2026-11-22T08:00:00.000Z';

test('says what was measured, on which day, and the budget; a figure over its budget is in bold type and counted', () => {
  const page = performancePage([
    {
      name: 'claim',
      at,
      conditions: 'many messages',
      figures: [
        { what: 'claimed', value: 12.345, unit: 'ms', budget: 20 },
        { what: 'settled', value: 2_500, unit: 'ms', budget: 300 },
        { what: 'told', value: 3.333, unit: 's' },
      ],
      notes: ['filled in 3 s'],
    },
  ]);
  assert.match(page, /Written by `npm run bench` on \d+ cores /);
  assert.match(
    page,
    /^## Messages leaving the outbox\n\n`npm run bench -- claim`, 22 November 2026\n\nMany messages\.$/m,
  );
  assert.match(page, /^\| claimed \| 12\.3 \| 20 \| ms \|$/m);
  assert.match(page, /^\| settled \| \*\*2,500\*\* \| 300 \| ms \|$/m);
  assert.match(page, /^\| told \| 3\.33 \| {2}\| s \|$/m);
  assert.match(page, /^- filled in 3 s$/m);
  assert.match(page, /Over budget: 1 of 2 figures that have one\.\n$/);
});

test('what was measured on several days says so', () => {
  const on = (day) => ({ name: 'claim', at: `2026-11-${day}T08:00:00.000Z`, conditions: 'x', figures: [], notes: [] });
  assert.match(performancePage([on(21), on(22)]), /^`npm run bench -- claim`, 21 November 2026 and 22 November 2026$/m);
});

test('runs of one benchmark at several sizes stand side by side; one that tells other figures has a table of its own', () => {
  const sized = (cronJobs, value) => ({
    name: 'tick',
    at,
    conditions: `${cronJobs} CronJobs`,
    figures: [{ what: `tick of ${cronJobs}`, value, unit: 's', budget: 5 }],
    notes: [],
  });
  const other = {
    name: 'tick',
    at,
    conditions: 'something else',
    figures: [{ what: 'else', value: 1, unit: 's' }],
    notes: [],
  };
  const page = performancePage([sized(1_000, 0.1), sized(10_000, 1), other]);
  assert.match(page, /^- a: 1000 CronJobs\n- b: 10000 CronJobs$/m);
  assert.match(page, /^\| tick of 1000 \/ tick of 10000 \| 0\.1 \| 1 \| 5 \| s \|$/m);
  assert.match(page, /^Something else\.$/m);
  assert.match(page, /Over budget: 0 of 2 figures that have one\.\n$/);
});

test('a budget that is not that of every size names the columns it is for, and the same words stand once', () => {
  const sized = (budget) => ({
    name: 'bytes',
    at,
    conditions: 'some days',
    figures: [{ what: `a run, ${budget ?? 260} at most`, value: 200, unit: 'bytes', budget }],
    notes: [],
  });
  const page = performancePage([sized(260), sized(undefined), sized(300), sized(260)]);
  assert.match(
    page,
    /^\| a run, 260 at most \/ a run, 300 at most \| 200 \| 200 \| 200 \| 200 \| 260 \(a, d\), 300 \(c\) \| bytes \|$/m,
  );
});
