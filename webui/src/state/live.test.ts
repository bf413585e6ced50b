import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, mock, test } from 'node:test';
import { ApiError, type Query } from '../api/client.ts';
import type { Carried } from '@cronjob-monitor/shared/contract';
import type { Hint } from '../api/stream.ts';
import { Live, type Member } from './live.svelte.ts';
import { now } from './now.svelte.ts';

const beginAt = Date.parse('2026-11-21T14:03:00.000Z');

/** As much of a document as the connection asks for. */
class Page extends EventTarget {
  hidden = false;
  turn(hidden: boolean): void {
    this.hidden = hidden;
    this.dispatchEvent(new Event('visibilitychange'));
  }
}
let page = new Page();

beforeEach(() => {
  mock.restoreAll();
  mock.timers.reset();
  mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'], now: beginAt });
  // Both clocks stand with the timers.
  mock.method(performance, 'now', () => Date.now() - beginAt);
  page = new Page();
  Object.assign(globalThis, { document: page });
  now.sync(Date.now() + 60_000);
  now.sync(Date.now());
});
afterEach(() => {
  stopAll();
  Reflect.deleteProperty(globalThis, 'document');
});

let stops: (() => void)[] = [];
function stopAll(): void {
  for (const stop of stops) stop();
  stops = [];
}

/** A stream that is written by hand. */
function aStream(options: { hasStream?: boolean } = {}) {
  const opened: {
    query: Query;
    headers: Readonly<Record<string, string>>;
    signal: AbortSignal;
    say: (text: string) => void;
    end: () => void;
  }[] = [];
  let refusal: unknown;
  const live = new Live({
    hasStream: options.hasStream ?? true,
    random: () => 1,
    open: async (query, headers, signal) => {
      if (refusal !== undefined) throw refusal;
      let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
      const body = new ReadableStream<Uint8Array>({ start: (given) => void (controller = given) });
      signal.addEventListener('abort', () => controller?.error(signal.reason));
      opened.push({
        query,
        headers,
        signal,
        say: (text) => controller?.enqueue(new TextEncoder().encode(text)),
        end: () => controller?.close(),
      });
      return body;
    },
  });
  return { live, opened, refuse: (error: unknown) => void (refusal = error) };
}

function aMember(concerns: (hint: Hint) => boolean = () => true): Member & { readonly asked: number[] } {
  const asked: number[] = [];
  return { asked, concerns, reload: async () => void asked.push(Date.now() - beginAt) };
}

/** Lets streams and promises go on, without time passing. */
const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 60; turn++) await new Promise((resolve) => setImmediate(resolve));
};
const hello = 'event: hello\ndata: {"cursor":"1","serverTime":"x","version":"v0"}\n\n';
const changed = (id: number, name = 'backup'): string =>
  `id: ${id}\nevent: cronjob\ndata: {"namespace":"prod","name":"${name}"}\n\n`;

async function started(options: { hasStream?: boolean } = {}) {
  const stream = aStream(options);
  stops.push(stream.live.start());
  await settle();
  return stream;
}

describe('the stream of changes', () => {
  test('is live as soon as it says hello', async () => {
    const { live, opened } = await started();
    assert.equal(live.connection, 'connecting');
    opened[0]?.say(hello);
    await settle();
    assert.equal(live.connection, 'live');
  });

  test('reloads what a change concerns, and nothing else', async () => {
    const { live, opened } = await started();
    const [mine, other] = [aMember(), aMember(() => false)];
    stops.push(live.join(mine), live.join(other));
    opened[0]?.say(hello);
    opened[0]?.say(changed(2));
    await settle();
    mock.timers.tick(2_000);
    await settle();
    assert.deepEqual([mine.asked.length, other.asked.length], [1, 0]);
  });

  test('reloads a part at most once in two seconds, however much changes', async () => {
    const { live, opened } = await started();
    const member = aMember();
    stops.push(live.join(member));
    opened[0]?.say(hello);
    for (let second = 0; second < 20; second++) {
      for (let id = 0; id < 5; id++) opened[0]?.say(changed(second * 5 + id));
      await settle();
      mock.timers.tick(500);
      await settle();
    }
    assert.ok(member.asked.length >= 4 && member.asked.length <= 6, member.asked.join());
    for (const [index, at] of member.asked.entries())
      assert.ok(at - (member.asked[index - 1] ?? -2_000) >= 2_000, member.asked.join());
  });

  test('reloads at once after a new silence, also when another change has waited before', async () => {
    const { live, opened } = await started();
    const member = aMember();
    stops.push(live.join(member));
    opened[0]?.say(hello);
    opened[0]?.say(changed(2));
    await settle();
    mock.timers.tick(100);
    opened[0]?.say('id: 3\nevent: silence\ndata: {"id":"019c","state":"active"}\n\n');
    await settle();
    mock.timers.tick(400);
    await settle();
    assert.equal(member.asked.length, 1);
    mock.timers.tick(2_000);
    await settle();
    assert.equal(member.asked.length, 1, 'the change before was asked for with it');
  });

  test('reloads everything when it says so', async () => {
    const { live, opened } = await started();
    const member = aMember(() => false);
    stops.push(live.join(member));
    opened[0]?.say(`${hello}event: resync\ndata: {"reason":"tooManyChanges"}\n\n`);
    await settle();
    assert.equal(member.asked.length, 1);
  });

  test('resumes after the last cursor, waiting longer after each failure', async () => {
    const stream = await started();
    stream.opened[0]?.say(hello + changed(42));
    await settle();
    stream.opened[0]?.end();
    await settle();
    assert.notEqual(stream.live.connection, 'live');
    mock.timers.tick(1_000);
    await settle();
    assert.equal(stream.opened[1]?.headers['last-event-id'], '42');
    stream.opened[1]?.end();
    await settle();
    mock.timers.tick(1_000);
    await settle();
    assert.equal(stream.opened.length, 2, 'the second wait is longer');
    mock.timers.tick(1_000);
    await settle();
    assert.equal(stream.opened.length, 3);
  });

  test('is left for that of another cluster at once, which is followed from its own beginning', async () => {
    const { live, opened } = await started();
    const member = aMember();
    stops.push(live.join(member));
    opened[0]?.say(hello);
    opened[0]?.say(changed(41));
    await settle();
    live.restart();
    await settle();
    assert.equal(opened[0]?.signal.aborted, true);
    assert.equal(opened.length, 2);
    assert.equal(opened[1]?.headers['last-event-id'], undefined, 'a cursor is of one cluster');
    opened[1]?.say(hello);
    await settle();
    assert.equal(live.connection, 'live');
    mock.timers.tick(5_000);
    await settle();
    assert.equal(opened.length, 2);
  });

  test('is given up and begun again when it falls silent', async () => {
    const { opened } = await started();
    opened[0]?.say(hello);
    await settle();
    mock.timers.tick(40_000);
    await settle();
    mock.timers.tick(1_000);
    await settle();
    assert.deepEqual([opened[0]?.signal.aborted, opened.length], [true, 2]);
  });
});

test('a browser whose clock is a day off is told the time of the server, and waits no longer for it', async () => {
  const { live, opened } = await started();
  const member = aMember();
  stops.push(live.join(member));
  const serverAt = beginAt - 86_400_000;
  opened[0]?.say(
    `event: hello\ndata: {"cursor":"1","serverTime":"${new Date(serverAt).toISOString()}","version":"v0"}\n\n`,
  );
  await settle();
  assert.equal(live.heardAt, serverAt);
  const before = member.asked.length;
  opened[0]?.say(changed(2));
  await settle();
  mock.timers.tick(2_000);
  await settle();
  assert.equal(member.asked.length - before, 1);
});

describe('without a stream', () => {
  test('everything visible is asked for every 15 s', async () => {
    const { live } = await started({ hasStream: false });
    const member = aMember();
    const leave = live.join(member);
    live.answered();
    assert.equal(live.connection, 'checking');
    for (let round = 0; round < 3; round++) {
      mock.timers.tick(15_000);
      await settle();
    }
    assert.deepEqual(member.asked, [15_000, 30_000, 45_000]);
    leave();
    mock.timers.tick(15_000);
    await settle();
    assert.equal(member.asked.length, 3, 'what left is not asked for');
  });

  test('a service that answers 404 is not asked for its stream again', async () => {
    const stream = aStream();
    stream.refuse(new ApiError({ message: 'No such path', code: 'NOT_FOUND', status: 404, requestId: null }));
    stops.push(stream.live.start());
    await settle();
    stream.refuse(undefined);
    for (let round = 0; round < 8; round++) {
      mock.timers.tick(15_000);
      await settle();
    }
    assert.equal(stream.opened.length, 0);
  });

  test('10 s without one begin the conditional requests', async () => {
    const { live } = await started();
    const member = aMember();
    stops.push(live.join(member));
    mock.timers.tick(10_000);
    await settle();
    assert.equal(member.asked.length, 1);
  });
});

describe('a hidden page', () => {
  test('rests after 30 s: no stream and no request', async () => {
    const { live, opened } = await started();
    const member = aMember();
    stops.push(live.join(member));
    opened[0]?.say(hello);
    await settle();
    const before = member.asked.length;
    page.turn(true);
    mock.timers.tick(29_000);
    await settle();
    assert.equal(opened[0]?.signal.aborted, false);
    mock.timers.tick(1_000);
    await settle();
    assert.equal(opened[0]?.signal.aborted, true);
    for (let round = 0; round < 4; round++) {
      mock.timers.tick(60_000);
      await settle();
    }
    assert.deepEqual([opened.length, member.asked.length - before], [1, 0]);
  });

  test('that is looked at again asks once for everything, then for the stream', async () => {
    const { live, opened } = await started();
    const member = aMember();
    stops.push(live.join(member));
    page.turn(true);
    mock.timers.tick(30_000);
    await settle();
    const before = member.asked.length;
    page.turn(false);
    await settle();
    assert.deepEqual([member.asked.length - before, opened.length], [1, 2]);
  });

  test('that is looked at again within 30 s goes on as if nothing had been', async () => {
    const { opened } = await started();
    page.turn(true);
    mock.timers.tick(20_000);
    page.turn(false);
    mock.timers.tick(15_000);
    await settle();
    assert.deepEqual([opened.length, opened[0]?.signal.aborted], [1, false]);
  });
});

test('a server that does not answer is away, with the time of its last word', async () => {
  const { live } = await started({ hasStream: false });
  assert.equal(live.connection, 'connecting');
  live.answered();
  live.lost(beginAt + 4_000);
  assert.deepEqual([live.connection, live.heardAt, live.retryAt], ['away', beginAt, beginAt + 4_000]);
  live.answered();
  assert.equal(live.connection, 'checking');
});

describe('what the stream carries', () => {
  const overview = (revision: number, critical: number): string =>
    `event: overview\ndata: ${JSON.stringify({ revision: String(revision), stats: { states: { critical } } })}\n\n`;
  const row = (revision: number): string => `event: row\ndata: {"revision":"${revision}","row":{}}\n\n`;

  async function anOpenStream(member: Member, expected: readonly Carried[] = []) {
    const { live, opened } = aStream();
    stops.push(live.join(member), live.start(expected));
    await settle();
    opened[0]?.say(hello);
    await settle();
    return { live, opened, say: async (text: string) => (opened.at(-1)?.say(text), settle()) };
  }

  test('goes to the parts that take it, and makes no part ask', async () => {
    const taken: string[] = [];
    const member = { ...aMember(), takes: ({ kind }: Hint) => taken.push(kind) > 0 };
    const { say } = await anOpenStream(member);
    await say(row(5));
    await say(overview(6, 1));
    mock.timers.tick(60_000);
    assert.deepEqual([taken, member.asked], [['row', 'overview'], []]);
  });

  test('is dropped when it is older than what came before', async () => {
    const taken: string[] = [];
    const member = { ...aMember(), takes: (hint: Hint) => taken.push(JSON.stringify(hint.data).slice(0, 16)) > 0 };
    const { say } = await anOpenStream(member);
    await say(overview(9, 1));
    await say(overview(8, 2));
    await say(overview(10, 3));
    assert.deepEqual(taken, ['{"revision":"9",', '{"revision":"10"']);
  });

  test('counts anew with each stream: an empty database begins with the first change', async () => {
    const taken: string[] = [];
    const member = { ...aMember(), takes: (hint: Hint) => taken.push(JSON.stringify(hint.data).slice(0, 16)) > 0 };
    const { say } = await anOpenStream(member);
    await say(overview(9, 1));
    await say(hello);
    await say(overview(2, 2));
    assert.deepEqual(taken, ['{"revision":"9",', '{"revision":"2",']);
  });

  test('makes a list ask when counts change: a few times soon, then once a minute however much happens', async () => {
    const member = { ...aMember(), fleetPauseMs: 60_000 };
    const { say } = await anOpenStream(member);
    for (let second = 0; second < 600; second += 5) {
      await say(overview(second + 10, second));
      mock.timers.tick(5_000);
      await settle();
    }
    assert.ok(member.asked.length >= 10 && member.asked.length <= 13, `${member.asked.length} requests in 10 minutes`);
    const soon = member.asked.filter((at) => at < 60_000).length;
    assert.ok(soon >= 3, `${soon} in the first minute`);
  });

  test('makes no list ask while the counts stay as they are', async () => {
    const member = { ...aMember(), fleetPauseMs: 60_000 };
    const { say } = await anOpenStream(member);
    for (let revision = 1; revision < 100; revision++) {
      await say(overview(revision, 3));
      mock.timers.tick(5_000);
      await settle();
    }
    assert.equal(member.asked.length, 1);
  });

  test('carries from the beginning what the page that is on its way will want', async () => {
    const { live, opened } = await anOpenStream(
      aMember(() => false),
      ['incidents'],
    );
    live.join({ ...aMember(() => false), carries: 'incidents' });
    mock.timers.tick(5_000);
    await settle();
    assert.deepEqual(
      opened.map(({ query }) => query['carry']),
      [['overview', 'rows', 'incidents']],
    );
  });

  test('carries runs, or rows of the wall in its columns, in place of the rows of a list', async () => {
    const asked = (member: object): Query | undefined => {
      const { live, opened } = aStream();
      stops.push(live.join({ ...aMember(() => false), refs: ['prod/a'], ...member }), live.start());
      return opened[0]?.query;
    };
    assert.deepEqual(asked({ carries: 'runs' }), { carry: ['overview', 'runs'], refs: 'prod/a' });
    assert.deepEqual(asked({ carries: 'wall', step: '3h' }), {
      carry: ['overview', 'wall'],
      refs: 'prod/a',
      step: '3h',
    });
    assert.deepEqual(asked({ carries: 'incidents' }), { carry: ['overview', 'rows', 'incidents'], refs: 'prod/a' });
  });

  test('is asked for anew a second after other rows are in sight, from the change that was seen last', async () => {
    let refs: readonly string[] = ['prod/a'];
    const member = {
      ...aMember(() => false),
      carries: 'incidents' as const,
      get refs() {
        return refs;
      },
    };
    const { live, opened, say } = await anOpenStream(member);
    await say('id: 7\nevent: alert\ndata: {}\n\n');
    // Rows are read from a database that is ahead of what this stream has told: only its own places are kept.
    await say(row(12));
    refs = ['prod/a', 'prod/b'];
    live.refsChanged();
    await say('id: 9\nevent: alert\ndata: {}\n\n');
    mock.timers.tick(999);
    await settle();
    assert.equal(opened.length, 1);
    mock.timers.tick(1);
    await settle();
    assert.deepEqual(
      opened.map(({ query, headers }) => [query['refs'], headers['last-event-id']]),
      [
        ['prod/a', undefined],
        ['prod/a,prod/b', '7'],
      ],
    );
    assert.equal(opened[0]?.signal.aborted, true);
    assert.deepEqual(
      opened[0]?.query['carry'],
      ['overview', 'rows', 'incidents'],
      'what a part of the page wants carried',
    );
  });
});
