import assert from 'node:assert/strict';
import { connect, type AddressInfo } from 'node:net';
import { test } from 'node:test';
import { createServer, getCACertificates, setDefaultCACertificates } from 'node:tls';
import { aTestCertificate } from '@cronjob-monitor/shared/testing';
import { SmtpFailure, SmtpSession } from './smtp-session.ts';

const certificate = aTestCertificate();
const envelope = { from: 'a@example.org', to: ['b@example.org'] };
const mail = { envelope, content: Buffer.from('Subject: x\r\n\r\ntext\r\n') };

/** A mail server with TLS from the start that answers every line with its next reply; what it heard is returned. */
async function startSecureServer(
  replies: readonly string[],
): Promise<{ port: number; heard: string[]; stop: () => void }> {
  const heard: string[] = [];
  const server = createServer(certificate, (socket) => {
    const left = [...replies];
    const say = (): void => void socket.write(`${left.shift() ?? '500 no more'}\r\n`);
    let inMessage = false;
    socket.on('error', () => {});
    socket.setEncoding('utf8').on('data', (text: string) => {
      for (const line of text.split('\r\n').filter((part) => part !== '')) {
        heard.push(line);
        if (!inMessage || line === '.') say();
        inMessage = line === 'DATA' || (inMessage && line !== '.');
      }
    });
    say();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return { port: (server.address() as AddressInfo).port, heard, stop: () => void server.close() };
}

async function sessionWith(port: number): Promise<SmtpSession> {
  const socket = connect(port, '127.0.0.1');
  await new Promise((resolve) => {
    socket.once('connect', resolve);
  });
  const credentials = { host: 'localhost', port, isSecure: true, login: { user: 'me', password: 'secret' } };
  return new SmtpSession(socket, credentials, 'required');
}

test('a server that takes no trusted certificate hears nothing at all', async () => {
  const { port, heard, stop } = await startSecureServer(['220 hello']);
  const session = await sessionWith(port);
  await assert.rejects(session.deliver(mail, new AbortController().signal), (error) => {
    assert.ok(error instanceof SmtpFailure);
    assert.deepEqual([error.stage, error.replyCode, error.maybeSent], ['connect', undefined, false]);
    assert.match(error.code ?? '', /SELF_SIGNED/);
    return true;
  });
  assert.deepEqual(heard, []);
  stop();
});

test('TLS from the start: the greeting comes over it, then login and mail', async (t) => {
  const before = getCACertificates('default');
  setDefaultCACertificates([...before, certificate.cert]);
  t.after(() => setDefaultCACertificates(before));
  const replies = [
    '220 hello',
    '250 AUTH PLAIN',
    '235 welcome',
    '250 sender',
    '250 recipient',
    '354 go',
    '250 taken',
    '221 bye',
  ];
  const { port, heard, stop } = await startSecureServer(replies);
  const session = await sessionWith(port);
  const result = await session.deliver(mail, new AbortController().signal);
  assert.deepEqual(result, { accepted: ['b@example.org'], rejected: [] });
  assert.deepEqual(heard.slice(1, 5), [
    `AUTH PLAIN ${Buffer.from('\0me\0secret').toString('base64')}`,
    'MAIL FROM:<a@example.org>',
    'RCPT TO:<b@example.org>',
    'DATA',
  ]);
  stop();
});

test('a failure holds no word of the server', async (t) => {
  const before = getCACertificates('default');
  setDefaultCACertificates([...before, certificate.cert]);
  t.after(() => setDefaultCACertificates(before));
  const { port, stop } = await startSecureServer(['220 hello', '250 AUTH PLAIN', '535 telling words']);
  const session = await sessionWith(port);
  await assert.rejects(session.deliver(mail, new AbortController().signal), (error) => {
    assert.ok(error instanceof SmtpFailure);
    assert.deepEqual([error.stage, error.replyCode, error.cause], ['login', 535, undefined]);
    assert.doesNotMatch(`${error.stack} ${JSON.stringify(error)}`, /telling/);
    return true;
  });
  stop();
});
