import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aGroupOfJobs } from '@cronjob-monitor/shared/testing';
import { closingsOf } from './closings.ts';
import type { Subject } from './subject.ts';
import { hourMs } from '@cronjob-monitor/shared/domain';

const now = Date.UTC(2026, 10, 24);
const group = aGroupOfJobs();
const monitor = { id: 3, id16: 'm', uid: 'm', namespace: 'prod', name: 'hooks', selects: true, isDeleted: false };
const alert = { id: 'a', monitorId: 3, type: 'jobFailed', subject: undefined, state: 'active' };

/** Why the alert of a group ends; undefined: it goes on. */
function causeOf(changes: Partial<Subject>, deletedAt?: number, isDeselected = false): string | undefined {
  const rules = { forgetAfterMs: 24 * hourMs };
  const subject = {
    row: { id: 7, uid: group.uid, namespace: 'prod', name: group.name, deletedAt, monitors: [monitor] },
    facts: group,
    zone: 'UTC',
    watches: [{ monitor, rules, judgesFromAt: 0, wasJudged: true }],
    alerts: [alert],
    groupEndedAt: undefined,
    ...changes,
  } as unknown as Subject; // of rows and alerts what closing asks for
  const [closing] = closingsOf(subject, { now, isRecreated: false, isDeselected: () => isDeselected });
  return closing?.verdict.kind === 'gone' ? closing.verdict.cause : undefined;
}

test('an alert about a group of Jobs ends when its monitor lets go of it, and not before', () => {
  assert.equal(causeOf({ groupEndedAt: now - 24 * hourMs + 1 }), undefined);
  assert.equal(causeOf({ groupEndedAt: now - 24 * hourMs }), 'forgotten');
});

test('while a Job of the group goes on nothing is forgotten', () => {
  assert.equal(causeOf({ groupEndedAt: undefined }), undefined);
});

test('a group that is let go was not deleted', () => {
  assert.equal(causeOf({ facts: undefined, watches: [] }, now), 'forgotten');
});

test('a monitor lets go of a CronJob when both its row and the cluster say so', () => {
  const of = (selects: boolean) => ({
    row: { id: 7, uid: group.uid, namespace: 'prod', name: group.name, monitors: [{ ...monitor, selects }] },
    watches: [],
  });
  const causes = [true, false].map((selects) =>
    [true, false].map((isDeselected) => causeOf(of(selects) as unknown as Partial<Subject>, undefined, isDeselected)),
  );
  assert.deepEqual(causes, [
    [undefined, undefined],
    ['deselected', undefined],
  ]);
});
