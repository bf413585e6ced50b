import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AlertState } from '../../contract/index.ts';
import type { AlertFinding, AlertRecord, AlertRules, AlertStep, AlertWorld, HoldingFinding, NoStep } from './alert.ts';
import { next } from './life.ts';
import { minuteMs, hourMs } from '../duration.ts';
import { alertRulesTo } from '../../testing/rules.ts';

const now = Date.UTC(2026, 9, 5, 12);

const plainRules = alertRulesTo(['team-chat']);
const delayed = { alertDelayMs: 10 * minuteMs };
const muted = {
  windows: [
    {
      name: 'nights',
      schedule: '0 * * * *',
      durationMs: 59 * minuteMs,
      timeZone: 'UTC',
      suppressAlerts: true,
      excludeFromSla: false,
    },
  ],
};

type Of = Partial<Pick<AlertFinding, 'type' | 'subject' | 'verdict'>> & { readonly rules?: Partial<AlertRules> };

function finding({ type = 'jobFailed', subject, verdict = holds(), rules }: Of = {}): AlertFinding {
  const monitor = { id: 1, uid: 'm', namespace: 'prod', name: 'backups' };
  const cronJob = { id: 2, uid: 'c', namespace: 'prod', name: 'nightly' };
  return { monitor, cronJob, type, subject, verdict, rules: { ...plainRules, ...rules } };
}

function holds(changes: Partial<HoldingFinding> = {}): HoldingFinding {
  const said = { message: 'The run failed.', figures: {}, context: {}, signature: '1-125/Error' };
  return { kind: 'holds', sinceAt: now, count: 1, occurred: 1, delayed: false, ...said, ...changes };
}

const world: AlertWorld = {
  now,
  newId: 'new',
  fingerprint: 'f',
  last: undefined,
  channelOf: () => ({ allowedNamespaces: undefined }),
  silences: [],
  note: undefined,
  parents: [],
  told: { isUnderway: false, isTakenBack: false, lastHold: undefined, forParents: undefined },
};

function stepOf(step: AlertStep | NoStep): AlertStep {
  assert.ok(typeof step !== 'string', 'it takes a step');
  return step;
}

/** A row as it is after its first step, told ten minutes ago, and whatever else is so. */
function rowIn(state: AlertState, changes: Partial<AlertRecord> = {}): AlertRecord {
  const { alert } = stepOf(next(undefined, finding(), world));
  const isOver = state === 'resolved' || state === 'expired' || state === 'cancelled';
  const notified = state === 'pending' || state === 'suppressed' ? {} : { lastNotifiedAt: now - 10 * minuteMs };
  return { ...alert, id: 'old', state, endedAt: isOver ? now : undefined, ...notified, ...changes };
}

const quiet = { verdict: { kind: 'quiet' } } as const;
const gone = { verdict: { kind: 'gone', cause: 'monitorDeleted' } } as const;

interface Move {
  says: string;
  from: AlertState | 'none';
  row?: Partial<AlertRecord>;
  found: Of;
  to: AlertState | 'unchanged';
  /** By its id: the same row, or a new one. */
  id?: 'old' | 'new';
}

const moves: Move[] = [
  { says: 'a failure with alertDelay waits', from: 'none', found: { rules: delayed }, to: 'pending' },
  { says: 'a failure without alertDelay is told', from: 'none', found: {}, to: 'active' },
  { says: 'a failure in a window is held back', from: 'none', found: { rules: muted }, to: 'suppressed' },
  {
    says: 'the delay comes before the window',
    from: 'none',
    found: { rules: { ...delayed, ...muted } },
    to: 'pending',
  },
  { says: 'quiet is no birth', from: 'none', found: quiet, to: 'unchanged' },
  { says: 'the Job succeeds within alertDelay: never sent', from: 'pending', found: quiet, to: 'cancelled' },
  {
    says: 'alertDelay runs on',
    from: 'pending',
    row: { dueAt: now + 1 },
    found: { verdict: holds({ occurred: 0 }), rules: delayed },
    to: 'unchanged',
  },
  {
    says: 'alertDelay is over and it still holds',
    from: 'pending',
    row: { dueAt: now },
    found: { rules: delayed },
    to: 'active',
  },
  {
    says: 'alertDelay is over inside a window',
    from: 'pending',
    row: { dueAt: now },
    found: { rules: muted },
    to: 'suppressed',
  },
  { says: 'the CronJob goes while the delay runs', from: 'pending', found: gone, to: 'cancelled' },
  {
    says: 'a re-opened alert clears within its delay: it had been told',
    from: 'pending',
    row: { reopened: 1 },
    found: quiet,
    to: 'resolved',
  },
  { says: 'the window ends over something that still holds', from: 'suppressed', found: {}, to: 'active' },
  {
    says: 'the window ends, and what happened until then is not known',
    from: 'suppressed',
    row: { dueAt: now - minuteMs },
    found: { verdict: holds({ occurred: 0, untilAt: now - 2 * minuteMs }) },
    to: 'unchanged',
  },
  { says: 'the window goes on', from: 'suppressed', found: { rules: muted }, to: 'suppressed' },
  { says: 'it clears inside the window: never sent', from: 'suppressed', found: quiet, to: 'cancelled' },
  {
    says: 'a window that opens over an active alert leaves it active',
    from: 'active',
    found: { rules: muted },
    to: 'active',
  },
  { says: 'a further failure', from: 'active', found: {}, to: 'active' },
  {
    says: 'nothing is new but that it goes on',
    from: 'active',
    found: { verdict: holds({ occurred: 0 }) },
    to: 'unchanged',
  },
  { says: 'the condition clears', from: 'active', found: quiet, to: 'resolved' },
  { says: 'the monitor is deleted', from: 'active', found: gone, to: 'expired' },
  { says: 'a resolved alert returns soon', from: 'resolved', found: {}, to: 'active', id: 'old' },
  {
    says: 'it returns after the duplicate window',
    from: 'resolved',
    row: { lastNotifiedAt: now - hourMs },
    found: {},
    to: 'active',
    id: 'new',
  },
  {
    says: 'it returns after the duplicate window of what was told late, which began as it came to hold',
    from: 'resolved',
    row: { delayed: true, sinceAt: now - hourMs },
    found: {},
    to: 'active',
    id: 'new',
  },
  {
    says: 'an expired alert returns with a delay',
    from: 'expired',
    found: { rules: delayed },
    to: 'pending',
    id: 'old',
  },
  { says: 'what was never told returns as another', from: 'cancelled', found: {}, to: 'active', id: 'new' },
];

for (const { says, from, row, found, to, id } of moves) {
  test(`${from} to ${to}: ${says}`, () => {
    const known = from === 'none' ? undefined : rowIn(from, row);
    const isOver = known?.endedAt !== undefined;
    const step = next(isOver ? undefined : known, finding(found), { ...world, last: isOver ? known : undefined });
    assert.equal(typeof step === 'string' ? step : step.alert.state, to);
    if (id) assert.equal(stepOf(step).alert.id, id);
  });
}

test('what comes back was noticed as it came back, and what holds it back did so since then', () => {
  const before = { detectedAt: now - 55 * minuteMs, lastNotifiedAt: now - 55 * minuteMs };
  const last = rowIn('resolved', before);
  const again = finding({ verdict: holds({ sinceAt: now - 1 }), rules: delayed });
  const { alert } = stepOf(next(undefined, again, { ...world, last }));
  assert.deepEqual([alert.id, alert.state, alert.sinceAt, alert.detectedAt], ['old', 'pending', now - 1, now]);
  const later = { ...world, now: now + 10 * minuteMs };
  const told = stepOf(next(alert, { ...again, verdict: holds({ sinceAt: now - 1, occurred: 0 }) }, later));
  assert.equal(told.alert.detectedAt, now);
  assert.deepEqual(
    told.messages.map((message) => message.kind === 'firing' && message.held),
    [{ by: 'alertDelay', sinceAt: now }],
  );
});

test('figures over a window need two quiet verdicts, all else one', () => {
  const statesOf = (type: AlertFinding['type'], subject?: AlertFinding['subject']): AlertState[] => {
    const once = stepOf(next(rowIn('active', { type, subject }), finding({ type, subject, ...quiet }), world)).alert;
    if (once.state !== 'active') return [once.state];
    return [once.state, stepOf(next(once, finding({ type, subject, ...quiet }), world)).alert.state];
  };
  assert.deepEqual(statesOf('slaBreached', 'successRate'), ['active', 'resolved']);
  assert.deepEqual(statesOf('durationRegression'), ['active', 'resolved']);
  assert.deepEqual(statesOf('slaBreached', 'maxDuration'), ['resolved']);
  assert.deepEqual(statesOf('jobFailed'), ['resolved']);
});

test('what was told is asked for where the step depends on it, and only there', () => {
  const unread = { ...world, told: undefined };
  const early = rowIn('active', { notifyNo: 1, lastNotifiedAt: now - minuteMs });
  const again = finding({ verdict: holds({ occurred: 0 }) });
  assert.equal(next(early, again, unread), 'unchanged', 'at rest nothing is read');
  assert.equal(next(early, finding(), unread), 'asksWhatWasTold', 'a further failure may be told');
  assert.equal(
    next({ ...early, lastNotifiedAt: now - 24 * hourMs }, again, unread),
    'asksWhatWasTold',
    'a reminder is due',
  );
  assert.equal(typeof next(early, finding(quiet), unread), 'object', 'its end is told by what channels have of it');
  const unsent = { ...early, lastNotifiedAt: undefined };
  assert.equal(next(unsent, again, unread), 'asksWhatWasTold', 'what was made may have been taken back');
  const owed = rowIn('active', { notifyNo: 0, dueAt: now });
  assert.equal(next(owed, finding(quiet), unread), 'asksWhatWasTold', 'whether a storm held it');
});

test('a message while one is on its way is a duplicate, and one that a hold kept back says what held it', () => {
  const row = rowIn('active', { notifyNo: 1, lastNotifiedAt: undefined });
  const underway = stepOf(
    next(row, finding(), {
      ...world,
      told: { isUnderway: true, isTakenBack: false, lastHold: undefined, forParents: undefined },
    }),
  );
  assert.deepEqual([underway.messages, underway.decisions], [[], [{ action: 'occurrence', reason: 'duplicate' }]]);
  const lastHold = { by: 'storm', sinceAt: now - minuteMs } as const;
  const owed = stepOf(
    next({ ...row, dueAt: now }, finding(), {
      ...world,
      told: { isUnderway: false, isTakenBack: false, lastHold, forParents: undefined },
    }),
  );
  assert.deepEqual(owed.messages, [
    {
      kind: 'firing',
      channels: [{ name: 'team-chat', afterMs: 0, via: 'channelRefs' }],
      reason: undefined,
      held: lastHold,
      awaited: undefined,
    },
  ]);
  assert.equal(owed.alert.dueAt, undefined);
});

test('a reminder is due where it is asked for, and none while a message is on its way, whatever the duplicate window', () => {
  const row = rowIn('active', { notifyNo: 1, lastNotifiedAt: now - 25 * hourMs });
  const goesOn = (rules: Partial<AlertRules>, isUnderway: boolean): (string | undefined)[] => {
    const found = finding({ verdict: holds({ occurred: 0 }), rules: { suppressDuplicatesForMs: 0, ...rules } });
    const told = { isUnderway, isTakenBack: false, lastHold: undefined, forParents: undefined };
    const step = next(row, found, { ...world, told });
    return typeof step === 'string' ? [] : step.messages.map(({ kind }) => kind);
  };
  assert.deepEqual(goesOn({}, false), ['reminder']);
  assert.deepEqual(goesOn({}, true), [], 'a receiver that is away for a day gets one, not one of each look');
  assert.deepEqual(goesOn({ remindEveryMs: 0 }, false), [], '0 is none');
  assert.deepEqual(goesOn({ remindEveryMs: 0, suppressDuplicatesForMs: hourMs }, false), [], '0 is none');
});

test('an alert that comes back was noticed when it came back, which is not before it holds again', () => {
  const before = rowIn('resolved', { detectedAt: now - 20 * minuteMs });
  const came = finding({ verdict: holds({ sinceAt: now - minuteMs }) });
  const { alert } = stepOf(next(undefined, came, { ...world, last: before }));
  assert.equal(alert.id, before.id);
  assert.equal(alert.detectedAt, world.now);
});

test('the same values give the same step, and leave the alert that was given as it was', () => {
  const row = Object.freeze(rowIn('active'));
  assert.deepEqual(next(row, finding(), world), next(row, finding(), world));
});

test('whose fault it is follows what is found, and stays as long as the same run is spoken of and nothing tells more', () => {
  const platform = { cause: 'platform', scope: 'node node-3' } as const;
  const application = { cause: 'application', scope: undefined } as const;
  const found = (jobName: string, fault?: HoldingFinding['fault']) =>
    finding({ verdict: holds({ context: { jobName }, fault, occurred: 1 }) });
  const faultAfter = (alert: AlertRecord | undefined, next_: AlertFinding) =>
    stepOf(next(alert, next_, world)).alert.fault;
  const born = stepOf(next(undefined, found('nightly-1', platform), world)).alert;
  assert.deepEqual(born.fault, platform);
  const told = { ...born, lastNotifiedAt: now - 10 * minuteMs };
  assert.deepEqual(faultAfter(told, found('nightly-1')), platform);
  assert.equal(faultAfter(told, found('nightly-2')), undefined);
  assert.deepEqual(faultAfter(told, found('nightly-2', application)), application);
  const waiting = stepOf(
    next(undefined, { ...found('nightly-1', platform), rules: { ...plainRules, ...delayed } }, world),
  );
  const again = { ...found('nightly-1'), rules: { ...plainRules, ...delayed } };
  assert.deepEqual(faultAfter(waiting.alert, again), platform);
});

const two = {
  alerting: { enabled: true, channelRefs: ['team-chat', 'on-call'].map((name) => ({ name, severities: [] })) },
};
const again = holds({ occurred: 0 });
const toldNow = (alert: AlertRecord, of: Of, changes: Partial<AlertWorld> = {}): readonly string[] => {
  const step = next(alert, finding({ verdict: again, ...of }), { ...world, ...changes });
  return typeof step === 'string'
    ? []
    : step.messages.flatMap((one) => ('channels' in one ? one.channels : [])).map(({ name }) => name);
};

test('a channel that is named for an alert that was told hears of it alone', () => {
  const told = rowIn('active');
  assert.deepEqual(toldNow(told, { rules: two }), ['on-call']);
  assert.deepEqual(toldNow(told, {}), []);
  const stepped = stepOf(next(told, finding({ verdict: again, rules: two }), world));
  assert.deepEqual([stepped.alert.notifyNo, stepped.alert.dueAt], [told.notifyNo, undefined]);
  assert.deepEqual(toldNow(stepped.alert, { rules: two }), [], 'once');
});

test('a channel that is named later does not hear of what is muted, acknowledged or held back, until that ends', () => {
  const told = rowIn('active');
  assert.deepEqual(toldNow(told, { rules: { ...two, ...muted } }), []);
  assert.deepEqual(toldNow(told, { rules: two }, { note: { byWhom: 'ana', expiresAt: undefined } }), []);
  const hold = { reason: 'inhibited', untilAt: undefined, ref: 'a' } as const;
  assert.deepEqual(toldNow(told, { rules: two, verdict: { ...again, hold } }), []);
  assert.deepEqual(toldNow(told, { rules: two }), ['on-call']);
});

test('of an alert of which it is not noted who was told, those that are named have heard', () => {
  assert.deepEqual(toldNow(rowIn('active', { context: {} }), { rules: two }), []);
});
