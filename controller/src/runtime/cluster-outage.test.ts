import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { ClusterError, type ClusterErrorCode } from '@cronjob-monitor/shared/kube';
import { RecordingLogger } from '@cronjob-monitor/shared/testing';
import { ClusterOutage, WatchProblem } from './watch-recovery.ts';

let logger: RecordingLogger;
let watches: WatchProblem[];
beforeEach(() => {
  logger = new RecordingLogger();
  const outage = new ClusterOutage(logger);
  watches = ['jobs', 'pods', 'cronjobs'].map(
    (resource) => new WatchProblem({ kind: 'Job', resource, namespace: undefined }, outage, logger),
  );
});

const failure = (code: ClusterErrorCode) =>
  new ClusterError(code, { verb: 'watch', resource: 'jobs', message: `watch jobs: ${code}` });
const told = () => logger.lines.map(({ level, message }) => `${level} ${message}`);

test('an outage is one line for all that is watched, and one at its end', () => {
  for (const watch of watches) watch.failed('watch', failure('unreachable'));
  for (const watch of watches) watch.failed('list', failure('timeout'));
  assert.deepEqual(told(), ['warn the cluster does not answer']);
  for (const watch of watches) {
    assert.deepEqual(told(), ['warn the cluster does not answer'], 'not before the last');
    watch.worked('list');
    watch.worked('watch');
  }
  assert.deepEqual(told(), ['warn the cluster does not answer', 'info the cluster answers again']);
});

test('a list that works ends no outage of its watch', () => {
  const [jobs] = watches;
  for (let time = 0; time < 3; time++) {
    jobs?.failed('watch', failure('unavailable'));
    jobs?.worked('list');
  }
  assert.deepEqual(told(), ['warn the cluster does not answer']);
});

test('a refusal is an answer, and told of the resource it is about', () => {
  const [jobs, pods] = watches;
  jobs?.failed('list', failure('unreachable'));
  pods?.failed('list', failure('unreachable'));
  jobs?.failed('list', failure('forbidden'));
  assert.deepEqual(told(), ['warn the cluster does not answer', 'warn the cluster cannot be watched']);
  pods?.failed('list', failure('forbidden'));
  assert.deepEqual(told().slice(2), ['info the cluster answers again', 'warn the cluster cannot be watched']);
});
