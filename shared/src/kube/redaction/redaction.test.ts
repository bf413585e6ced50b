import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { redactionMarginBytes } from '../../domain/index.ts';
import { BudgetError, createBudgetedThread, systemClock } from '../../process/index.ts';
import { packTemplate } from '../translate/template-text.ts';
import { createRedaction, redactionProgram, type RedactionAnswer, type RedactionQuestion } from './index.ts';

const kibibyte = 1024;
const mebibyte = 1024 * kibibyte;

function aRedaction(context: TestContext, patterns: readonly string[] = [], budgetMs = 30_000) {
  const thread = createBudgetedThread<RedactionQuestion, RedactionAnswer>({
    program: redactionProgram,
    budgetMs,
    clock: systemClock,
  });
  context.after(() => thread.close());
  const asked: string[] = [];
  const withheld: [string, unknown][] = [];
  const redaction = createRedaction({
    patterns,
    thread: {
      run(question) {
        asked.push(question.kind);
        return thread.run(question);
      },
    },
    onWithheld: (kind, error) => void withheld.push([kind, error]),
  });
  return { redaction, asked, withheld };
}

test('small texts are redacted at once, large ones in the thread', async (context) => {
  const { redaction, asked } = aRedaction(context);
  const all = { maxBytes: mebibyte, cut: false };
  assert.equal((await redaction.log(Buffer.from('password=hunter2 a'), all)).text, 'password=*** a');
  assert.deepEqual(await redaction.messages(['token=abc', 'b']), ['token=***', 'b']);
  assert.deepEqual(asked, []);
  await redaction.log(Buffer.alloc(256 * kibibyte, 'a'), all);
  assert.deepEqual(asked, [], 'up to 256 KiB are small');
  await redaction.log(Buffer.alloc(256 * kibibyte + 1, 'a'), all);
  assert.deepEqual(asked.splice(0), ['log'], 'and what is larger never holds the event loop');
  const large = `${'x\n'.repeat(200_000)}password=hunter2 a`;
  assert.ok((await redaction.log(Buffer.from(large), all)).text.endsWith('\npassword=*** a'));
  assert.deepEqual(asked, ['log']);
});

test('expressions of an installation are applied in the thread, whatever the size', async (context) => {
  const { redaction, asked } = aRedaction(context, ['acme-\\d+']);
  assert.equal((await redaction.log(Buffer.from('acme-12 a'), { maxBytes: 100, cut: false })).text, '*** a');
  assert.deepEqual(await redaction.messages(['acme-1']), ['***']);
  const packed = packTemplate('{"image":"acme-7","env":[{"name":"A","value":"b"}]}') ?? '';
  const [template] = await redaction.templates([packed], 'key');
  assert.match(
    JSON.stringify(template),
    /^\{"image":"\*\*\* \(hash:[0-9a-f]{16}\)","env":\[\{"name":"A","value":"hash:/,
  );
  assert.deepEqual(asked, ['log', 'messages', 'templates']);
});

test('what cannot be redacted in time is withheld, never let through', async (context) => {
  const { redaction, withheld } = aRedaction(context, ['(x|y|xx|yy|xy|z){1,400}q'], 1);
  const log = await redaction.log(Buffer.from('xyz'.repeat(100_000)), { maxBytes: mebibyte, cut: false });
  assert.equal(log.text, '(withheld: it could not be redacted within its time)');
  assert.equal(log.truncated, true);
  assert.equal(withheld.length, 1);
  assert.ok(withheld[0]?.[1] instanceof BudgetError);
});

test('no more than the end of a log and a margin is looked at', async () => {
  const sizes: number[] = [];
  const redaction = createRedaction({
    patterns: ['a'],
    thread: {
      run(question) {
        if (question.kind === 'log') sizes.push(question.bytes.length);
        return Promise.resolve({ kind: 'log', log: { text: '', truncated: false } });
      },
    },
    onWithheld: () => {},
  });
  await redaction.log(Buffer.alloc(8 * mebibyte, 'a'), { maxBytes: 100 * kibibyte, cut: false });
  assert.deepEqual(sizes, [100 * kibibyte + redactionMarginBytes]);
});
