import assert from 'node:assert/strict';
import { test } from 'node:test';
import { whyUnwell, type Wellness } from './wellness.ts';

const well: Wellness = {
  watchAgesMs: { CronJob: 120_000, Job: 0 },
  evaluationAgeMs: 180_000,
  evaluationIntervalMs: 60_000,
  isDatabaseAway: false,
  outboxAgeMs: 300_000,
};

const cases: readonly (readonly [says: string, changes: Partial<Wellness>, reasons: readonly string[]])[] = [
  ['all is well at the very limits', {}, []],
  ['a watch is silent', { watchAgesMs: { CronJob: 0, Job: 120_001 } }, ['nothing was heard of Job']],
  ['nothing was evaluated in this term', { evaluationAgeMs: undefined }, ['nothing is evaluated']],
  ['evaluation is three intervals late', { evaluationAgeMs: 180_001 }, ['nothing is evaluated']],
  ['the database is away', { isDatabaseAway: true }, ['the database is away']],
  ['messages wait too long', { outboxAgeMs: 300_001 }, ['messages are not sent']],
];

for (const [says, changes, reasons] of cases) {
  test(`wellness: ${says}`, () => assert.deepEqual(whyUnwell({ ...well, ...changes }), reasons));
}
