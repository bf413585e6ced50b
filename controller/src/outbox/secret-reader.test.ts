import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClusterError, type SecretContent, type SecretRules } from '@cronjob-monitor/shared/kube';
import { FakeClock } from '@cronjob-monitor/shared/testing';
import type { ChannelTarget } from '../channels/index.ts';
import { createSecretReader } from './secret-reader.ts';

const never = new AbortController().signal;
const target: ChannelTarget = {
  type: 'chat',
  chat: {
    format: 'slack',
    webhookSecretRef: { namespace: 'ops', name: 'chat', key: 'url' },
    defaultChannel: undefined,
    messageTemplate: undefined,
  },
};
const canary = 'https://hooks.example.org/canary';

function start(rules: SecretRules = { namespaces: ['ops'], labelled: [] }) {
  const clock = new FakeClock();
  const state: { answer: SecretContent | undefined | Error; reads: number } = {
    answer: { labels: {}, resourceVersion: '1', values: new Map([['url', canary]]) },
    reads: 0,
  };
  const cluster = {
    findSecret: () => {
      state.reads++;
      return state.answer instanceof Error ? Promise.reject(state.answer) : Promise.resolve(state.answer);
    },
  };
  return { clock, state, reader: createSecretReader({ cluster, rules, clock }) };
}

test('a value is read once in half a minute, anew when it is asked for, and when a receiver did not like it', async () => {
  const { clock, state, reader } = start();
  const valueOf = async (fresh?: boolean): Promise<string | undefined> => {
    const read = await reader.read(target, never, fresh);
    return read.kind === 'read' ? read.secrets({ namespace: 'ops', name: 'chat' })?.get('url') : undefined;
  };
  assert.deepEqual([await valueOf(), await valueOf(), state.reads], [canary, canary, 1]);
  await valueOf(true);
  assert.equal(state.reads, 2);
  reader.forget(target);
  await valueOf();
  assert.equal(state.reads, 3);
  await clock.advance(30_000);
  await valueOf();
  assert.equal(state.reads, 4);
});

test('what is missing is asked for again at once: it may be there by now', async () => {
  const { state, reader } = start();
  const { answer } = state;
  state.answer = undefined;
  const missing = await reader.read(target, never);
  assert.ok(missing.kind === 'read' && missing.secrets({ namespace: 'ops', name: 'chat' }) === undefined);
  state.answer = answer;
  const there = await reader.read(target, never);
  assert.ok(there.kind === 'read' && there.secrets({ namespace: 'ops', name: 'chat' }) !== undefined);
});

test('a namespace that is not allowed, a label that is missing, a right that is missing are told without the value', async () => {
  const forbidden = new ClusterError('forbidden', { verb: 'get', resource: 'secrets', message: canary });
  for (const { rules, answer, words, reads } of [
    {
      rules: { namespaces: ['elsewhere'], labelled: [] },
      answer: undefined,
      words: /secret-namespaces/,
      reads: 0,
    },
    { rules: { namespaces: ['*'], labelled: ['*'] }, answer: undefined, words: /lacks the label/, reads: 1 },
    { rules: { namespaces: ['ops'], labelled: [] }, answer: forbidden, words: /no right to read/, reads: 1 },
  ]) {
    const { state, reader } = start(rules);
    if (answer) state.answer = answer;
    const read = await reader.read(target, never);
    assert.ok(read.kind === 'unusable');
    assert.deepEqual([read.problem.next, read.problem.category, state.reads], ['invalid', 'secret', reads]);
    assert.match(read.problem.message, words);
    assert.doesNotMatch(JSON.stringify(read), /canary/);
  }
});

test('an API server that does not answer is no finding, and an abort is one', async () => {
  const { state, reader } = start();
  state.answer = new ClusterError('unreachable', { verb: 'get', resource: 'secrets', message: 'no connection' });
  assert.deepEqual(await reader.read(target, never), { kind: 'unanswered' });
  const aborted = AbortSignal.abort(new Error('the lead is lost'));
  await assert.rejects(reader.read(target, aborted), /the lead is lost/);
});
