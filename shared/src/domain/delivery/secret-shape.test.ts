import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chatUrlProblem, receiverUrlProblem, routingKeyProblem, webhookUrlProblem } from './secret-shape.ts';

test('only what looks like a key of a paging service is sent as one', () => {
  for (const key of ['0123456789abcdef0123456789abcdef', 'R0-a_b'.repeat(4)])
    assert.equal(routingKeyProblem(key), undefined);
  const others = [
    'correct horse battery staple',
    'p4$$w0rd-of-the-database',
    'short',
    'a'.repeat(65),
    '{"auths":{}}',
    '-----BEGIN',
  ];
  for (const value of others) {
    const problem = routingKeyProblem(value);
    assert.match(problem ?? '', /^is no routing key/);
    assert.ok(!problem?.includes(value));
  }
});

test('only an http or https URL with a host is sent to', () => {
  for (const url of ['https://hooks.example.com/services/a?b#c', 'http://10.0.0.1:8080/', 'HTTPS://[fd00::1]/x']) {
    assert.equal(receiverUrlProblem(url), undefined, url);
  }
  for (const [value, words] of [
    ['hunter2', /is no URL/],
    ['https:hunter2', /with a host/],
    ['http:/hunter2', /with a host/],
    ['https:////hunter2', /with a host/],
    ['https://', /is no URL/],
    ['ftp://example.org/', /with a host/],
    ['https://exa\nmple.org/hunter2', /is no URL/],
    ['https://user:hunter2@example.org/', /a user or a password/],
  ] as const) {
    const problem = receiverUrlProblem(value);
    assert.match(problem ?? '', words, value);
    assert.doesNotMatch(problem ?? '', /hunter2|example/);
  }
});

test('an address of a chat names who sends, or what topic it is, where the chat asks for it', () => {
  for (const [format, url] of [
    ['slack', 'https://hooks.example.org/'],
    ['telegram', 'https://api.telegram.org/bot42:AA-b_c/sendMessage'],
    ['telegram', 'http://gateway.ops:8081/telegram/bot42:AA/sendMessage'],
    ['ntfy', 'https://ntfy.sh/backups'],
    ['ntfy', 'https://ntfy.example.org/backups?auth=QmVhcmVy'],
  ] as const)
    assert.equal(chatUrlProblem(format, url), undefined, url);
  for (const [format, url, words] of [
    ['teams', 'hunter2', /is no URL/],
    ['telegram', 'https://api.telegram.org/bothunter2', /is no address of a bot/],
    ['telegram', 'https://api.telegram.org/bothunter2/getMe', /is no address of a bot/],
    ['ntfy', 'https://ntfy.sh/', /has no topic/],
    ['ntfy', 'https://ntfy.sh/hunter2.', /has no topic/],
  ] as const) {
    const problem = chatUrlProblem(format, url);
    assert.match(problem ?? '', words, url);
    assert.doesNotMatch(problem ?? '', /hunter2/);
  }
});

for (const { says, value, problem } of [
  { says: 'one base', value: 'http://alertmanager.monitoring:9093', problem: undefined },
  { says: 'several, on lines of their own', value: 'http://a:9093/am\n  https://b:9093/ ', problem: undefined },
  { says: 'the path of its API', value: 'http://a:9093/api/v2/alerts', problem: /^has an address that is no base URL/ },
  { says: 'a query', value: 'http://a:9093/?x=1', problem: /^has an address that is no base URL/ },
  { says: 'what is no URL', value: 'http://a:9093 swordfish', problem: /^has an address that is no URL$/ },
  { says: 'nine', value: Array(9).fill('http://a:9093').join(' '), problem: /^has 9 addresses/ },
]) {
  test(`peers of an Alertmanager: ${says}`, () => {
    const found = webhookUrlProblem('alertmanager', value);
    if (problem === undefined) assert.equal(found, undefined);
    else assert.match(found ?? '', problem);
    assert.doesNotMatch(found ?? '', /swordfish/);
  });
}
