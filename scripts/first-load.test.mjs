import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { budgets, firstLoadBudget, firstLoads } from './first-load.mjs';

/** Text that does not get smaller, so that its size is what it says. */
const dense = (bytes) => randomBytes(bytes).toString('base64').slice(0, bytes);

function aBundle(changes = {}) {
  const chunks = [
    { type: 'chunk', fileName: 'index.js', isEntry: true, code: dense(1_000), imports: ['shared.js'] },
    { type: 'chunk', fileName: 'shared.js', code: dense(2_000), imports: [] },
    { type: 'chunk', fileName: 'lazy.js', code: dense(900_000), imports: [] },
    {
      type: 'chunk',
      fileName: 'Page-1.js',
      facadeModuleId: '/somewhere/src/pages/dashboard/Page.svelte',
      code: dense(500),
      imports: ['shared.js'],
      ...changes,
    },
    { type: 'asset', fileName: 'style.css', source: dense(100) },
  ];
  return Object.fromEntries(chunks.map((chunk) => [chunk.fileName, chunk]));
}

function judge(bundle) {
  const told = [];
  const context = {
    warn: (line) => told.push(line),
    error: (line) => {
      throw new Error(line);
    },
  };
  firstLoadBudget().generateBundle.call(context, {}, bundle);
  return told;
}

test('a page is what it imports at once, each file a single time, and not what comes later', () => {
  const [dashboard, styles] = firstLoads(aBundle());
  assert.equal(dashboard.page, 'dashboard');
  assert.equal(dashboard.budget, budgets.dashboard);
  assert.ok(dashboard.bytes > 2_500 && dashboard.bytes < 4_500, String(dashboard.bytes));
  assert.equal(styles.page, 'styles');
});

test('a build within its budgets says nothing', () => assert.deepEqual(judge(aBundle()), []));

test('a build above a budget fails, and names the page', () => {
  assert.throws(() => judge(aBundle({ code: dense(2 * budgets.dashboard) })), /1 over the budget/);
  assert.throws(() => judge(aBundle({ imports: ['lazy.js'] })), /1 over the budget/);
});

test('a build in which no page is found fails', () => {
  assert.throws(() => judge(aBundle({ facadeModuleId: null })), /no page was found/);
});
