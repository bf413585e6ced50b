import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AlertRecord, Judged, MessageHold } from '@cronjob-monitor/shared/domain';
import { findingsOf, type FindingContext } from './findings.ts';
import type { Subject, Watch } from './subject.ts';

const now = Date.parse('2026-11-21T06:00:00.000Z');
const question: MessageHold = { reason: 'storm', untilAt: now + 30_000, ref: undefined };
const storm: MessageHold = { reason: 'storm', untilAt: undefined, ref: 'storm-1' };

/** What holds back the message about a dead-man's switch that is due, with the alert about it as it was before. */
function holdOf(before: AlertRecord['state'] | undefined, stormHold: MessageHold): MessageHold | undefined {
  const open = {
    id: 'a',
    monitorId: 1,
    type: 'deadManTriggered',
    subject: undefined,
    severity: 'critical',
    state: before,
  };
  // Of these no more is read than these fields.
  const subject = {
    row: { id: 7, uid: 'c', namespace: 'prod', name: 'backup', isDependent: false },
    zone: 'UTC',
    alerts: before === undefined ? [] : [open],
  } as unknown as Subject;
  const watch = {
    monitor: { id: 1, uid: 'm', namespace: 'prod', name: 'nightly' },
    rules: { alerts: { alertDelayMs: 0, suppressDuplicatesForMs: 3_600_000 }, includeContext: { logs: false } },
  } as unknown as Watch;
  const judged: Judged = {
    type: 'deadManTriggered',
    subject: undefined,
    verdict: {
      kind: 'holds',
      since: now - 3_600_000,
      severity: 'critical',
      reason: 'noSuccess',
      detail: { lastSuccessAt: now - 7_200_000, limitMs: 3_600_000 },
      figures: { measured: 7_200, limit: 3_600, unit: 'seconds' },
    } as unknown as Judged['verdict'],
  };
  const context = {
    now,
    runOf: () => undefined,
    occurred: () => 0,
    isDelayed: () => false,
    stormHold,
  } as unknown as FindingContext;
  const [finding] = findingsOf(subject, watch, [judged], context);
  assert.ok(finding?.verdict.kind === 'holds');
  return finding.verdict.hold;
}

test('whether a storm begins is asked of what becomes active, and holds back nothing that was active before', () => {
  for (const before of [undefined, 'pending', 'suppressed'] as const) assert.equal(holdOf(before, question), question);
  assert.equal(holdOf('active', question), undefined);
});

test('a storm that goes on holds back what joins storms, whenever it became active', () => {
  for (const before of [undefined, 'active'] as const) assert.equal(holdOf(before, storm), storm);
});
