import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aContainer, aJob, anEnd, aPod, slotAt } from '../../testing/index.ts';
import type { JobFacts } from '../objects/job.ts';
import { findNotStarted, type StartEvent } from './not-started.ts';
import type { ContainerFacts, PodFacts } from '../objects/pod.ts';

const pending = (...containers: ContainerFacts[]): PodFacts => aPod({ phase: 'Pending', containers });
const waits = (waiting: string, waitingMessage?: string): ContainerFacts =>
  aContainer({ waiting, waitingMessage, startedAt: undefined });
const event = (reason: string): StartEvent => ({ reason, message: `${reason} because` });

/** [title, changes of the Job, pods, events, reason; null: it has started or need not] */
const rows: [string, Partial<JobFacts>, PodFacts[], StartEvent[], string | undefined | null][] = [
  ['an image that cannot be pulled', {}, [pending(waits('ImagePullBackOff'))], [], 'ImagePullBackOff'],
  ['an ordinary start tells nothing', {}, [pending(waits('ContainerCreating'))], [], undefined],
  [
    'a volume that is not mounted shows in events',
    {},
    [pending(waits('ContainerCreating'))],
    [event('FailedMount')],
    'FailedMount',
  ],
  [
    'no node',
    {},
    [aPod({ phase: 'Pending', containers: [], unscheduled: 'Unschedulable' })],
    [event('FailedScheduling')],
    'Unschedulable',
  ],
  ['no pod at all', {}, [], [event('SuccessfulCreate'), event('FailedCreate')], 'FailedCreate'],
  ['no pod and no word', {}, [], [], undefined],
  [
    'a process that could not be started never ran',
    {},
    [pending({ ...waits('RunContainerError'), lastTerminated: anEnd(128, 'StartError') })],
    [],
    'RunContainerError',
  ],
  ['a container runs', {}, [aPod()], [], null],
  [
    'an init container has run',
    {},
    [pending(aContainer({ init: true, terminated: anEnd(0) }), waits('ImagePullBackOff'))],
    [],
    null,
  ],
  ['between two attempts', { failedPods: 1 }, [], [], null],
  ['suspended', { suspended: true }, [], [], null],
  ['decided', { decidedAs: 'failed' }, [pending(waits('ImagePullBackOff'))], [], null],
  ['over', { outcome: 'failed' }, [], [], null],
];

for (const [title, changes, pods, events, reason] of rows) {
  test(`not started: ${title}`, () => {
    const found = findNotStarted(aJob({ startedAt: slotAt, ...changes }), pods, events);
    if (reason === null) assert.equal(found, undefined);
    else assert.equal(found?.reason, reason, JSON.stringify(found));
    assert.equal(found === undefined, reason === null);
  });
}

test('a missing start comes with what Kubernetes says of it', () => {
  const pod = pending(waits('CreateContainerConfigError', 'secret "x" not found'));
  assert.equal(findNotStarted(aJob(), [pod])?.message, 'secret "x" not found');
});
