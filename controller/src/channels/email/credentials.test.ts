import type { EmailTarget } from '@cronjob-monitor/shared/domain';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findAddressProblem } from './index.ts';
import { emailCredentialsOf } from './smtp-session.ts';

const target: EmailTarget = {
  type: 'email',
  email: {
    smtpSecretRef: { namespace: 'n', name: 'smtp' },
    from: 'a@example.org',
    to: ['b@example.org'],
    tls: 'required',
    subjectTemplate: undefined,
    bodyTemplate: undefined,
  },
};
const read = (content: Readonly<Record<string, string>>): ReturnType<typeof emailCredentialsOf> =>
  emailCredentialsOf(target, () => new Map(Object.entries(content)));

test('the port is 587 unless the Secret says another; 465 is TLS from the start', () => {
  const parts = (content: Record<string, string>): unknown[] => {
    const { host, port, isSecure } = read(content) as Exclude<ReturnType<typeof read>, { problem: string }>;
    return [host, port, isSecure];
  };
  assert.deepEqual(parts({ host: ' mail.example.org\n' }), ['mail.example.org', 587, false]);
  assert.deepEqual(parts({ host: 'mail', port: '465\n' }), ['mail', 465, true]);
  assert.deepEqual(parts({ host: '2001:db8::1', port: '25' }), ['2001:db8::1', 25, false]);
  assert.deepEqual(parts({ host: '[2001:db8::1]', port: '' }), ['[2001:db8::1]', 587, false]);
});

test('a login is both or neither; only the end of a line is taken off a password', () => {
  const login = (content: Record<string, string>): unknown => {
    const credentials = read({ host: 'mail', ...content });
    return 'problem' in credentials ? credentials.problem : credentials.login;
  };
  assert.equal(login({}), undefined);
  assert.deepEqual(login({ username: ' me ', password: ' a b \n' }), { user: 'me', password: ' a b ' });
  assert.equal(login({ username: 'me' }), 'Secret n/smtp needs both username and password, or neither');
  assert.equal(login({ password: 'x' }), 'Secret n/smtp needs both username and password, or neither');
  assert.equal(
    login({ username: 'me', password: 'a\0b' }),
    'Secret n/smtp has a username or password that cannot be sent',
  );
});

for (const host of [
  '',
  'mail example',
  'mail/x',
  'user@mail',
  'mail:25',
  'mail?x',
  'mail\r\nx',
  'http://mail',
  'mail\\x',
  '%',
]) {
  test(`the host ${JSON.stringify(host)} is none`, () => assert.ok('problem' in read({ host })));
}

for (const port of ['0', '65536', '-1', '25x', '2 5', '999999']) {
  test(`the port ${JSON.stringify(port)} is none`, () => {
    assert.deepEqual(read({ host: 'mail', port }), {
      problem: 'Secret n/smtp has a port that is none',
      category: 'secret',
    });
  });
}

test('without the Secret there is nothing to read', () => {
  const missing = emailCredentialsOf(target, () => undefined);
  assert.deepEqual(missing, { problem: 'Secret n/smtp does not exist', category: 'secret' });
});

test('line breaks, blanks and brackets are in no address, and there are 1 to 50 of them', () => {
  const from = 'a@example.org';
  const problem = (to: readonly string[], sender = from): string | undefined =>
    findAddressProblem({ from: sender, to });
  assert.equal(problem([from]), undefined);
  for (const bad of ['', 'a', 'a@b\r\nRCPT TO:<c@d>', 'a b@c', 'a@<b', 'a@b\0', '@b', 'a@']) {
    assert.equal(problem([from, bad]), 'spec.email.to has an address that cannot be used', bad);
    assert.equal(problem([from], bad), 'spec.email.from is no usable address', bad);
  }
  assert.equal(problem([]), 'spec.email.to needs 1 to 50 addresses');
  assert.equal(problem(Array.from({ length: 50 }, (_, index) => `a${index}@b`)), undefined);
  assert.equal(
    problem(Array.from({ length: 51 }, (_, index) => `a${index}@b`)),
    'spec.email.to needs 1 to 50 addresses',
  );
});
