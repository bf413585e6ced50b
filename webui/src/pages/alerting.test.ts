import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import type {
  ChannelTestResult,
  ExecutionDetail,
  PatternTestInput,
  Silence,
  SilenceInput,
} from '@cronjob-monitor/shared/contract';
import { toasts } from '../kit/toast/toasts.svelte.ts';
import { belongs, concernsAlert } from './alert/state.svelte.ts';
import { Testing } from './channel-parts/testing.svelte.ts';
import { concernsChannel } from './channel/state.svelte.ts';
import { PatternForm } from './settings/pattern-form.svelte.ts';
import { SilenceForm } from './silences/silence-form.svelte.ts';

const nowMs = Date.parse('2026-11-21T14:03:00.000Z');
const viewer = { nowMs, timeZone: 'UTC' };

const silence: Silence = {
  id: '019b',
  state: 'active',
  matcher: {
    namespaces: ['prod'],
    refs: [],
    cronjobs: ['backup'],
    types: ['jobFailed'],
    severities: ['critical'],
    monitor: { namespace: 'prod', name: 'dr' },
    alertId: null,
    all: false,
  },
  startsAt: '2026-11-21T12:00:00.000Z',
  endsAt: '2026-11-21T18:00:00.000Z',
  untilResolved: false,
  comment: 'storage move',
  createdBy: 'ana',
  createdAt: '2026-11-21T12:00:00.000Z',
  updatedAt: '2026-11-21T12:00:00.000Z',
  mutedNow: 2,
  mutedTotal: 2,
};

describe('the form of a silence', () => {
  const answering = (mutedNow: number, asked: SilenceInput[] = []) =>
    SilenceForm.ofQuery(new URLSearchParams('ns=prod&cronjob=backup&type=jobFailed,nonsense'), async (input) => {
      asked.push(input);
      return { ...silence, mutedNow };
    });

  test('begins with what the link asks for', () => {
    assert.deepEqual(answering(0).matcher, { namespaces: ['prod'], cronjobs: ['backup'], types: ['jobFailed'] });
    const one = SilenceForm.ofQuery(new URLSearchParams('monitor=a/m&severity=warning&alert=019a'));
    assert.deepEqual(one.matcher, { severities: ['warning'], monitor: { namespace: 'a', name: 'm' }, alertId: '019a' });
  });

  test('says what it lacks until it can be kept', () => {
    const form = new SilenceForm();
    assert.match(form.lack ?? '', /Say what to hold/);
    form.isAll = true;
    assert.equal(form.lack, undefined, 'a comment is no must');
    form.startsIn = 'tomorrow';
    assert.match(form.lack ?? '', /begins/);
    form.startsIn = '';
    form.end = 'other';
    form.lasts = 'long';
    assert.match(form.lack ?? '', /how long/);
    form.lasts = '31d';
    assert.match(form.lack ?? '', /30 days at most/);
    form.lasts = '30d';
    assert.equal(form.lack, undefined);
    form.isAll = false;
    form.monitor = 'nameless';
    assert.match(form.lack ?? '', /Say what to hold|namespace\/name/);
  });

  test('the whole fleet stands alone in the matcher', () => {
    const form = answering(0);
    form.isAll = true;
    assert.deepEqual(form.matcher, { all: true });
  });

  test('sends an end that is an instant, or a month until what it holds is resolved', () => {
    const form = answering(0);
    form.by = '';
    assert.equal('comment' in form.input(viewer), false);
    form.comment = ' why ';
    assert.deepEqual(form.input(viewer), {
      matcher: form.matcher,
      endsAt: '2026-11-21T18:03:00.000Z',
      untilResolved: false,
      comment: 'why',
    });
    form.end = 'resolved';
    form.by = 'ana';
    assert.deepEqual(form.input(viewer), {
      matcher: form.matcher,
      untilSuccess: true,
      untilResolved: true,
      comment: 'why',
      by: 'ana',
    });
    form.end = 'other';
    form.lasts = '2h';
    form.startsIn = '1d';
    form.comment = '  ';
    const { startsAt, endsAt, comment } = form.input(viewer);
    assert.deepEqual([startsAt, endsAt, comment], ['2026-11-22T14:03:00.000Z', '2026-11-22T16:03:00.000Z', undefined]);
  });

  test('of one that stands keeps what is not changed', () => {
    const refs = [{ namespace: 'prod', name: 'etl' }];
    assert.deepEqual(SilenceForm.ofSilence({ ...silence, matcher: { ...silence.matcher, refs } }).matcher.refs, refs);
    const form = SilenceForm.ofSilence(silence);
    assert.equal(form.isChange, true);
    const { matcher, startsAt, endsAt, comment, by } = form.input(viewer);
    assert.deepEqual([startsAt, endsAt, comment, by], [silence.startsAt, silence.endsAt, 'storage move', 'ana']);
    assert.deepEqual(matcher.monitor, { namespace: 'prod', name: 'dr' });
    const bound = SilenceForm.ofSilence({ ...silence, untilResolved: true }).input(viewer);
    assert.deepEqual([bound.endsAt, bound.untilResolved], [silence.endsAt, true]);
  });

  test('tells what would be held only of the very matcher that was asked about', async () => {
    const asked: SilenceInput[] = [];
    const form = answering(3, asked);
    await form.preview();
    assert.equal(form.heldNow, 3);
    assert.deepEqual(asked[0]?.matcher, form.matcher);
    form.severities = ['warning'];
    assert.equal(form.heldNow, undefined);
  });

  test('asks nothing while nothing is chosen, and keeps what the server says is wrong', async () => {
    const refusing = new SilenceForm(() => Promise.reject(new Error('You may not silence in prod')));
    await refusing.preview();
    assert.equal(refusing.previewFailure, undefined);
    refusing.isAll = true;
    await refusing.preview();
    assert.equal(refusing.previewFailure, 'You may not silence in prod');
  });
});

describe('the pattern tester', () => {
  test('sends only what is given, an exit code as one or as a range', async () => {
    const asked: PatternTestInput[] = [];
    const form = new PatternForm(async (input) => {
      asked.push(input);
      return { matched: true, suggestion: 'Raise its limit', criteria: [], chain: null };
    });
    assert.match(form.lack ?? '', /criterion/);
    form.exitCode = 'x';
    assert.match(form.lack ?? '', /exit code/);
    form.exitCode = '1 - 9';
    assert.match(form.lack ?? '', /suggests/);
    form.suggestion = 'Raise its limit';
    form.runExitCode = '5';
    form.events = 'Killed\n\nEvicted';
    await form.test();
    assert.deepEqual(asked[0], {
      pattern: { name: 'tried', match: { exitCodeRange: { min: 1, max: 9 } }, suggestion: 'Raise its limit' },
      testContext: { exitCode: 5, events: ['Killed', 'Evicted'] },
    });
    assert.equal(form.result?.matched, true);
    form.exitCode = '137';
    assert.equal(form.result, undefined, 'the answer was about another pattern');
    assert.deepEqual(form.input.pattern?.match, { exitCode: 137 });
  });

  test('takes what is kept of a run from the address of its page, and leaves a log that it may not read', async () => {
    const form = new PatternForm();
    form.logs = 'pasted';
    form.stored = 'http://monitor/cronjobs/data/nightly/runs/nightly-1?pod=a#L3';
    const events = [{ reason: 'Killing', message: 'Stopping container backup' }];
    const asked: string[] = [];
    const run = { exitCode: 137, reason: 'OOMKilled', logs: null, events } as unknown as ExecutionDetail; // nothing else of it is read
    await form.take(({ namespace, name }, jobName) => {
      asked.push(`${namespace}/${name}/${jobName}`);
      return Promise.resolve({ value: run, changed: true, servedAt: undefined });
    });
    assert.deepEqual(asked, ['data/nightly/nightly-1']);
    assert.deepEqual(
      [form.runExitCode, form.runReason, form.logs, form.events],
      ['137', 'OOMKilled', 'pasted', 'Killing: Stopping container backup'],
    );
    form.stored = 'nightly';
    await form.take(() => Promise.reject(new Error('not asked')));
    assert.match(form.failure, /namespace\/cronjob\/run/);
  });

  test('tries the patterns of a monitor, alone or with the one that is written', () => {
    const form = new PatternForm();
    form.monitor = 'prod';
    assert.match(form.lack ?? '', /namespace\/name/);
    form.monitor = ' prod/nightly ';
    assert.equal(form.lack, undefined, 'a monitor needs no pattern beside its own');
    const input = (): PatternTestInput => form.input;
    assert.deepEqual(input(), { monitor: { namespace: 'prod', name: 'nightly' }, testContext: {} });
    form.exitCode = '137';
    assert.match(form.lack ?? '', /suggests/, 'one that is begun has to be whole');
    form.suggestion = 'Raise its limit';
    assert.deepEqual(input().pattern?.match, { exitCode: 137 });
    assert.deepEqual(input().monitor, { namespace: 'prod', name: 'nightly' });
  });

  test('says what the server refuses, and tries nothing that lacks something', async () => {
    let calls = 0;
    const form = new PatternForm(() => {
      calls++;
      return Promise.reject(new Error('no'));
    });
    await form.test();
    assert.equal(calls, 0);
    form.logPattern = '(';
    form.suggestion = 's';
    await form.test();
    assert.match(form.failure, /^Could not try the pattern/);
    assert.equal(form.isBusy, false);
  });
});

describe('the test of a channel', () => {
  afterEach(() => {
    for (const { id } of toasts.shown) toasts.close(id);
  });

  const accepted: ChannelTestResult = { success: true, message: '', deliveryId: 'd', category: null, httpStatus: 200 };

  test('is one at a time for each channel, and keeps what came of it', async () => {
    const asked: string[] = [];
    let answer = (_: ChannelTestResult): void => {};
    const testing = new Testing((name) => {
      asked.push(name);
      return new Promise((resolve) => (answer = resolve));
    });
    const first = testing.test('ops');
    await testing.test('ops');
    assert.deepEqual(asked, ['ops'], 'a second click does nothing');
    assert.equal(testing.isBusy('ops'), true);
    answer(accepted);
    await first;
    assert.equal(testing.isBusy('ops'), false);
    assert.equal(testing.resultOf('ops')?.success, true);
    assert.equal(testing.resultOf('other'), undefined);
  });
});

describe('a hint', () => {
  test('concerns the page of an alert when it is about it, its messages or a silence', () => {
    const delivery = { id: 'd', alertId: 'a', channel: 'ops', kind: 'firing', state: 'sent' } as const;
    assert.equal(concernsAlert({ kind: 'delivery', data: delivery }, 'a'), true);
    assert.equal(concernsAlert({ kind: 'delivery', data: delivery }, 'b'), false);
    assert.equal(concernsAlert({ kind: 'silence', data: { id: 's', state: 'active' } }, 'b'), true);
    assert.equal(concernsAlert({ kind: 'channel', data: { name: 'a', ready: true, deleted: false } }, 'a'), false);
  });

  test('concerns the page of a channel when it is about it or its messages', () => {
    const data = { name: 'ops', ready: true, deleted: false };
    assert.equal(concernsChannel({ kind: 'channel', data }, 'ops'), true);
    assert.equal(concernsChannel({ kind: 'channel', data }, 'other'), false);
    assert.equal(concernsChannel({ kind: 'silence', data: { id: 's', state: 'active' } }, 'ops'), false);
  });
});

describe('the runs of the time of an alert', () => {
  const alert = {
    since: '2026-11-21T02:00:00.000Z',
    endedAt: '2026-11-21T05:00:00.000Z',
    context: { jobName: 'cause' },
  } as Parameters<typeof belongs>[1]; // what decides
  const run = (jobName: string, completionTime: string) => ({ jobName, completionTime, createdAt: completionTime });

  test('are those that ended while it was open, and its cause', () => {
    assert.equal(belongs(run('cause', '2026-11-21T01:00:00.000Z'), alert), true);
    assert.equal(belongs(run('a', '2026-11-21T01:00:00.000Z'), alert), false);
    assert.equal(belongs(run('a', '2026-11-21T03:00:00.000Z'), alert), true);
    assert.equal(belongs(run('a', '2026-11-21T06:00:00.000Z'), alert), false);
    assert.equal(belongs(run('a', '2026-11-21T06:00:00.000Z'), { ...alert, endedAt: null }), true);
  });
});
