import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { aDigestMessage, anAlertMessage, anOutgoing, aTestMessage } from '../../testing/messages.ts';
import { messagePlaceholders } from '../template/parse.ts';
import { changeLine, digestedLine, eventLine, podLine } from './context-lines.ts';
import type { AlertMessage, Message } from './message.ts';
import { isAboutAlert } from './message.ts';
import { toSafeMessage, withoutDetails } from './safe-message.ts';
import { templateValuesOf } from './template-values.ts';

const firing = (data: AlertMessage): Message => ({ kind: 'firing', data });
const alertOf = (message: Message): AlertMessage => {
  assert.ok(isAboutAlert(message));
  return message.data;
};

test('a message without anything dangerous is left as it is', () => {
  assert.deepEqual(toSafeMessage(firing(anAlertMessage()), 1_000), firing(anAlertMessage()));
  const digest: Message = { kind: 'digest', data: aDigestMessage(3) };
  assert.deepEqual(toSafeMessage(digest, 1_000), digest);
});

test('no text keeps terminal sequences, control characters or marks of direction', () => {
  const bad = 'a\u001b[31mb\u0007\u202ec\0';
  const message = firing(
    anAlertMessage({
      alert: { title: bad, message: bad },
      job: { name: bad, reason: bad },
      context: {
        suggestedFix: bad,
        logs: bad,
        logsUnavailable: bad,
        events: [{ time: null, type: bad, reason: bad, message: bad, count: 1 }],
        pods: [{ name: bad, phase: bad, reason: bad, node: bad }],
        changes: [{ path: bad, before: bad, after: null }],
      },
      links: { runbook: bad },
    }),
  );
  const text = JSON.stringify(toSafeMessage(message, 1_000));
  assert.doesNotMatch(text, /\\u001b|\\u0007|\u202e|\\u0000|\[31m/);
  assert.equal(text.match(/abc/g)?.length, 17);
});

test('the end of the log is kept, and the cut is told', () => {
  const context = { logs: `first\n${'é'.repeat(40)}last`, logsTruncated: false };
  const safe = alertOf(toSafeMessage(firing(anAlertMessage({ context })), 11)).context;
  assert.deepEqual([safe.logs, safe.logsTruncated], ['ééélast', true]);
});

test('colours and line ends of a log are no part of it: a log without them is not cut', () => {
  const context = { logs: '\u001b[32mloading\u001b[0m\r\n 10 %\r100 %\r\n', logsTruncated: false };
  const safe = alertOf(toSafeMessage(firing(anAlertMessage({ context })), 1_000)).context;
  assert.deepEqual([safe.logs, safe.logsTruncated], ['loading\n 10 %\n100 %\n', false]);
});

test('a text of which only the beginning is looked at says that it is cut, however little is left of that', () => {
  const title = `begins ${'\u001b[31m'.repeat(20_000)} ends`;
  assert.equal(alertOf(toSafeMessage(firing(anAlertMessage({ alert: { title } })))).alert.title, 'begins…');
});

test('the newest 20 events are kept, their messages on one line', () => {
  const events = Array.from({ length: 30 }, (_, count) => ({
    time: null,
    type: 'Normal',
    reason: 'R',
    message: 'a\nb',
    count,
  }));
  const safe = alertOf(toSafeMessage(firing(anAlertMessage({ context: { events } })), 100)).context.events;
  assert.deepEqual(
    safe?.map(({ count }) => count),
    events.slice(10).map(({ count }) => count),
  );
  assert.equal(safe?.[0]?.message, 'a b');
});

test('of more than 20 pods the last are kept, and that there were others', () => {
  const podsOf = (count: number) => {
    const pods = Array.from({ length: count }, (_, at) => ({
      name: `p${at}`,
      phase: 'Failed',
      reason: null,
      node: null,
    }));
    return alertOf(toSafeMessage(firing(anAlertMessage({ context: { pods } })), 100)).context;
  };
  const { pods, podsTruncated } = podsOf(21);
  assert.deepEqual([pods?.length, pods?.[0]?.name, podsTruncated], [20, 'p1', true]);
  assert.equal(podsOf(20).podsTruncated, undefined);
});

test('a digest lists at most 500 alerts', () => {
  const safe = toSafeMessage({ kind: 'digest', data: aDigestMessage(600) }, 100);
  assert.ok(safe.kind === 'digest');
  assert.deepEqual([safe.data.digest.alerts.length, safe.data.digest.total], [500, 600]);
});

test('whatever the texts, no bound is passed', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 2_500, size: 'max' }), fc.nat(2_000), (text, maxLogBytes) => {
      const safe = alertOf(
        toSafeMessage(
          firing(
            anAlertMessage({ alert: { title: text, message: text }, context: { logs: text, suggestedFix: text } }),
          ),
          maxLogBytes,
        ),
      );
      assert.ok(safe.alert.title.length <= 1_024 && safe.alert.message.length <= 4_000);
      assert.ok((safe.context.suggestedFix ?? '').length <= 2_048);
      assert.ok(Buffer.byteLength(safe.context.logs ?? '') <= maxLogBytes);
    }),
    { numRuns: 25, examples: [['漢😀'.repeat(5_000), 1_000]] },
  );
});

test('texts without a bound of their own are cut too, and a link that is too long is none', () => {
  const long = 'x'.repeat(100_000);
  const message = firing(
    anAlertMessage({
      cluster: long,
      cronjob: { schedule: long },
      job: { name: long },
      context: {
        logsUnavailable: long,
        events: [{ time: null, type: long, reason: long, message: long, count: 1 }],
        pods: [{ name: long, phase: long, reason: long, node: long }],
        changes: [{ path: long, before: long, after: long }],
      },
      links: { runbook: `https://wiki.example.org/${long}` },
    }),
  );
  const safe = toSafeMessage(message, 100);
  assert.ok(JSON.stringify(safe).length < 20_000);
  assert.equal(alertOf(safe).links.runbook, null);
  assert.equal(alertOf(safe).links.alert, anAlertMessage().links.alert);
});

test('the reduced form keeps what happened and the fix, and nothing that is long', () => {
  const reduced = alertOf(withoutDetails(firing(anAlertMessage())));
  assert.equal(reduced.context.suggestedFix, 'Raise the memory limit of nightly.');
  const { logs, logsTruncated, events, pods, changes } = reduced.context;
  assert.deepEqual(
    { logs, logsTruncated, events, pods, changes },
    { logs: null, logsTruncated: false, events: null, pods: null, changes: null },
  );
  const digest = withoutDetails({ kind: 'digest', data: aDigestMessage(30) });
  assert.ok(digest.kind === 'digest' && digest.data.digest.alerts.length === 0 && digest.data.digest.total === 30);
});

test('lines of context name what they are about', () => {
  const [event] = anAlertMessage().context.events ?? [];
  assert.equal(event && eventLine(event), '2026-11-21T01:02:30.000Z Warning BackOff: back-off restarting (2 times)');
  assert.equal(podLine({ name: 'p', phase: 'Failed', reason: null, node: 'n1' }), 'p Failed on n1');
  assert.equal(changeLine({ path: 'image', before: null, after: 'b' }), 'image: (none) -> b');
  const [digested] = aDigestMessage(1).digest.alerts;
  assert.equal(
    digested && digestedLine(digested),
    'prod/job-0: missed schedule, warning since 2026-11-21T01:00:00.000Z',
  );
});

test('every placeholder has a key in the values of every kind of message', () => {
  const messages: Message[] = [
    firing(anAlertMessage()),
    { kind: 'digest', data: aDigestMessage() },
    { kind: 'test', data: aTestMessage() },
  ];
  for (const message of messages) {
    const values = templateValuesOf(anOutgoing({ message }));
    assert.deepEqual(Object.keys(values).sort(), [...messagePlaceholders].sort());
    assert.ok(values['Alert.Title']);
  }
});

test('values say where the run failed', () => {
  const values = templateValuesOf(anOutgoing());
  const { Pod, Container, Image, Node, ExitCode, JobName } = values;
  assert.deepEqual(
    { Pod, Container, Image, Node, ExitCode, JobName },
    {
      Pod: 'nightly-29107320-x7k2p',
      Container: 'backup',
      Image: 'backup:1.5',
      Node: 'node-3',
      ExitCode: '137',
      JobName: 'nightly-29107320',
    },
  );
});
