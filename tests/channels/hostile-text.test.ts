import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { getChannel, type ChannelTarget } from '@cronjob-monitor/controller/channels';
import type { Outgoing } from '@cronjob-monitor/shared/domain';
import { anAlertMessage, anOutgoing, until } from '@cronjob-monitor/shared/testing';
import {
  startAlertmanagers,
  startMailServers,
  whyNoAlertmanager,
  whyNoMailServers,
  type AlertmanagerCluster,
} from '../servers/index.ts';
import { HttpSink, parseMail } from '../sinks/index.ts';
import { alertmanagerAt, anAttempt, depsOf } from './receivers.ts';

const never = new AbortController().signal;
/** Between two words each: what would end a mail, a header, a template or a label, were it taken as more than text. */
const marks = [
  '\r\n.\r\n',
  '\r\nBcc: eve@example.org\r\n',
  'From ',
  '=3D',
  '{{ .Labels }}',
  '"}]',
  '<script>',
  '@everyone',
  '\u001b[31m',
  '\u0000',
  '\u202e',
  '😀',
  '\ud800',
];
const words = marks.map((_, at) => `w${at}w`);
const hostile = marks.map((mark, at) => `${words[at]}${mark}`).join(' ');
/** Lines of 5,000 characters with the hostile text at their beginning. */
const long = Array.from({ length: 3 }, (_, at) => `line${at} ${hostile} `.padEnd(5_000, 'x')).join('\n');

const outgoing: Outgoing = anOutgoing({
  message: {
    kind: 'firing',
    data: anAlertMessage({
      alert: { title: hostile, message: hostile },
      job: { reason: hostile },
      context: { suggestedFix: hostile, logs: long, logsTruncated: false },
    }),
  },
});
const allIn = (text: string): string[] => words.filter((word) => text.includes(word));

describe('texts of strangers, by Postfix and Dovecot', { skip: whyNoMailServers() ?? false }, () => {
  test('are one whole mail to its one reader, whatever they hold', async (t) => {
    const servers = await startMailServers();
    t.after(() => servers.stop());
    const smtpSecretRef = { namespace: 'monitoring', name: 'smtp' };
    const of = {
      from: 'monitor@example.org',
      to: ['team@example.org'],
      subjectTemplate: undefined,
      bodyTemplate: undefined,
    };
    const target: ChannelTarget = { type: 'email', email: { smtpSecretRef, ...of, tls: 'opportunistic' } };
    const secrets = () =>
      new Map([
        ['host', '127.0.0.1'],
        ['port', String(servers.port)],
      ]);
    const outcome = await getChannel('email').send(anAttempt({ target, secrets }, { outgoing }), depsOf(), never);
    assert.equal(outcome.kind, 'delivered');
    await until(() => servers.mailsOf('team').length > 0, 20_000);
    const mails = servers.mailsOf('team');
    assert.deepEqual([mails.length, servers.mailsOf('eve')], [1, []], servers.log());
    const mail = parseMail(mails[0] ?? '');
    assert.equal(mail.header('bcc'), undefined);
    for (const part of [mail.text ?? '', mail.html ?? '']) {
      assert.deepEqual(allIn(part), words);
      for (const line of ['line0', 'line1', 'line2']) assert.ok(part.includes(line), `${line} is told`);
      assert.ok(part.includes('x'.repeat(4_500)), 'a long line is whole');
      assert.doesNotMatch(part, /[\u0000\u001b\u202e]|left out|<script>alert/u); // oxlint-disable-line no-control-regex
    }
    assert.doesNotMatch(mail.html ?? '', /<script/);
  });
});

describe('texts of strangers, in a real Alertmanager', { skip: whyNoAlertmanager() ?? false }, () => {
  test('are one alert with the labels of its CronJob, and its notification has them as they are', async (t) => {
    const sink = await HttpSink.start();
    const cluster: AlertmanagerCluster = await startAlertmanagers(1, sink.url);
    t.after(async () => {
      await cluster.remove();
      await sink.stop();
    });
    const [peer] = cluster.peers;
    assert.ok(peer);
    const attempt = anAttempt(alertmanagerAt(peer.url), { outgoing });
    assert.equal((await getChannel('webhook').send(attempt, depsOf(), never)).kind, 'delivered');
    await until(() => sink.arrivals.length > 0, 20_000);
    const { alerts } = JSON.parse(sink.arrivals[0]?.body ?? '') as {
      alerts: { labels: Record<string, string>; annotations: Record<string, string> }[];
    };
    assert.equal(alerts.length, 1);
    const [alert] = alerts;
    assert.deepEqual([alert?.labels['namespace'], alert?.labels['cronjob']], ['prod', 'nightly']);
    assert.ok(!Object.values(alert?.labels ?? {}).some((label) => label.includes('w0w')), 'no label is of a stranger');
    for (const name of ['summary', 'description', 'suggested_fix', 'reason'])
      assert.deepEqual(allIn(alert?.annotations[name] ?? ''), words, name);
    assert.match(alert?.annotations['log'] ?? '', /^Earlier lines are left out\.\n/);
  });
});
