import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hostileFragments, hostileFrames } from '../../testing/index.ts';
import { createRedactor } from './redact.ts';

const redact = createRedactor();
/** Put together here, so that no tool that looks for leaked keys stumbles over this file. */
const joined = (...parts: string[]): string => parts.join('');
const jwt = ['eyJhbGciOiJIUzI1NiJ9', 'eyJzdWIiOiIxMjM0In0', 'c2lnbmF0dXJl'].join('.');
const pem = (kind: string, edge: string): string => `-----${edge} ${kind}PRIVATE KEY-----`;
const keyText = 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nBKcwggSjAgEAAoIBAQC7\n';

/** [what, text, redacted] */
const rows: [string, string, string][] = [
  ['a named value', 'password=hunter2 user=bob', 'password=*** user=bob'],
  ['a name within a longer one', 'export DB_PASSWORD=hunter2', 'export DB_PASSWORD=***'],
  ['a name followed by a word', 'secretKey: abc', 'secretKey: ***'],
  ['a cloud key by its name', 'AWS_SECRET_ACCESS_KEY=wJalr/XUtn+FEMI', 'AWS_SECRET_ACCESS_KEY=***'],
  ['a Go assignment', 'token := "abc def"', 'token := "***"'],
  ['a hash rocket', ":api_key => 'abc'", ":api_key => '***'"],
  ['JSON', '{"password":"hun\\"ter","x":1}', '{"password":"***","x":1}'],
  ['JSON within JSON', '"{\\"token\\":\\"abc\\",\\"x\\":1}"', '"{\\"token\\":\\"***\\",\\"x\\":1}"'],
  ['a parameter of a URL', 'GET /x?api-key=abc&y=1', 'GET /x?api-key=***&y=1'],
  ['any case', 'PassPhrase: open sesame', 'PassPhrase: *** sesame'],
  ['a value that holds a comma', 'pwd=a,b c', 'pwd=*** c'],
  ['the name of a secret is none', 'secretName: db, secret "db" not found', 'secretName: db, secret "db" not found'],
  ['a header', 'Authorization: Basic dXNlcjpwYXNz', 'Authorization: ***'],
  ['a header in JSON', '{"Authorization":"Bearer abc.def","b":2}', '{"Authorization":"***","b":2}'],
  ['cookies', 'Cookie: sid=1; theme=dark\nnext', 'Cookie: ***\nnext'],
  ['a cookie that is set', 'set-cookie: sid=1; HttpOnly', 'set-cookie: ***'],
  ['a bearer token in prose', 'sent bearer abcdefghijklmnop to it', 'sent bearer *** to it'],
  ['bearers that carry no token', 'bearer authentication failed', 'bearer authentication failed'],
  ['user and password of a URL', 'postgres://bob:p@ss:w@db:5432/x', 'postgres://***@db:5432/x'],
  ['a URL without a user', 'https://db:5432/a@b', 'https://db:5432/a@b'],
  ['a JSON web token', `got ${jwt}.`, 'got ***.'],
  ['an AWS key id', joined('id AK', 'IAIOSFODNN7EXAMPLE.'), 'id ***.'],
  ['a GitHub token', joined('x gh', 'p_abcdefghijklmnopqrstuvwxyz0123456789 y'), 'x *** y'],
  ['a Slack token', joined('xo', 'xb-1234567890-abcdefghij'), '***'],
  ['a Slack hook', joined('https://hooks.slack.com/serv', 'ices/T000/B000/XXXX'), 'https://***'],
  [
    'a private key',
    `a\n${pem('RSA ', 'BEGIN')}\nProc-Type: 4,ENCRYPTED\n\n${keyText}${pem('RSA ', 'END')}\nb`,
    `a\n${pem('RSA ', 'BEGIN')}***${pem('RSA ', 'END')}\nb`,
  ],
  [
    'a private key on one line',
    `"${pem('', 'BEGIN')}\\nMIIEvQIBADAN\\n${pem('', 'END')}"`,
    `"${pem('', 'BEGIN')}***${pem('', 'END')}"`,
  ],
  ['a private key without its end', `${pem('', 'BEGIN')}\n${keyText}b c`, `${pem('', 'BEGIN')}***b c`],
  ['a private key on one line, cut', `"${pem('', 'BEGIN')}\\nMIIEvQIBADAN`, `"${pem('', 'BEGIN')}***`],
  ['a private key without its beginning', `${keyText}${pem('', 'END')}\nb`, `***\n${pem('', 'END')}\nb`],
  ['an indented end of a private key', `  ${keyText.trim()}\n  ${pem('', 'END')}\nb`, `***\n  ${pem('', 'END')}\nb`],
  ['the end of a private key on one line', `QIBADAN\\nMIIEv=\\n${pem('', 'END')}" b`, `***${pem('', 'END')}" b`],
  [
    'JSON within JSON within JSON',
    String.raw`"{\"a\":\"{\\\"token\\\":\\\"a b\\\",\\\"x\\\":1}\"}"`,
    String.raw`"{\"a\":\"{\\\"token\\\":\\\"***\\\",\\\"x\\\":1}\"}"`,
  ],
  [
    'a quote within a quoted value within JSON',
    String.raw`"{\"token\":\"a\\\"b\"}"`,
    String.raw`"{\"token\":\"***\"}"`,
  ],
  ['a value that ends in a backslash', String.raw`token="ab\\" x="y"`, 'token="***" x="y"'],
  ['a quoted value that its line ends', 'token="abc\nx="y"', 'token="***\nx="y"'],
  [
    'a sentence about private keys',
    `expected ${pem('', 'BEGIN')}, found x\ny`,
    `expected ${pem('', 'BEGIN')}, found x\ny`,
  ],
  ['an option of a command', 'mysqldump --password hunter2 --db x', 'mysqldump --password *** --db x'],
  ['an option within a longer one', "curl --api-token 'a b' -s", "curl --api-token '***' -s"],
  ['an option in a list of arguments', '["dump","--db-password","x y","-v"]', '["dump","--db-password","***","-v"]'],
  ['an option before another one', '--token --verbose', '--token --verbose'],
  ['a sentence about an option', 'Error: --password is required', 'Error: --password is required'],
  ['a value that begins as a word of a sentence', '--token is-a-secret', '--token ***'],
  ['a word that is no option', 'the password hunter', 'the password hunter'],
  ['a file beside an option', '--token-file /run/token', '--token-file /run/token'],
  ['ordinary text', 'Backup of 3 tables done in 12 s: ok', 'Backup of 3 tables done in 12 s: ok'],
];

for (const [title, text, redacted] of rows) {
  test(`redaction: ${title}`, () => {
    assert.equal(redact(text), redacted);
  });
}

test('redaction twice is redaction once', () => {
  for (const [, , redacted] of rows) assert.equal(redact(redacted), redacted);
});

test('rules of the installation come last', () => {
  assert.equal(createRedactor([(text) => text.replaceAll('acme', '***')])('acme password=x'), '*** password=***');
});

const mebibyte = 1024 * 1024;

/** Of the processor, not of the clock: other processes take that. */
function millisecondsOf(text: string): number {
  const startedAt = process.cpuUsage();
  redact(text);
  const { user, system } = process.cpuUsage(startedAt);
  return (user + system) / 1000;
}

/** Growth of the time where the text grows sixteen times: 16 in one pass, 256 where a rule looks again and again. */
const mostGrowth = 64;
/** Below that what is measured is the process, not the rules. */
const leastMs = 100;

test('no shape of a text makes the time grow with the square of its size', () => {
  for (const [frame, head, tail] of hostileFrames) {
    for (const fragment of hostileFragments) {
      const textOf = (size: number): string => head + fragment.repeat(Math.ceil(size / fragment.length)) + tail;
      const [small, large] = [textOf(mebibyte / 16), textOf(mebibyte)];
      let [smallMs, largeMs] = [Infinity, Infinity];
      // What else the process does only adds: the best of some tries is that of the rules.
      for (let tries = 0; tries < 5 && largeMs > Math.max(leastMs, mostGrowth * smallMs); tries++) {
        smallMs = Math.min(smallMs, millisecondsOf(small));
        largeMs = Math.min(largeMs, millisecondsOf(large));
      }
      const name = `${JSON.stringify(fragment)} ${frame}`;
      assert.ok(largeMs <= Math.max(leastMs, mostGrowth * smallMs), `${name}: ${smallMs} ms, then ${largeMs} ms`);
    }
  }
});

test('a value of many mebibytes needs no memory in proportion to it', () => {
  for (const value of [`password="${'a'.repeat(9 * mebibyte)}`, `${pem('', 'BEGIN')}${'A'.repeat(9 * mebibyte)}`]) {
    assert.ok(redact(value).length < 100);
  }
});
