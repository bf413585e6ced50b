import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClusterError, type ClusterErrorCode } from '@cronjob-monitor/shared/kube';
import { FakeClock, RecordingLogger } from '@cronjob-monitor/shared/testing';
import { createStatusWriting } from './status-writing.ts';

const { signal } = new AbortController();
const key = { namespace: 'prod', name: 'backups' };

/** A cluster that answers every patch with the failure of the moment, if there is one. */
function aCluster() {
  const state: { failure: ClusterError | undefined } = { failure: undefined };
  const patch = async () => {
    if (state.failure) throw state.failure;
  };
  const cluster = { patchMonitorStatus: patch, patchChannelStatus: patch };
  const logger = new RecordingLogger();
  const clock = new FakeClock();
  return { state, logger, clock, writing: createStatusWriting({ cluster, clock, logger }) };
}

const failure = (code: ClusterErrorCode, message = 'refused') =>
  new ClusterError(code, { verb: 'patch', resource: 'cronjobmonitors/status', message });

test('a refused status is told once, and once that it is written again', async () => {
  const { state, logger, writing } = aCluster();
  state.failure = failure('invalid');
  for (let time = 0; time < 3; time++) await writing.patchMonitorStatus(key, {}, undefined, signal);
  await writing.patchChannelStatus('backups', {}, undefined, signal);
  state.failure = undefined;
  for (let time = 0; time < 2; time++) await writing.patchMonitorStatus(key, {}, undefined, signal);
  assert.deepEqual(
    logger.lines.map(({ level, fields }) => `${level} ${String(fields?.['object'])}`),
    ['warn cronjobmonitors prod/backups', 'warn alertchannels backups', 'info cronjobmonitors prod/backups'],
  );
});

test('another reason is another line', async () => {
  const { state, logger, writing } = aCluster();
  for (const reason of ['spec.selector', 'spec.sla']) {
    state.failure = failure('invalid', reason);
    await writing.patchMonitorStatus(key, {}, undefined, signal);
  }
  assert.equal(logger.lines.length, 2);
});

test('every other failure is the business of who asked', async () => {
  const { state, writing } = aCluster();
  for (const code of ['conflict', 'notFound', 'unreachable'] as const) {
    state.failure = failure(code);
    await assert.rejects(writing.patchMonitorStatus(key, {}, undefined, signal), { code });
    await assert.rejects(writing.patchChannelStatus('backups', {}, undefined, signal), { code });
  }
});

test('a missing right is one problem with names, told by no line of its own, until it is there or the object is gone', async () => {
  const { state, logger, clock, writing } = aCluster();
  state.failure = failure('forbidden');
  for (const name of ['b', 'a', 'c']) await writing.patchMonitorStatus({ ...key, name }, {}, undefined, signal);
  assert.equal(writing.isMonitorRefused({ ...key, name: 'a' }), true);
  const [problem, ...more] = writing.problems();
  assert.match(
    problem?.sentence ?? '',
    /^the service may not patch cronjobmonitors\/status \(prod\/a and 2 more\): give/,
  );
  assert.equal(problem?.blocks, false);
  assert.equal(more.length, 0);
  assert.equal(logger.lines.length, 0);
  state.failure = undefined;
  for (const name of ['a', 'b']) await writing.patchMonitorStatus({ ...key, name }, {}, undefined, signal);
  assert.match(writing.problems()[0]?.sentence ?? '', /\(prod\/c\)/);
  await clock.advance(11 * 60_000 + 1);
  assert.deepEqual(writing.problems(), []);
});
