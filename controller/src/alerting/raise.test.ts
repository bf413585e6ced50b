import assert from 'node:assert/strict';
import { test } from 'node:test';
import { putAcknowledgement, putSilence, type AlertRecord } from '@cronjob-monitor/shared/store';
import { anAlertingFixture } from '../testing/alerting-fixture.ts';
import { withheldReasons, type RaisedAlert } from './raise.ts';
import { hourMs, minuteMs } from '@cronjob-monitor/shared/domain';

const alertOf = (raised: readonly RaisedAlert[]): AlertRecord => {
  assert.equal(raised.length, 1);
  assert.ok(raised[0]);
  return raised[0].alert;
};
const delayed = { rules: { alertDelayMs: 10 * minuteMs } };

// The moves of the specification's table of transitions, each by its row.

test('(none) to pending: a failure is detected and alertDelay is set; dispatch waits', async (t) => {
  const { clock, fails, send, messages, ledger, counters } = await anAlertingFixture(t);
  const { id, state, dueAt } = alertOf(await fails(delayed));
  assert.deepEqual([state, dueAt], ['pending', clock.now() + 10 * minuteMs]);
  assert.deepEqual([await send(), await messages()], [[], []]);
  assert.deepEqual(await ledger(id), ['detected', 'pending alertDelay']);
  assert.deepEqual(await counters(), [null, 0, 1]);
});

test('pending to cancelled: the Job succeeds within alertDelay; the alert is never sent', async (t) => {
  const { clock, fails, succeeds, stillHolds, send, states, ledger, counters } = await anAlertingFixture(t);
  const { id } = alertOf(await fails(delayed));
  clock.stepWall(9 * minuteMs);
  assert.equal(alertOf(await succeeds(delayed)).state, 'cancelled');
  clock.stepWall(2 * minuteMs);
  assert.deepEqual([await send(), await states()], [[], ['cancelled']]);
  assert.deepEqual(await ledger(id), ['detected', 'pending alertDelay', 'cancelled cleared']);
  assert.deepEqual(await counters(), [null, 0, 0]);
  await stillHolds(delayed);
  assert.deepEqual(await states(), ['cancelled', 'pending'], 'a return is another alert');
});

test('pending to active: alertDelay elapses and the condition still holds; the alert is dispatched', async (t) => {
  const { clock, fails, stillHolds, send, ledger, counters, requests } = await anAlertingFixture(t);
  const { id } = alertOf(await fails(delayed));
  clock.stepWall(10 * minuteMs - 1);
  assert.deepEqual(await stillHolds(delayed), [], 'not a moment before');
  clock.stepWall(1);
  assert.equal(alertOf(await stillHolds(delayed)).state, 'active');
  assert.deepEqual(await send(), ['team-chat firing']);
  assert.deepEqual(await ledger(id), [
    'detected',
    'pending alertDelay',
    'activated alertDelay',
    'queued firing',
    'sent 200',
  ]);
  assert.deepEqual(await counters(), ['warning', 1, 0]);
  assert.deepEqual(requests[0]?.held, { by: 'alertDelay', sinceAt: clock.now() - 10 * minuteMs });
});

test('(none) to active: detection without alertDelay; dispatched to the channels whose severities include it', async (t) => {
  const { fails, send, states } = await anAlertingFixture(t);
  await fails();
  assert.deepEqual([await send(), await states()], [['team-chat firing'], ['active']]);
  await fails({ type: 'deadManTriggered' });
  assert.deepEqual((await send()).toSorted(), ['on-call firing', 'team-chat firing']);
});

test('active to resolved: the condition cleared; active alerts are lowered and the channels hear of it', async (t) => {
  const { fails, succeeds, send, ledger, counters } = await anAlertingFixture(t);
  const { id } = alertOf(await fails());
  await send();
  const resolved = alertOf(await succeeds());
  assert.deepEqual([resolved.state, resolved.endedAt !== undefined], ['resolved', true]);
  assert.deepEqual(await counters(), [null, 0, 0]);
  assert.deepEqual(await send(), ['team-chat closing']);
  assert.deepEqual((await ledger(id)).slice(-3), ['resolved run', 'queued closing', 'sent 200']);
});

test('any: a duplicate of the same type and CronJob within the window changes nothing and is not told', async (t) => {
  const { clock, fails, send, ledger, states } = await anAlertingFixture(t);
  const { id } = alertOf(await fails());
  await fails();
  assert.deepEqual(await send(), ['team-chat firing'], 'nor while the first is on its way');
  clock.stepWall(hourMs - 1);
  assert.equal(alertOf(await fails()).count, 3);
  assert.deepEqual([await send(), await states()], [[], ['active']]);
  assert.deepEqual((await ledger(id)).slice(-2), ['sent 200', 'occurrence duplicate']);
  clock.stepWall(1);
  await fails();
  assert.deepEqual(await send(), ['team-chat firing'], 'after the window the next occurrence is told');
});

test('a window of 0 tells every occurrence', async (t) => {
  const { fails, send } = await anAlertingFixture(t);
  const rules = { suppressDuplicatesForMs: 0 };
  await fails({ rules });
  await fails({ rules });
  assert.deepEqual(await send(), ['team-chat firing', 'team-chat firing']);
});

test('the same finding again writes nothing', async (t) => {
  const { fails, stillHolds, succeeds, rows } = await anAlertingFixture(t);
  await fails();
  const before = await rows('select count(*) as n from changes');
  assert.deepEqual(await stillHolds(), []);
  assert.deepEqual(await succeeds({ type: 'jobStuck', subject: 'notStarted' }), []);
  assert.deepEqual(await rows('select count(*) as n from changes'), before);
});

// Mutes.

const silence = {
  id: '019a5b3c-8000-7000-8000-0000000000aa',
  matcher: { namespaces: ['prod'], cronjobs: [], types: [], severities: [], monitor: null, alertId: null, all: false },
  untilResolved: false,
  comment: 'storage move',
  createdBy: 'ana',
  createdAt: 0,
  updatedAt: 0,
  endedAt: undefined,
};

test('(none) to suppressed to active: muted by a silence at detection, told when it ends and it still holds', async (t) => {
  const { store, clock, fails, stillHolds, send, ledger, counters, requests } = await anAlertingFixture(t);
  const endsAt = clock.now() + 2 * hourMs;
  await store.transaction((tx) => putSilence(tx, { ...silence, startsAt: clock.now(), endsAt }));
  const muted = alertOf(await fails());
  assert.deepEqual(
    [muted.state, muted.suppressedBy, muted.suppressedRef, muted.dueAt],
    ['suppressed', 'silence', silence.id, endsAt],
  );
  assert.deepEqual(await counters(), ['warning', 0, 1]);
  assert.deepEqual(await stillHolds(), []);
  clock.stepWall(2 * hourMs);
  assert.equal(alertOf(await stillHolds()).state, 'active');
  assert.deepEqual(await send(), ['team-chat firing']);
  assert.deepEqual((await ledger(muted.id)).slice(1, 4), ['suppressed silence', 'released silence', 'queued firing']);
  assert.equal(requests[0]?.held?.by, 'silence');
});

test('suppressed to cancelled: what clears in a maintenance window is never sent', async (t) => {
  const { fails, succeeds, send, states } = await anAlertingFixture(t);
  const window = {
    name: 'always',
    schedule: '0 * * * *',
    durationMs: hourMs,
    timeZone: 'UTC',
    suppressAlerts: true,
    excludeFromSla: false,
  };
  const { suppressedBy, suppressedRef } = alertOf(await fails({ rules: { windows: [window] } }));
  assert.deepEqual([suppressedBy, suppressedRef], ['maintenance', 'always']);
  await succeeds();
  assert.deepEqual([await send(), await states()], [[], ['cancelled']]);
});

test('a silence over an active alert leaves it active and holds its messages, but not its closing', async (t) => {
  const { store, clock, fails, succeeds, send, states, ledger } = await anAlertingFixture(t);
  const { id } = alertOf(await fails());
  await send();
  clock.stepWall(hourMs);
  const startsAt = clock.now();
  await store.transaction((tx) => putSilence(tx, { ...silence, startsAt, endsAt: startsAt + hourMs }));
  await fails();
  assert.deepEqual([await send(), await states()], [[], ['active']]);
  assert.ok((await ledger(id)).includes('held silence'));
  await succeeds();
  assert.deepEqual(await send(), ['team-chat closing']);
});

// Returns, severity, reminders.

test('resolved to active: a return within the window re-opens the row and is told when the window ends', async (t) => {
  const { clock, fails, stillHolds, succeeds, send, states, ledger } = await anAlertingFixture(t);
  const { id } = alertOf(await fails());
  await send();
  await succeeds();
  await send();
  clock.stepWall(30 * minuteMs);
  const again = alertOf(await fails());
  assert.deepEqual([again.id, again.state, again.reopened, again.count], [id, 'active', 1, 2]);
  assert.deepEqual([await send(), await states()], [[], ['active']]);
  assert.deepEqual((await ledger(id)).slice(-3), ['detected', 'activated', 'held duplicate']);
  clock.stepWall(30 * minuteMs);
  await stillHolds();
  assert.deepEqual(await send(), ['team-chat firing']);
});

test('a return after the window is another alert', async (t) => {
  const { clock, fails, succeeds, send, states } = await anAlertingFixture(t);
  await fails();
  await send();
  await succeeds();
  clock.stepWall(hourMs);
  await fails();
  assert.deepEqual(await states(), ['resolved', 'active']);
});

test('a return takes back a closing that has not left', async (t) => {
  const { clock, fails, succeeds, send, messages } = await anAlertingFixture(t);
  const rules = { suppressDuplicatesForMs: 6 * hourMs };
  await fails({ rules });
  await send();
  await succeeds();
  clock.stepWall(61 * minuteMs);
  await fails({ rules });
  assert.deepEqual(await messages(), ['team-chat firing sent', 'team-chat closing cancelled']);
  await succeeds();
  assert.deepEqual(await send(), ['team-chat closing']);
});

test('a rise of severity is told at once to every channel that takes the new one', async (t) => {
  const { fails, stillHolds, send, ledger, counters } = await anAlertingFixture(t);
  const { id } = alertOf(await fails());
  await send();
  const rules = { severityOverrides: { jobFailed: 'critical' } } as const;
  assert.equal(alertOf(await stillHolds({ rules })).severity, 'critical');
  assert.deepEqual((await send()).toSorted(), ['on-call firing', 'team-chat firing']);
  assert.ok((await ledger(id)).includes('severityChanged rise'));
  assert.deepEqual(await counters(), ['critical', 1, 0]);
  assert.equal(alertOf(await stillHolds()).severity, 'warning');
  assert.deepEqual(await send(), [], 'a fall is not told');
});

test('a changed error is told when the monitor asks for it, and ends an acknowledgement', async (t) => {
  const { store, clock, fails, send, ledger } = await anAlertingFixture(t);
  const { id } = alertOf(await fails());
  await send();
  const note = { byWhom: 'ana', at: clock.now(), note: undefined, expiresAt: undefined };
  await store.transaction((tx) => putAcknowledgement(tx, id, note));
  clock.stepWall(10 * minuteMs);
  await fails({ signature: '137/OOMKilled' });
  assert.deepEqual(await send(), []);
  assert.ok((await ledger(id)).includes('unacknowledged changedError'));
  await fails({ signature: 'none/', rules: { renotifyOnChangedError: true } });
  assert.deepEqual(await send(), ['team-chat firing']);
  assert.ok((await ledger(id)).includes('queued changedError'));
});

test('an active alert is reminded of, unless it was acknowledged', async (t) => {
  const { store, clock, fails, stillHolds, send } = await anAlertingFixture(t);
  const { id } = alertOf(await fails());
  await send();
  clock.stepWall(24 * hourMs);
  await stillHolds();
  assert.deepEqual(await send(), ['team-chat reminder']);
  const note = { byWhom: 'ana', at: clock.now(), note: undefined, expiresAt: clock.now() + 25 * hourMs };
  await store.transaction((tx) => putAcknowledgement(tx, id, note));
  clock.stepWall(24 * hourMs);
  await stillHolds();
  assert.deepEqual(await send(), []);
  clock.stepWall(2 * hourMs);
  await stillHolds();
  assert.deepEqual(await send(), ['team-chat reminder']);
});

test('further failures of the same kind are counted and not told while the alert is acknowledged', async (t) => {
  const { store, clock, fails, send, ledger } = await anAlertingFixture(t);
  const { id } = alertOf(await fails());
  await send();
  const note = { byWhom: 'ana', at: clock.now(), note: undefined, expiresAt: clock.now() + 3 * hourMs };
  await store.transaction((tx) => putAcknowledgement(tx, id, note));
  clock.stepWall(2 * hourMs);
  assert.equal(alertOf(await fails()).count, 2);
  assert.deepEqual(await send(), []);
  assert.ok((await ledger(id)).includes('occurrence counted'));
  clock.stepWall(2 * hourMs);
  await fails();
  assert.deepEqual(await send(), ['team-chat firing'], 'the note is over');
});

test('what another alert holds back stays active, and is told when that ends', async (t) => {
  const { clock, fails, stillHolds, send, states, ledger } = await anAlertingFixture(t);
  const hold = { reason: 'inhibited', untilAt: undefined, ref: 'a' } as const;
  const { id, dueAt } = alertOf(await fails({ hold }));
  assert.deepEqual([await send(), await states(), dueAt], [[], ['active'], clock.now() + minuteMs]);
  clock.stepWall(5 * minuteMs);
  await stillHolds({ hold });
  await stillHolds();
  assert.deepEqual(await send(), ['team-chat firing']);
  assert.deepEqual(await ledger(id), ['detected', 'activated', 'held inhibited', 'queued firing', 'sent 200']);
});

test('alerts that only go on are noted together: at rest a pass writes once, however many are open', async (t) => {
  const { store, clock, finding, raise, rows } = await anAlertingFixture(t);
  const holds = (occurred: number) =>
    (['first', 'second'] as const).flatMap((monitor) =>
      (['jobFailed', 'missedSchedule', 'jobStuck'] as const).map((type) =>
        finding(
          {
            kind: 'holds',
            sinceAt: 0,
            count: 1,
            occurred,
            message: 'It goes on.',
            figures: {},
            context: {},
            delayed: false,
          },
          { type, monitor },
        ),
      ),
    );
  const opened = await raise(...holds(1));
  const { id } = (opened[0] as RaisedAlert).alert;
  await store.transaction((tx) =>
    putAcknowledgement(tx, id, { byWhom: 'ana', at: clock.now(), note: undefined, expiresAt: undefined }),
  );
  clock.stepWall(5 * minuteMs);
  const statements: string[] = [];
  store.sql.on('query', ({ sql }: { readonly sql: string }) => void statements.push(sql));
  const seen = await raise(...holds(0));
  assert.equal(seen.length, opened.length);
  const writes = statements.filter((sql) => /^(update alerts|select .* from acknowledgements)/.test(sql));
  assert.equal(writes.length, 2, writes.join('\n'));
  assert.deepEqual(await rows('select distinct last_seen_at from alerts'), [{ last_seen_at: clock.now() }]);
  assert.equal((await rows('select ended_at from acknowledgements'))[0]?.['ended_at'], null);
});

// What metrics count.

test('what held a message or left it out is counted once for each time, by its reason', () => {
  const counted = withheldReasons(
    [
      { action: 'detected' },
      { action: 'pending', reason: 'alertDelay' },
      { action: 'suppressed', reason: 'silence' },
      { action: 'notRouted', reason: 'unknownChannel' },
      { action: 'occurrence', reason: 'counted' },
      { action: 'occurrence', reason: 'duplicate' },
      { action: 'cancelled', reason: 'reopened' },
      { action: 'cancelled', reason: 'clearedBeforeSent' },
      { action: 'collapsed', reason: 'twin' },
      { action: 'queued', reason: 'firing' },
    ],
    undefined,
  );
  assert.deepEqual(counted, ['alertDelay', 'silence', 'unknownChannel', 'duplicate', 'clearedBeforeSent', 'collapsed']);
});

test('a message that is owed counts when that begins, and not each time it is looked at', () => {
  const held = [{ action: 'held', reason: 'storm' }] as const;
  assert.deepEqual(withheldReasons(held, undefined), ['storm']);
  assert.deepEqual(withheldReasons(held, { state: 'active', dueAt: undefined }), ['storm']);
  assert.deepEqual(withheldReasons(held, { state: 'active', dueAt: 1 }), []);
});

test('an alert that waits, and one that names an unknown channel, say so to the metrics', async (t) => {
  const { fails } = await anAlertingFixture(t);
  const [waiting] = await fails({ rules: { alertDelayMs: 10 * minuteMs } });
  assert.deepEqual([waiting?.withheld, waiting?.unsent], [['alertDelay'], []]);
  const other = await anAlertingFixture(t);
  const alerting = { enabled: true, channelRefs: [{ name: 'nobody', severities: [] }] };
  const [unrouted] = await other.fails({ rules: { alerting } });
  assert.deepEqual(unrouted?.withheld, ['unknownChannel']);
});

test('a message that is taken back because all is well again is over, and counted so', async (t) => {
  const { fails, succeeds } = await anAlertingFixture(t);
  await fails();
  const [ended] = await succeeds();
  assert.deepEqual(ended?.withheld, [], 'another one tells it');
  assert.deepEqual(ended.unsent, [{ channel: 'team-chat', kind: 'firing', result: 'cancelled' }]);
});

test('an age that grew is written when its sentence shows it', async (t) => {
  const { clock, fails, stillHolds, rows } = await anAlertingFixture(t);
  const since = { type: 'jobSuspended', occurred: 0 } as const;
  await fails({ ...since, message: 'Suspended for 2 h.', figures: { measured: 7_200, limit: 3_600, unit: 'seconds' } });
  const look = async (message: string, measured: number): Promise<unknown> => {
    clock.stepWall(5 * minuteMs);
    await stillHolds({ ...since, message, figures: { measured, limit: 3_600, unit: 'seconds' } });
    const [alert] = await rows('select message, figures, last_seen_at from alerts');
    assert.equal(alert?.['last_seen_at'], clock.now());
    return [alert?.['message'], (JSON.parse(String(alert?.['figures'])) as { measured: number }).measured];
  };
  assert.deepEqual(await look('Suspended for 2 h.', 7_500), ['Suspended for 2 h.', 7_200]);
  assert.deepEqual(await look('Suspended for 3 h.', 10_800), ['Suspended for 3 h.', 10_800]);
});
