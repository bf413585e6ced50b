import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allSentences, sentencesOf } from './words.mjs';

/** Words that leave open who is meant, and riddles that were mended once. */
const riddles =
  /\b(nobody|whoever|somebody)\b|stands there twice|none of (its|the) words|\bis no (JSON|UTF|parameter|field|number)/i;
/** Rooms whose sentences are still to be read. */
const unread = /^controller\/src\/(evaluate|alerting|term)\/|^webui\//;

test('errors and log lines say who does what', () => {
  const sentences = allSentences();
  assert.ok(sentences.length > 300, 'the sentences are found');
  const wrong = sentences.filter(({ path, text }) => !unread.test(path) && riddles.test(text));
  assert.deepEqual(
    wrong.map(({ path, line, text }) => `${path}:${line} ${text}`),
    [],
  );
});

test('finds what errors, log lines and shown fields say, and nothing else', () => {
  const source = `
    logger.warn('the lease was lost', { why: 'another one leads' });
    throw new Error(\`no \${thing} here\`);
    const query = ask('select a from b');
    return { message: 'is not given', sql: 'delete from b' };`;
  assert.deepEqual(
    sentencesOf('a.ts', source).map(({ kind, line, text }) => [kind, line, text]),
    [
      ['log', 2, 'the lease was lost'],
      ['shown', 2, 'another one leads'],
      ['error', 3, 'no … here'],
      ['shown', 5, 'is not given'],
    ],
  );
});
