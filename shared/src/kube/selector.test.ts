import assert from 'node:assert/strict';
import { test } from 'node:test';
import { matchesLabels, type LabelExpression, type LabelSelector } from './selector.ts';

const labels = { app: 'backup', tier: 'gold', empty: '' };
const expression = (key: string, operator: LabelExpression['operator'], ...values: string[]): LabelSelector => ({
  matchExpressions: [{ key, operator, values }],
});

/** [title, selector, selects the labels above] */
const rows: [string, LabelSelector, boolean][] = [
  ['an empty selector selects everything', {}, true],
  ['empty parts select everything', { matchLabels: {}, matchExpressions: [] }, true],
  ['an equal label', { matchLabels: { app: 'backup' } }, true],
  ['another value', { matchLabels: { app: 'report' } }, false],
  ['an absent label', { matchLabels: { team: 'a' } }, false],
  ['all labels must be equal', { matchLabels: { app: 'backup', tier: 'silver' } }, false],
  ['an empty value is a value', { matchLabels: { empty: '' } }, true],
  ['In with the value', expression('tier', 'In', 'silver', 'gold'), true],
  ['In without the value', expression('tier', 'In', 'silver'), false],
  ['In of an absent label', expression('team', 'In', 'a'), false],
  ['In of nothing', expression('tier', 'In'), false],
  ['NotIn with the value', expression('tier', 'NotIn', 'gold'), false],
  ['NotIn without the value', expression('tier', 'NotIn', 'silver'), true],
  ['NotIn of an absent label', expression('team', 'NotIn', 'a'), true],
  ['Exists', expression('tier', 'Exists'), true],
  ['Exists with an empty value', expression('empty', 'Exists'), true],
  ['Exists of an absent label', expression('team', 'Exists'), false],
  ['DoesNotExist', expression('tier', 'DoesNotExist'), false],
  ['DoesNotExist of an absent label', expression('team', 'DoesNotExist'), true],
  ['labels and expressions together', { matchLabels: { app: 'backup' }, ...expression('tier', 'In', 'silver') }, false],
  ['what every object inherits is no label', expression('constructor', 'Exists'), false],
  ['an operator that does not exist', expression('tier', 'Gt' as 'In', '1'), false],
];

for (const [title, selector, selects] of rows) {
  test(`label selector: ${title}`, () => {
    assert.equal(matchesLabels(selector, labels), selects);
  });
}
