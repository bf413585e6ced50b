import assert from 'node:assert/strict';
import { test } from 'node:test';
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

/** Fragments of what the rules look for: none of them a whole, each of them the beginning of a search. */
const hostile = [
  'a',
  'eyJ',
  'eyJ-',
  'eyJa.',
  'token',
  'token=',
  'token:"\\',
  'token:"\\"',
  'password="',
  'secret_key_',
  '{\\"token\\":\\"{\\\\\\"',
  '\\',
  '://',
  '://a',
  '@',
  'ghp_',
  'sk-',
  'xoxb-',
  'bearer ',
  'cookie: ',
  '\n',
  'a\n',
  'AAAAAAAAAAAA\n',
  `${pem('', 'BEGIN')}\n`,
  `${pem('', 'BEGIN')}-----END `,
  `${pem('', 'BEGIN')}AAAAAAAAAAAA`,
  pem('', 'BEGIN'),
  pem('', 'END'),
  `${pem('', 'END')}\n`,
  `AAAAAAAAAAAA\n${pem('', 'END')}\n`,
  '-----BEGIN ',
  '-----BEGIN AAAAAAAA',
  '\\"',
  '\u001b[',
  '\u001b]',
];
const mebibyte = 1024 * 1024;
/** [what stands around the fragments, head, tail] */
const frames: [string, string, string][] = [
  ['alone', '', ''],
  ['in a quoted secret', 'password="', ''],
  ['between half a key and the end of something else', `${pem('', 'BEGIN')}\n`, '-----END '],
];

/** Of the processor, not of the clock: other processes take that. */
function millisecondsOf(text: string): number {
  const startedAt = process.cpuUsage();
  redact(text);
  const { user, system } = process.cpuUsage(startedAt);
  return (user + system) / 1000;
}

/** Times of two texts, the best of so many tries as it takes to keep the ratio: what else the process does only adds. */
function bestTimes(two: string, four: string): readonly [number, number] {
  let best: readonly [number, number] = [Infinity, Infinity];
  for (let tries = 0; tries < 8; tries++) {
    best = [Math.min(best[0], millisecondsOf(two)), Math.min(best[1], millisecondsOf(four))];
    if (best[1] <= 2.5 * best[0]) break;
  }
  return best;
}

test('four mebibytes of the worst fragments take at most 2.5 times as long as two', () => {
  for (const fragment of hostile) {
    for (const [frame, head, tail] of frames) {
      const textOf = (size: number): string => head + fragment.repeat(Math.ceil(size / fragment.length)) + tail;
      const name = `${JSON.stringify(fragment)} ${frame}`;
      // A square shows on small texts already, and would take minutes on large ones.
      const small = millisecondsOf(textOf(mebibyte / 8));
      assert.ok(small < 300, `128 KiB of ${name} took ${small.toFixed(0)} ms`);
      const [two, four] = bestTimes(textOf(2 * mebibyte), textOf(4 * mebibyte));
      // Below that, what is measured is the machine.
      assert.ok(four <= Math.max(40, 2.5 * two), `${name}: ${two.toFixed(0)} ms, then ${four.toFixed(0)} ms`);
    }
  }
});

test('a value of many mebibytes needs no memory in proportion to it', () => {
  for (const value of [`password="${'a'.repeat(9 * mebibyte)}`, `${pem('', 'BEGIN')}${'A'.repeat(9 * mebibyte)}`]) {
    assert.ok(redact(value).length < 100);
  }
});
