import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTranslator } from './translator.ts';

const translate = createTranslator();
const noon = Date.parse('2026-11-02T12:00:00Z');
const minute = 60_000;
const wire = (at: number): string => new Date(at).toISOString().replace('.000', '');
const statusWrite = (at: number) => ({ time: wire(at), subresource: 'status', fieldsV1: { 'f:status': {} } });

/** A Job that was made at noon; minutes after noon, the end in the words of its controller, the write by the clock of the API server. */
function aJob(minutes: { began: number; ended: number; written?: number; annotated?: number }) {
  const { began, ended, written, annotated } = minutes;
  const managedFields = [
    ...(written === undefined ? [] : [statusWrite(noon + written * minute)]),
    ...(annotated === undefined ? [] : [{ time: wire(noon + annotated * minute), fieldsV1: { 'f:metadata': {} } }]),
  ];
  const endedAt = wire(noon + ended * minute);
  const job = translate.job({
    metadata: { uid: 'u', name: 'backup-1', namespace: 'prod', creationTimestamp: wire(noon), managedFields },
    status: {
      startTime: wire(noon + began * minute),
      completionTime: endedAt,
      conditions: [{ type: 'Complete', status: 'True', lastTransitionTime: endedAt }],
    },
  });
  const after = (at: number | undefined): number | undefined => (at === undefined ? undefined : (at - noon) / minute);
  return { began: after(job?.startedAt), ended: after(job?.endedAt), told: after(job?.toldEndAt) };
}

test('an end that is dated after the write that tells of it is the instant of that write', () => {
  assert.deepEqual(
    aJob({ began: 10, ended: 13, written: 3 }),
    { began: 0, ended: 3, told: 13 },
    'the clock was ahead all the time',
  );
  assert.deepEqual(aJob({ began: 0, ended: 13, written: 3 }), { began: 0, ended: 3, told: 13 }, 'it jumped meanwhile');
  assert.deepEqual(
    aJob({ began: 10, ended: 13, written: 3, annotated: 60 }).ended,
    3,
    'other writes say nothing of it',
  );
});

test('an end before the Job was made stays as it is told: a restored Job has the times of the one that ran', () => {
  assert.deepEqual(aJob({ began: -10, ended: -7, written: 3 }), { began: -10, ended: -7, told: undefined });
});

test('what was decided of a Job was decided no later than it was written', () => {
  const ahead = wire(noon + 13 * minute);
  const decided = { type: 'FailureTarget', status: 'True', lastTransitionTime: ahead };
  const job = translate.job({
    metadata: {
      uid: 'u',
      name: 'backup-1',
      namespace: 'prod',
      creationTimestamp: wire(noon),
      managedFields: [statusWrite(noon + 3 * minute)],
    },
    status: { conditions: [decided, { type: 'Failed', status: 'True', lastTransitionTime: ahead }] },
  });
  assert.deepEqual([job?.decidedAt, job?.endedAt], [noon + 3 * minute, noon + 3 * minute]);
});

test('clocks that differ by a few seconds change nothing, and neither does a write that came late', () => {
  assert.deepEqual(aJob({ began: 0, ended: 3, written: 2.9 }), { began: 0, ended: 3, told: undefined });
  assert.deepEqual(aJob({ began: 0, ended: 3, written: 45 }), { began: 0, ended: 3, told: undefined });
  assert.deepEqual(aJob({ began: 0, ended: 13 }), { began: 0, ended: 13, told: undefined }, 'no write is known');
});

test('a success that has not come yet is none of its CronJob', () => {
  const lastSuccess = (minutes: number): number | undefined =>
    translate.cronJob({
      metadata: { uid: 'u', name: 'backup', managedFields: [statusWrite(noon)] },
      status: { lastSuccessfulTime: wire(noon + minutes * minute) },
    })?.lastSuccessAt;
  assert.equal(lastSuccess(10), undefined);
  assert.equal(lastSuccess(-10), noon - 10 * minute);
});
