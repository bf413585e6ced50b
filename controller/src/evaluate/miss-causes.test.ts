import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClusterError, type ClusterEvent } from '@cronjob-monitor/shared/kube';
import { FakeClock, settle } from '@cronjob-monitor/shared/testing';
import { createMissCauses } from './miss-causes.ts';
import { minuteMs } from '@cronjob-monitor/shared/domain';

function aSource(answer: readonly ClusterEvent[] | Error | 'never') {
  const clock = new FakeClock();
  const slotAt = clock.now() - 2 * minuteMs;
  const asked: string[] = [];
  const read: string[] = [];
  const lease = { isStale: false };
  const term = new AbortController();
  const causes = createMissCauses({
    cluster: {
      listEvents(namespace, uid, signal) {
        asked.push(`${namespace}/${uid}`);
        if (answer instanceof Error) return Promise.reject(answer);
        if (answer !== 'never') return Promise.resolve([...answer]);
        return new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true });
        });
      },
    },
    namespaceOf: (uid) => (uid === 'gone' ? undefined : 'prod'),
    isControllerStale: () => lease.isStale,
    redaction: { messages: (texts) => Promise.resolve(texts.map((text) => text.replace('hunter2', '***'))) },
    onRead: (uid) => read.push(uid),
    clock,
    signal: term.signal,
  });
  return { clock, slotAt, asked, read, lease, term, causes };
}

const anEvent = (reason: string, lastAt: number, message = ''): ClusterEvent => ({
  uid: 'e',
  type: 'Warning',
  reason,
  message,
  count: 1,
  firstAt: lastAt,
  lastAt,
  object: 'CronJob/nightly',
  objectUid: 'u',
});

test('events of after the slot tell why it was missed, older ones do not', async () => {
  const at = new FakeClock().now() - minuteMs;
  const table = [
    [[anEvent('FailedCreate', at, 'quota, token hunter2')], { cause: 'createRejected', message: 'quota, token ***' }],
    [[anEvent('MissSchedule', at)], { cause: 'deadlinePassed' }],
    [[anEvent('MissSchedule', at), anEvent('FailedCreate', at, 'x')], { cause: 'createRejected', message: 'x' }],
    [[anEvent('FailedCreate', at - 2 * minuteMs, 'x')], undefined],
    [[anEvent('SawCompletedJob', at)], undefined],
  ] as const;
  for (const [events, expected] of table) {
    const { causes, slotAt, asked, read } = aSource(events);
    assert.equal(causes.awaits('a', slotAt), true);
    assert.equal(causes.awaits('a', slotAt), true, 'it is being read');
    await settle();
    assert.deepEqual([asked, read], [['prod/a'], ['a']]);
    assert.equal(causes.awaits('a', slotAt), false, 'once is enough');
    assert.deepEqual(causes.causeOf('a', slotAt), expected);
  }
});

test('a later slot is asked about anew', async () => {
  const { causes, slotAt, asked } = aSource([]);
  causes.awaits('a', slotAt);
  await settle();
  assert.equal(causes.awaits('a', slotAt + minuteMs), true);
  assert.equal(asked.length, 2);
});

for (const [title, answer, waitMs] of [
  ['cannot be read', new ClusterError('forbidden', { verb: 'list', resource: 'events', message: 'forbidden' }), 0],
  ['do not come within 5 s', 'never', 5_000],
] as const) {
  test(`events that ${title} explain nothing, and are not waited for any longer`, async () => {
    const { clock, causes, slotAt, read } = aSource(answer);
    assert.equal(causes.awaits('a', slotAt), true);
    await clock.advance(waitMs);
    await settle();
    assert.deepEqual(read, ['a']);
    assert.equal(causes.awaits('a', slotAt), false);
    assert.equal(causes.causeOf('a', slotAt), undefined);
    assert.equal(clock.sleepers, 0);
  });
}

test('nothing is read of what is gone or too old, of a silent controller, or beyond fifty in a minute', async () => {
  const { clock, causes, slotAt, asked, lease } = aSource([]);
  assert.equal(causes.awaits('gone', slotAt), false);
  assert.equal(causes.awaits('a', clock.now() - 3_600_001), false);
  lease.isStale = true;
  assert.equal(causes.awaits('a', slotAt), false);
  assert.deepEqual(causes.causeOf('a', slotAt), { cause: 'controllerSilent' });
  assert.deepEqual(asked, []);
  lease.isStale = false;
  const begun = Array.from({ length: 60 }, (_, index) => causes.awaits(`b${index}`, slotAt));
  assert.equal(begun.filter(Boolean).length, 50);
  await clock.advance(60_000);
  assert.equal(causes.awaits('b59', slotAt), true);
  await settle();
});

test('after the end of the term no cause is reported', async () => {
  const { causes, slotAt, read, term } = aSource('never');
  causes.awaits('a', slotAt);
  term.abort(new Error('the lead is lost'));
  await settle();
  assert.deepEqual(read, []);
});
