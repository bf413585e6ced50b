import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listFiles, readProjectFile } from './project-files.ts';

/** Pronouns without a subject: a comment names what acts. In backticks they are words of the contract. */
const subjectless = /\b(?:nobody|whoever|somebody|anybody|everybody)\b/i;
const comment = /(?:^|\s)\/\/.*|^\s*(?:\/\*\*?|\*).*/;
const title = /^\s*(?:test|it|describe|contract|scenario|journey)\((['"`])(.*?)\1/;

/** Lines whose comment, or whose title of a test, names no subject, as `place: text`. */
function findSubjectless(path: string, text: string): string[] {
  return text.split('\n').flatMap((line, index) => {
    const said = title.exec(line)?.[2] ?? comment.exec(line)?.[0].replaceAll(/`[^`]*`/g, '') ?? '';
    return subjectless.test(said) ? [`${path}:${index + 1}: ${line.trim()}`] : [];
  });
}

test('comments of the sources and titles of the tests name what acts', () => {
  const sources = listFiles('{controller,apiserver,webui,shared}/src/**/*.{ts,svelte}').concat(
    listFiles('scripts/**/*.mjs'),
    listFiles('tests/**/*.ts'),
  );
  const written = sources.filter((path) => path !== 'tests/architecture/comments.test.ts');
  assert.ok(written.length > 1_500, 'the sources are found');
  assert.deepEqual(
    written.flatMap((path) => findSubjectless(path, readProjectFile(path))),
    [],
  );
});

test('a comment without a subject is found in each form, and a word of the contract is none', () => {
  const text =
    "a(); // nobody waits\n/** Whoever asks. */\n * is told to somebody\n/** `nobody`: a state. */\nsay('nobody is told');\n  test('tells nobody', () => {";
  assert.deepEqual(
    findSubjectless('a.ts', text).map((line) => line.slice(0, 6)),
    ['a.ts:1', 'a.ts:2', 'a.ts:3', 'a.ts:6'],
  );
});
