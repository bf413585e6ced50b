import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { aTemporaryFolder } from '@cronjob-monitor/shared/testing';
import {
  HttpSink,
  incidentsOf,
  isSigned,
  parseMail,
  readArrivals,
  SmtpSink,
  startChatSink,
  startPagingSink,
  startWebhookSink,
  type HttpArrival,
} from './index.ts';
import { connect } from 'node:net';

const post = (url: string, body: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(url, { method: 'POST', body, headers: { connection: 'close', ...headers } });

async function start<Sink extends { stop(): Promise<void> }>(
  test: TestContext,
  starting: Promise<Sink>,
): Promise<Sink> {
  const sink = await starting;
  test.after(() => sink.stop());
  return sink;
}

test('what was answered is in the file before the answer is, also of the next life of the receiver', async (t) => {
  const logPath = join(aTemporaryFolder(t), 'arrivals.jsonl');
  const first = await start(t, HttpSink.start({ logPath }));
  await post(`${first.url}/a?b=1`, 'one');
  assert.deepEqual(
    readArrivals<HttpArrival>(logPath).map(({ method, path, body, answered }) => [method, path, body, answered]),
    [['POST', '/a?b=1', 'one', 200]],
  );
  const second = await start(t, HttpSink.start({ logPath }));
  await post(second.url, 'two');
  assert.deepEqual(
    readArrivals<HttpArrival>(logPath).map(({ body }) => body),
    ['one', 'two'],
  );
  assert.equal(second.arrivals.length, 1);
});

test('answers come as scripted: those to come next, then the usual one', async (t) => {
  const sink = await start(t, HttpSink.start());
  sink.answerAlways({ status: 500 });
  sink.answerNext({ status: 429, headers: { 'retry-after': '30' } }, { status: 302, headers: { location: '/x' } });
  const answers = [];
  for (let sent = 0; sent < 3; sent += 1) {
    const { status, headers } = await fetch(sink.url, { redirect: 'manual', headers: { connection: 'close' } });
    answers.push([status, headers.get('retry-after'), headers.get('location')]);
  }
  assert.deepEqual(answers, [
    [429, '30', null],
    [302, null, '/x'],
    [500, null, null],
  ]);
});

test('no answer, half an answer and nonsense are remembered as such', async (t) => {
  const sink = await start(t, HttpSink.start());
  sink.answerNext('cut', 'cutInBody', { raw: 'nonsense\r\n\r\n' }, 'hang', 'hangInBody');
  for (let sent = 0; sent < 3; sent += 1) await assert.rejects(post(sink.url, '').then((answer) => answer.text()));
  const hanging = AbortSignal.timeout(100);
  await assert.rejects(fetch(sink.url, { signal: hanging }));
  await assert.rejects(fetch(sink.url, { signal: AbortSignal.timeout(100) }).then((answer) => answer.text()));
  assert.deepEqual(
    sink.arrivals.map(({ answered }) => answered),
    ['cut', 'cutInBody', 'raw', 'hang', 'hangInBody'],
  );
});

test('waits for as many as are expected, and not for ever', async (t) => {
  const sink = await start(t, HttpSink.start());
  const waiting = sink.log.atLeast(1);
  await post(sink.url, 'x');
  assert.equal((await waiting).length, 1);
  await assert.rejects(sink.log.atLeast(2, 20), /1 of 2 messages/);
});

test('the chat service refuses what the vendor refuses', async (t) => {
  const sink = await start(t, startChatSink());
  const header = (length: number): object => ({
    type: 'header',
    text: { type: 'plain_text', text: 'x'.repeat(length) },
  });
  const section = (length: number): object => ({ type: 'section', text: { type: 'mrkdwn', text: 'x'.repeat(length) } });
  for (const [message, status] of [
    [{ text: 'hello' }, 200],
    [{ text: '' }, 400],
    [{ text: 'x', blocks: [header(150), section(3_000)] }, 200],
    [{ text: 'x', blocks: [header(151)] }, 400],
    [{ text: 'x', blocks: [section(3_001)] }, 400],
    [{ text: 'x', blocks: [{ type: 'section' }] }, 400],
    [{ text: 'x', blocks: Array.from({ length: 5 }, () => section(2_900)) }, 400],
    [{ text: 'x', blocks: Array.from({ length: 51 }, () => section(1)) }, 400],
  ] as const) {
    assert.equal((await post(sink.url, JSON.stringify(message))).status, status, JSON.stringify(message).slice(0, 80));
  }
});

test('the paging service keeps an incident for each key', async (t) => {
  const sink = await start(t, startPagingSink());
  const trigger = (key: string, summary: string): object => ({
    routing_key: 'k',
    event_action: 'trigger',
    dedup_key: key,
    payload: { summary, severity: 'critical', source: 's' },
  });
  const resolve = (key: string): object => ({ routing_key: 'k', event_action: 'resolve', dedup_key: key });
  const events = [
    trigger('a', '1'),
    trigger('a', '2'),
    trigger('b', '3'),
    resolve('a'),
    resolve('none'),
    { ...trigger('c', '4'), routing_key: '' },
  ];
  const statuses = [];
  for (const event of events) statuses.push((await post(sink.url, JSON.stringify(event))).status);
  assert.deepEqual(statuses, [202, 202, 202, 202, 202, 400]);
  assert.deepEqual(incidentsOf(sink.arrivals), [
    { key: 'a', summary: '2', severity: 'critical', isOpen: false, repeats: 1 },
    { key: 'b', summary: '3', severity: 'critical', isOpen: true, repeats: 0 },
  ]);
});

test('a webhook receiver with a key takes only what is signed with it', async (t) => {
  const key = Buffer.alloc(32, 7);
  const signingKey = `whsec_${key.toString('base64')}`;
  const sink = await start(t, startWebhookSink({ signingKey }));
  const signature = createHmac('sha256', key).update('id.1.body').digest('base64');
  const headers = { 'webhook-id': 'id', 'webhook-timestamp': '1', 'webhook-signature': `v1,AAAA v1,${signature}` };
  assert.equal((await post(sink.url, 'body', headers)).status, 200);
  assert.equal((await post(sink.url, 'other', headers)).status, 401);
  assert.equal(isSigned({ headers: {}, body: '' }, signingKey), false);
});

test('a mail is read as clients read it', () => {
  const mail = parseMail(
    [
      'Subject: =?UTF-8?Q?Gr=C3=BC=C3=9Fe?=',
      ' =?UTF-8?Q?_und_mehr?=',
      'Content-Type: multipart/alternative; boundary="b"',
      '',
      '--b',
      'Content-Type: text/plain; charset=utf-8',
      'Content-Transfer-Encoding: quoted-printable',
      '',
      'f=C3=BCr =',
      'dich',
      '--b',
      'Content-Type: text/html',
      'Content-Transfer-Encoding: base64',
      '',
      Buffer.from('<p>x</p>').toString('base64'),
      '--b--',
      '',
    ].join('\r\n'),
  );
  assert.deepEqual(
    [mail.header('subject'), mail.text, mail.html, mail.parts],
    ['Grüße und mehr', 'für dich', '<p>x</p>', ['text/plain', 'text/html']],
  );
});

/** Speaks to a mail server line by line: each line is sent once the server has answered the one before. */
async function converse(port: number, lines: readonly string[]): Promise<string[]> {
  const replies: string[] = [];
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  for await (const chunk of socket) {
    const last = String(chunk).trimEnd().split('\r\n').at(-1) ?? '';
    replies.push(last.slice(0, 3));
    const line = lines[replies.length - 1];
    if (line === undefined) break;
    socket.write(`${line}\r\n`);
  }
  return replies;
}

test('the mail server takes mail, remembers it and answers as scripted', async (t) => {
  const logPath = join(aTemporaryFolder(t), 'mail.jsonl');
  const sink = await start(t, SmtpSink.start({ logPath }));
  const envelope = [
    'EHLO x',
    'MAIL FROM:<a@example.org>',
    'RCPT TO:<b@example.org>',
    'RCPT TO:<c@example.org>',
    'DATA',
  ];
  sink.script = { recipients: { 'c@example.org': 550 } };
  const codes = await converse(sink.port, [...envelope, 'Subject: hello\r\n\r\ntext\r\n.']);
  assert.deepEqual(codes, ['220', '250', '250', '250', '550', '354', '250']);
  sink.script = { message: 554 };
  assert.deepEqual((await converse(sink.port, [...envelope, 'x\r\n.'])).at(-1), '554');
  sink.script = { greeting: 421 };
  assert.deepEqual(await converse(sink.port, []), ['421']);
  const [first, second] = readArrivals<{ to: string[]; raw: string; answered: number }>(logPath);
  assert.deepEqual(
    [first?.to, first?.answered, parseMail(first?.raw ?? '').header('subject')],
    [['b@example.org'], 250, 'hello'],
  );
  assert.equal(second?.answered, 554);
});
