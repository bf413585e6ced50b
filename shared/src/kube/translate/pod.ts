import {
  readFacts,
  type ContainerFacts,
  type PodFacts,
  type Termination,
  objectOf,
  type Json,
} from '../../domain/index.ts';
import { arrayOf, countOf, instantOf, numberOf, textOf, toLine } from './fields.ts';
import type { Interner } from './interner.ts';
import { controllerOf, metadataOf, type Metadata } from './metadata.ts';

const indexMark = 'batch.kubernetes.io/job-completion-index';
const maxMessageChars = 500;

/** A pod as Kubernetes sent it; undefined when no Job controls it, or when it has no UID or name. Throws nothing. */
export function toPodFacts(object: Json, intern: Interner): PodFacts | undefined {
  const metadata = metadataOf(object);
  const job = metadata && controllerOf(metadata, 'Job');
  if (!metadata || !job) return undefined;
  const spec = objectOf(object['spec']);
  const status = objectOf(object['status']);
  const unscheduled = conditionOf(status, 'PodScheduled', 'False');
  const message = textOf(status['message']) ?? unscheduled?.message;
  return {
    uid: metadata.uid,
    namespace: intern(metadata.namespace),
    name: metadata.name,
    jobUid: job.uid,
    node: intern(textOf(spec['nodeName'])),
    phase: intern(textOf(status['phase']) ?? 'Unknown'),
    reason: reasonOf(status['reason'], intern),
    message: message === undefined ? undefined : toLine(message, maxMessageChars),
    createdAt: metadata.createdAt,
    startedAt: instantOf(status['startTime']),
    deletingAt: metadata.deletingAt,
    disruption: reasonOf(conditionOf(status, 'DisruptionTarget', 'True')?.reason, intern),
    unscheduled: reasonOf(unscheduled?.reason, intern),
    index: indexOf(metadata),
    containers: [
      ...containersOf(spec['initContainers'], status['initContainerStatuses'], true, intern),
      ...containersOf(spec['containers'], status['containerStatuses'], false, intern),
    ],
  };
}

function conditionOf(status: Json, type: string, value: string): { reason: unknown; message?: string } | undefined {
  for (const entry of arrayOf(status['conditions'])) {
    const condition = objectOf(entry);
    if (condition['type'] !== type || condition['status'] !== value) continue;
    const message = textOf(condition['message']);
    return { reason: condition['reason'], ...(message === undefined ? {} : { message }) };
  }
  return undefined;
}

/** The annotation exists since indexed Jobs do, the label since Kubernetes 1.28. */
function indexOf({ annotations, labels }: Metadata): number | undefined {
  const text = textOf(annotations[indexMark]) ?? textOf(labels[indexMark]);
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

/** In the order of the spec; a status without a spec entry comes after them, an entry without a status is `unknown`. */
function containersOf(specs: unknown, statuses: unknown, init: boolean, intern: Interner): ContainerFacts[] {
  const byName = new Map<string, Json>();
  for (const entry of arrayOf(statuses)) {
    const status = objectOf(entry);
    const name = textOf(status['name']);
    if (name !== undefined) byName.set(name, status);
  }
  const containers: ContainerFacts[] = [];
  for (const entry of arrayOf(specs)) {
    const spec = objectOf(entry);
    const name = textOf(spec['name']);
    if (name === undefined) continue;
    const sidecar = init && spec['restartPolicy'] === 'Always';
    containers.push(toContainer(intern(name), { init, sidecar }, spec, objectOf(byName.get(name)), intern));
    byName.delete(name);
  }
  for (const [name, status] of byName) {
    containers.push(toContainer(intern(name), { init, sidecar: false }, {}, status, intern));
  }
  return containers;
}

// oxlint-disable-next-line max-params -- one record from its two halves
function toContainer(
  name: string,
  role: { init: boolean; sidecar: boolean },
  spec: Json,
  status: Json,
  intern: Interner,
): ContainerFacts {
  const state = objectOf(status['state']);
  const waiting = state['waiting'] === undefined ? undefined : objectOf(state['waiting']);
  const terminated = terminationOf(state['terminated'], intern, !role.init);
  const waitingMessage = textOf(waiting?.['message']);
  return {
    name,
    init: role.init,
    sidecar: role.sidecar,
    state: terminated ? 'terminated' : waiting ? 'waiting' : state['running'] === undefined ? 'unknown' : 'running',
    waiting: reasonOf(waiting?.['reason'], intern),
    waitingMessage: waitingMessage === undefined ? undefined : toLine(waitingMessage, maxMessageChars),
    terminated,
    lastTerminated: terminationOf(objectOf(status['lastState'])['terminated'], intern),
    startedAt: terminated?.startedAt ?? instantOf(objectOf(state['running'])['startedAt']),
    ready: status['ready'] === true,
    restarts: countOf(status['restartCount']),
    image: intern(textOf(spec['image']) ?? textOf(status['image'])),
    imageId: intern(textOf(status['imageID'])),
  };
}

/** Undefined without an exit code: then it has not ended. */
function terminationOf(value: unknown, intern: Interner, hasOutput = false): Termination | undefined {
  const termination = objectOf(value);
  const exitCode = numberOf(termination['exitCode']);
  if (exitCode === undefined) return undefined;
  const message = textOf(termination['message']);
  const output = hasOutput && message !== undefined ? readFacts(message) : undefined;
  return {
    exitCode,
    signal: numberOf(termination['signal']),
    reason: reasonOf(termination['reason'], intern),
    message: message === undefined ? undefined : toLine(message, maxMessageChars),
    startedAt: instantOf(termination['startedAt']),
    finishedAt: instantOf(termination['finishedAt']),
    ...(output && { output }),
  };
}

function reasonOf(value: unknown, intern: Interner): string | undefined {
  const text = textOf(value);
  return text === undefined ? undefined : intern(toLine(text, 200));
}
