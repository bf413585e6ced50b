import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type AlertMessage,
  type EmailPayload,
  emailPayload,
  type EmailTarget,
  type Message,
  type Outgoing,
} from '@cronjob-monitor/shared/domain';
import { aDigestMessage, anAlertMessage, anOutgoing, aTestMessage } from '@cronjob-monitor/shared/testing';
import * as fc from 'fast-check';
import { composeMail } from './index.ts';

const target = (email: Partial<EmailTarget['email']> = {}): EmailTarget => ({
  type: 'email',
  email: {
    smtpSecretRef: { namespace: 'n', name: 's' },
    from: 'monitor@mail.example.org',
    to: ['ops@example.org'],
    tls: 'required',
    subjectTemplate: undefined,
    bodyTemplate: undefined,
    ...email,
  },
});
const payloadOf = (outgoing = anOutgoing(), email: Partial<EmailTarget['email']> = {}): EmailPayload =>
  emailPayload(outgoing, target(email), 'full');
const of = (message: Message): Outgoing => anOutgoing({ message });

test('the text says what is so now, then what matters most first', () => {
  assert.equal(
    payloadOf().text,
    `ACTIVE

WARNING prod/nightly: run failed, exit 137 (OOMKilled), 3rd in a row

The run nightly-29107320 failed after 7 attempts.

Namespace:    prod
CronJob:      nightly
Job:          nightly-29107320
Exit code:    137
Reason:       OOMKilled
Cause:        capacity, namespace prod
Since:        2026-11-19 02:02 Europe/Berlin
Last success: 2026-11-18 02:02 Europe/Berlin
Next run:     2026-11-22 02:00 Europe/Berlin
Count:        3

Suggested fix
Raise the memory limit of nightly.

End of the log
loading 3 files
Killed

About the log
Earlier lines are left out.

Events
2026-11-21T01:02:30.000Z Warning BackOff: back-off restarting (2 times)

Pods
nightly-29107320-x7k2p Failed OOMKilled on node-3

What changed
containers.backup.image: backup:1.4 -> backup:1.5

Alert: https://monitor.example.org/alerts/019a5b3c-7d1e-7a40-8c11-2b5e9f3c21aa
CronJob: https://monitor.example.org/cronjobs/prod/nightly
Run: https://monitor.example.org/cronjobs/prod/nightly/executions/nightly-29107320

#9f3c21aa, monitor prod/backups, cluster prod-eu
`,
  );
});

test('a message that was frozen before messages had a cause says nothing of one', () => {
  const { cause, scope, ...alert } = anAlertMessage().alert;
  assert.deepEqual([cause, scope], ['capacity', 'namespace prod']);
  const data = { ...anAlertMessage(), alert } as AlertMessage; // as the version before wrote it
  assert.doesNotMatch(payloadOf(of({ kind: 'firing', data })).text, /Cause|undefined/);
});

test('what the alert has not is left out', () => {
  const data = anAlertMessage({
    cluster: null,
    alert: { message: '', cause: null, scope: null },
    job: null,
    cronjob: { lastSuccess: null, nextRun: null, timezone: null },
    context: { suggestedFix: null, logs: null, logsTruncated: false, events: null, pods: null, changes: null },
    links: { alert: null, cronjob: null, execution: null },
  });
  assert.equal(
    payloadOf(of({ kind: 'firing', data })).text,
    `ACTIVE

WARNING prod/nightly: run failed, exit 137 (OOMKilled), 3rd in a row

Namespace: prod
CronJob:   nightly
Since:     2026-11-19 01:02 UTC
Count:     3

#9f3c21aa, monitor prod/backups
`,
  );
});

for (const [says, context, line] of [
  ['that nothing changed', { changes: [] }, 'Nothing has changed since the last success.'],
  ['why there is no log', { logs: null, logsUnavailable: 'the pod is gone' }, 'No log: the pod is gone'],
] as const) {
  test(`it says ${says}`, () => {
    const { text, html } = payloadOf(of({ kind: 'firing', data: anAlertMessage({ context }) }));
    assert.ok(text.includes(`\n${line}\n`) && html.includes(line));
  });
}

for (const [state, message] of [
  ['ACTIVE', { kind: 'firing', data: anAlertMessage() }],
  ['STILL ACTIVE', { kind: 'reminder', data: anAlertMessage() }],
  ['RESOLVED', { kind: 'closing', data: anAlertMessage({ alert: { state: 'resolved' } }) }],
  [
    'CLOSED: CronJob deleted',
    { kind: 'closing', data: anAlertMessage({ alert: { state: 'expired', closeCause: 'cronJobDeleted' } }) },
  ],
  ['STORM', { kind: 'digest', data: aDigestMessage(3) }],
  ['STORM OVER', { kind: 'digest', data: aDigestMessage(3, { ended: true }) }],
  ['DIGEST', { kind: 'digest', data: aDigestMessage(3, { cause: 'rateLimit' }) }],
  ['TEST', { kind: 'test', data: aTestMessage() }],
] as [string, Message][]) {
  test(`the first line of the body is ${state}`, () => {
    const { text, html } = payloadOf(of(message));
    assert.equal(text.split('\n')[0], state);
    assert.ok(html.includes(`<p><strong>${state}</strong></p>`));
  });
}

test('a storm that is over speaks of the past, and one that goes on of now', () => {
  const textOf = (ended: boolean): string => payloadOf(of({ kind: 'digest', data: aDigestMessage(3, { ended }) })).text;
  assert.match(textOf(true), /had at the same time is over/);
  assert.doesNotMatch(textOf(true), /have trouble/);
  assert.match(textOf(false), /have trouble at the same time/);
});

test('a mail that would be longer than any is read gives up its log, then events, and says so', () => {
  const long = 'x'.repeat(1_000);
  const events = Array.from({ length: 20 }, () => ({ time: null, type: long, reason: long, message: long, count: 1 }));
  const pods = Array.from({ length: 20 }, (_, n) => ({
    name: `${long}-${n}`,
    phase: 'Failed',
    reason: null,
    node: null,
  }));
  const data = anAlertMessage({ context: { logs: long, events, pods } });
  const { text, html } = payloadOf(of({ kind: 'firing', data }));
  assert.ok(text.length > 60_000 && text.length <= 64 * 1024, String(text.length));
  for (const said of [text, html]) {
    assert.ok(said.includes('The log is left out: this channel takes no more text.'));
    assert.ok(/\n?\d of 20 events are left out\./.test(said));
    assert.ok(said.includes(`${long}-0`) && said.includes(`${long}-19`), 'pods are whole');
  }
});

test('a long line of a log wraps and does not widen the mail', () => {
  const { html } = payloadOf(of({ kind: 'firing', data: anAlertMessage({ context: { logs: 'x'.repeat(500) } }) }));
  assert.match(html, /<pre style="white-space: pre-wrap; overflow-wrap: anywhere">x{500}<\/pre>/);
});

test('the subject is the heading of the stream, and begins with its end in the mail that tells it, in the same thread', () => {
  const { heading } = anOutgoing();
  const firing = of({ kind: 'reminder', data: anAlertMessage({ alert: { severity: 'critical' } }) });
  assert.equal(payloadOf({ ...firing, heading }).subject, '[WARNING] prod/nightly: job failed');
  for (const [state, word] of [
    ['resolved', 'RESOLVED'],
    ['expired', 'CLOSED'],
  ] as const) {
    const closing = { ...of({ kind: 'closing', data: anAlertMessage({ alert: { state } }) }), heading };
    const { subject, inReplyTo } = payloadOf(closing);
    assert.equal(subject, `${word} [WARNING] prod/nightly: job failed`);
    assert.equal(inReplyTo, payloadOf({ ...firing, heading }).inReplyTo);
    const subjectTemplate = '{{ .CronJob.Name }}';
    assert.equal(payloadOf(closing, { subjectTemplate }).subject, `${word} nightly`);
  }
});

test('texts of strangers are escaped in HTML, and nothing is loaded or run', () => {
  const bad = `<script src="x">alert('1')</script> & "quoted"`;
  const data = anAlertMessage({
    alert: { title: bad, message: bad },
    job: { name: bad, reason: bad },
    context: {
      suggestedFix: bad,
      logs: bad,
      events: [{ time: null, type: bad, reason: bad, message: bad, count: 1 }],
      changes: [{ path: bad, before: bad, after: bad }],
    },
    links: { runbook: 'https://wiki.example.org/"><script>', alert: 'javascript:alert(1)' },
  });
  const { html } = payloadOf(of({ kind: 'firing', data }));
  assert.doesNotMatch(html, /<script|<img|<link|<iframe|javascript:|url\(|src=(?!&quot;)/i);
  assert.match(html, /&lt;script src=&quot;x&quot;&gt;alert\(&#39;1&#39;\)&lt;\/script&gt; &amp; &quot;quoted&quot;/);
  assert.match(html, /href="https:\/\/wiki\.example\.org\/%22%3E%3Cscript%3E"/);
});

test('templates make subject and body; values stay on the line of the subject and are escaped in HTML', () => {
  const data = anAlertMessage({ alert: { title: 'a\r\nBcc: x@example.org <b>' } });
  const { subject, text, html } = payloadOf(of({ kind: 'firing', data }), {
    subjectTemplate: '{{ .Alert.Severity }}: {{ .Alert.Title }}',
    bodyTemplate: 'See <{{ .Alert.Title }}>',
  });
  assert.equal(subject, 'warning: a Bcc: x@example.org <b>');
  assert.equal(text, 'See <a Bcc: x@example.org <b>>');
  assert.ok(html.includes('See &lt;a Bcc: x@example.org &lt;b&gt;&gt;'));
});

test('a template that cannot be used changes nothing', () => {
  const unusable = { subjectTemplate: '{{ .Nope }}', bodyTemplate: '{{ range .Pods }}' };
  assert.deepEqual(payloadOf(anOutgoing(), unusable), payloadOf());
});

test('the reduced form has neither log nor events nor pods', () => {
  const { text, subject } = emailPayload(anOutgoing(), target(), 'reduced');
  assert.doesNotMatch(text, /^Killed|BackOff|node-3|What changed|About the log/m);
  assert.match(text, /Raise the memory limit/);
  assert.equal(subject, payloadOf().subject);
});

test('lists of mail clients are by monitor, those of tests and digests by their kind', () => {
  const listOf = (message: Message): string | undefined => payloadOf(of(message)).headers['List-Id'];
  assert.equal(listOf({ kind: 'firing', data: anAlertMessage() }), '<backups.prod.cronjob-monitor>');
  assert.equal(listOf({ kind: 'digest', data: aDigestMessage(1) }), '<digest.cronjob-monitor>');
  assert.equal(listOf({ kind: 'test', data: aTestMessage() }), '<test.cronjob-monitor>');
  assert.equal('X-Monitor-Alert' in payloadOf(of({ kind: 'test', data: aTestMessage() })).headers, false);
});

test('whatever the texts, the mail has its headers and no others, and the same bytes every time', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: fc.constantFrom('\r', '\n', ':', 'x', 'é', '😀', '\0'), maxLength: 2_000 }),
      async (text) => {
        const data = anAlertMessage({ alert: { title: text, message: text }, context: { logs: text } });
        const outgoing = { ...of({ kind: 'firing', data }), heading: { severity: 'warning' as const, text } };
        const payload = payloadOf(outgoing, { subjectTemplate: 's {{ .Alert.Title }}' });
        assert.ok(payload.subject.length <= 250);
        const mail = (await composeMail(payload)).toString();
        const head = mail.slice(0, mail.indexOf('\r\n\r\n')).replace(/\r\n[ \t]/g, ' ');
        const names = head.split('\r\n').map((line) => line.slice(0, line.indexOf(':')).toLowerCase());
        assert.deepEqual(names.toSorted(), [
          'auto-submitted',
          'content-type',
          'date',
          'from',
          'in-reply-to',
          'list-id',
          'message-id',
          'mime-version',
          'references',
          'subject',
          'to',
          'x-monitor-alert',
          'x-monitor-kind',
        ]);
        assert.equal((await composeMail(payload)).toString(), mail);
      },
    ),
    { numRuns: 25 },
  );
});
