import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FakeClock } from '@cronjob-monitor/shared/testing';
import { createSharedAnswers, type SharedAnswers } from './shared-answers.ts';

interface Bench {
  readonly clock: FakeClock;
  readonly answers: SharedAnswers;
  /** The database changes. */
  readonly change: () => void;
  /** Asks for an answer that takes so long; its number tells how often one was made. */
  readonly ask: (tookMs: number, key?: string, how?: { readonly mayLag: boolean }) => Promise<number>;
  readonly made: () => number;
}

function start(): Bench {
  const clock = new FakeClock();
  let changes = 0;
  let made = 0;
  const answers = createSharedAnswers({ clock, findMark: async () => String(changes) });
  return {
    clock,
    answers,
    change: () => void changes++,
    made: () => made,
    ask: async (tookMs: number, key = 'one', how?: { readonly mayLag: boolean }) => {
      const make = async (): Promise<{ readonly number: number }> => {
        const number = ++made;
        await clock.advance(tookMs);
        return { number };
      };
      return (await answers.read([key], make, how)).number;
    },
  };
}

describe('answers that are shared', () => {
  it('that may lag are kept beside changes, and no longer than others', async () => {
    const { clock, answers, change, ask } = start();
    const mayLag = { mayLag: true };
    assert.equal(await ask(200, 'lanes', mayLag), 1);
    change();
    assert.equal(await ask(200, 'lanes', mayLag), 1);
    assert.equal(await ask(200, 'counts'), 2);
    change();
    assert.equal(await ask(200, 'counts'), 3);
    await clock.advance(10_000);
    assert.equal(await ask(200, 'lanes', mayLag), 4);
    answers.forget();
    assert.equal(await ask(200, 'lanes', mayLag), 5, 'what was done through this process is seen at once');
  });

  it('are read once while nothing has changed, for ten times as long as it took, and five seconds at most', async () => {
    const { clock, ask } = start();
    assert.equal(await ask(200), 1);
    assert.equal(await ask(200), 1);
    await clock.advance(1_700);
    assert.equal(await ask(200), 1);
    await clock.advance(4_000);
    assert.equal(await ask(200), 2);
    assert.equal(await ask(900, 'slow'), 3);
    await clock.advance(4_900);
    assert.equal(await ask(900, 'slow'), 3);
    await clock.advance(5_200);
    assert.equal(await ask(900, 'slow'), 4);
  });

  it('are read anew as soon as the database has changed', async () => {
    const { change, ask } = start();
    assert.equal(await ask(200), 1);
    change();
    assert.equal(await ask(200), 2);
  });

  it('are read anew after a change through this process', async () => {
    const { answers, ask } = start();
    assert.equal(await ask(200), 1);
    answers.forget();
    assert.equal(await ask(200), 2);
  });

  it('are not kept when they cost little', async () => {
    const { ask } = start();
    assert.equal(await ask(5), 1);
    assert.equal(await ask(5), 2);
  });

  it('that grow old are renewed while the old one is given', async () => {
    const { clock, ask, made } = start();
    assert.equal(await ask(200), 1);
    await clock.advance(2_100);
    assert.equal(await ask(200), 1);
    await clock.advance(0);
    assert.equal(made(), 2);
    assert.equal(await ask(200), 2);
  });

  it('are told apart by their keys', async () => {
    const { ask } = start();
    assert.equal(await ask(200, 'one'), 1);
    assert.equal(await ask(200, 'other'), 2);
    assert.equal(await ask(200, 'one'), 1);
  });

  it('that fail are asked for again by the next one', async () => {
    const { answers, ask } = start();
    await assert.rejects(answers.read(['one'], async () => Promise.reject(new Error('away'))));
    assert.equal(await ask(200), 1);
  });

  it('are read by one of those who ask at the same time', async () => {
    const { ask, made } = start();
    assert.deepEqual(await Promise.all([ask(200), ask(200), ask(200)]), [1, 1, 1]);
    assert.equal(made(), 1);
  });

  it('of whole lists make room for each other', async () => {
    const { answers, clock } = start();
    let made = 0;
    const list = async (): Promise<object> => {
      made++;
      await clock.advance(100);
      return { items: Array.from({ length: 10_000 }) };
    };
    for (const key of ['a', 'b', 'c', 'd', 'e']) await answers.read([key], list);
    await answers.read(['e'], list);
    assert.equal(made, 5);
    await answers.read(['a'], list);
    assert.equal(made, 6, 'the oldest one had to go');
  });
});

it('tells a question about no namespace at all from one about every namespace', async () => {
  const { answers } = start();
  const ask = (namespaces: readonly string[]) => answers.read(['stats', namespaces], async () => ({ of: namespaces }));
  const [everywhere, nowhere] = await Promise.all([ask([]), ask([''])]);
  assert.deepEqual([everywhere.of, nowhere.of], [[], ['']]);
});
