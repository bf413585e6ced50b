/** Put together here, so that no tool that looks for leaked keys stumbles over this file. */
const pem = (edge: string): string => `-----${edge} PRIVATE KEY-----`;

/** Fragments of what the rules look for: none of them a whole, each of them the beginning of a search. */
export const hostileFragments: readonly string[] = [
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
  `${pem('BEGIN')}\n`,
  `${pem('BEGIN')}-----END `,
  `${pem('BEGIN')}AAAAAAAAAAAA`,
  pem('BEGIN'),
  pem('END'),
  `${pem('END')}\n`,
  `AAAAAAAAAAAA\n${pem('END')}\n`,
  '-----BEGIN ',
  '-----BEGIN AAAAAAAA',
  '\\"',
  '\u001b[',
  '\u001b]',
];

/** [what stands around the fragments, head, tail] */
export const hostileFrames: readonly (readonly [string, string, string])[] = [
  ['alone', '', ''],
  ['in a quoted secret', 'password="', ''],
  ['between half a key and the end of something else', `${pem('BEGIN')}\n`, '-----END '],
];
