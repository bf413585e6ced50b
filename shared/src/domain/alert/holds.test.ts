import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MaintenanceWindow } from '../mute/maintenance.ts';
import type { Silence } from '../mute/silence.ts';
import { messageHold, muteOf, muteThroughout, type MessageHoldFacts } from './holds.ts';
import { hourMs } from '../duration.ts';

const noon = Date.UTC(2026, 10, 21, 12);
const alert = {
  id: 'a',
  namespace: 'prod',
  cronJobName: 'backup',
  type: 'jobFailed',
  severity: 'warning',
  monitor: { namespace: 'prod', name: 'dr' },
};
const window = (changes: Partial<MaintenanceWindow> = {}): MaintenanceWindow => ({
  name: 'weekly',
  schedule: '0 11 * * *',
  durationMs: 2 * hourMs,
  timeZone: 'UTC',
  suppressAlerts: true,
  excludeFromSla: false,
  ...changes,
});
const silence = (endsAt: number): Silence => ({
  id: 's',
  matcher: { namespaces: ['prod'], cronjobs: [], types: [], severities: [], monitor: null, alertId: null, all: false },
  startsAt: noon - 1,
  endsAt,
  endedAt: undefined,
});

test('a window of the monitor mutes until it ends, one that suppresses nothing does not', () => {
  assert.deepEqual(muteOf(alert, { windows: [window()] }, [], noon), {
    by: 'maintenance',
    ref: 'weekly',
    untilAt: noon + hourMs,
  });
  assert.equal(muteOf(alert, { windows: [window({ suppressAlerts: false })] }, [], noon), undefined);
});

test('what has passed was muted when a window or a silence lay over each instant of it', () => {
  const span = (from: number, to: number) => ({ fromAt: noon + from * hourMs, toAt: noon + to * hourMs });
  const later = window({ name: 'later', schedule: '0 13 * * *' });
  assert.equal(muteThroughout(alert, { windows: [window()] }, [], span(-0.5, 0.5))?.ref, 'weekly');
  assert.equal(
    muteThroughout(alert, { windows: [window()] }, [], span(-0.5, 1.5)),
    undefined,
    'it went on after the window',
  );
  assert.equal(
    muteThroughout(alert, { windows: [window(), later] }, [], span(-0.5, 1.5))?.ref,
    'later',
    'one after the other',
  );
  assert.equal(muteThroughout(alert, { windows: [window()] }, [], span(-2, 0.5)), undefined, 'it began before');
});

test('what has passed was muted by what the owner of the CronJob said then', () => {
  const at = (hours: number): number => noon + hours * hourMs;
  const mute = (rules: Pick<Parameters<typeof muteOf>[1], 'mutedUntilAt' | 'earlierMutes'>, from: number, to: number) =>
    muteThroughout(alert, { windows: [], ...rules }, [], { fromAt: at(from), toAt: at(to) })?.ref;
  const said = (hours: number, mutedUntilAt: number | undefined) => [{ saidUntilAt: at(hours), mutedUntilAt }];
  const removed = { earlierMutes: said(1, at(3)) };
  assert.equal(mute(removed, 0, 0.5), 'annotation', 'that it was taken away later changes nothing');
  assert.equal(mute(removed, 0, 2), undefined, 'it went on after that');
  const added = { mutedUntilAt: at(9), earlierMutes: said(1, undefined) };
  assert.equal(mute(added, 0, 0.5), undefined, 'that it was muted later changes nothing');
  assert.equal(mute(added, 1, 2), 'annotation');
  assert.equal(mute({ mutedUntilAt: at(9), earlierMutes: said(1, at(3)) }, 0, 2), 'annotation', 'made longer');
});

test('of window and silence the one that ends last is named', () => {
  assert.equal(muteOf(alert, { windows: [window()] }, [silence(noon + 2 * hourMs)], noon)?.by, 'silence');
  assert.equal(muteOf(alert, { windows: [window()] }, [silence(noon + 1)], noon)?.by, 'maintenance');
  assert.deepEqual(muteOf(alert, { windows: [] }, [silence(noon + 1)], noon), {
    by: 'silence',
    ref: 's',
    untilAt: noon + 1,
  });
});

const free: MessageHoldFacts = {
  imposed: undefined,
  mute: undefined,
  passesDuplicates: false,
  flappingUntil: undefined,
  lastNotifiedAt: undefined,
  isUnderway: false,
  windowMs: hourMs,
};
const muted = { by: 'silence', ref: 's', untilAt: noon + 5 } as const;
const storm = { reason: 'storm', untilAt: undefined, ref: 'storm-1' } as const;

for (const { says, facts, reason } of [
  { says: 'nothing stands in the way', facts: {}, reason: undefined },
  { says: 'a storm comes first', facts: { imposed: storm, mute: muted }, reason: 'storm' },
  {
    says: 'a mute holds even what passes duplicates',
    facts: { mute: muted, passesDuplicates: true },
    reason: 'silence',
  },
  { says: 'flapping', facts: { flappingUntil: noon + 1 }, reason: 'flapping' },
  { says: 'an hour without a change', facts: { flappingUntil: noon }, reason: undefined },
  { says: 'told within the window', facts: { lastNotifiedAt: noon - hourMs + 1 }, reason: 'duplicate' },
  { says: 'the window is over', facts: { lastNotifiedAt: noon - hourMs }, reason: undefined },
  { says: 'a message on its way', facts: { isUnderway: true }, reason: 'duplicate' },
  { says: 'without a window each one is told', facts: { isUnderway: true, windowMs: 0 }, reason: undefined },
  {
    says: 'a rise passes',
    facts: { lastNotifiedAt: noon, flappingUntil: noon + 1, passesDuplicates: true },
    reason: undefined,
  },
] satisfies { says: string; facts: Partial<MessageHoldFacts>; reason: string | undefined }[]) {
  test(`hold of a message: ${says}`, () => assert.equal(messageHold({ ...free, ...facts }, noon)?.reason, reason));
}
