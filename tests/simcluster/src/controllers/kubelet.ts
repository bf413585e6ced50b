import type { Kind } from '../kinds/kind.ts';
import { piecesOf, type LogBook } from '../logs/log-book.ts';
import type { Random } from '../random.ts';
import { printTime } from '../schema/go-time.ts';
import { controllerOf, keyOf } from '../storage/kube-object.ts';
import type { Change } from '../storage/resource-table.ts';
import type { VerbDeps } from '../verbs/verb-deps.ts';
import type { ContainerState, Job, Pod, PodStatus, TerminatedState } from './batch-objects.ts';
import type { EventRecorder } from './event-recorder.ts';
import { NodeEvents } from './node-events.ts';
import { Counters, isLifelike, isPlayed, scriptOf, type Outcome, type PodScript } from './pod-script.ts';
import { crashedStatus, evictedStatus, restartedStatus, signalledStatus, statusWith } from './pod-status.ts';

interface KubeletDeps extends VerbDeps {
  readonly random: Random;
  readonly logs: LogBook;
  readonly recorder: EventRecorder;
}

/** From a pod's birth until it runs. */
const startMs = 8;
/** Pods end this much after their time, so that who counts whole seconds looks before. */
const lateMs = 4;
const killMs = 3;
const firstCrashDelayMs = 10_000;
const longestCrashDelayMs = 300_000;
const pullRetryMs = 10_000;
/** Lines of a log come apart, so that following it shows something. */
const lineEveryMs = 20;

type ExitOutcome = Extract<Outcome, { kind: 'exit' }>;

/** Plays pods as their annotations say: runs them, ends them, kills them when they are told to go, keeps their logs. */
export class Kubelet {
  readonly #deps: KubeletDeps;
  readonly #pods: Kind;
  readonly #runs = new Counters();
  readonly #podsOfJob = new Counters();
  readonly #events: NodeEvents;

  constructor(deps: KubeletDeps) {
    this.#deps = deps;
    this.#events = new NodeEvents(deps.recorder);
    this.#pods = deps.registry.get('', 'v1', 'pods');
  }

  /** To be told of every write. */
  notice(change: Change): void {
    if (change.resource === 'jobs.batch' && change.type === 'DELETED') return this.#forgetJob(change);
    if (change.resource === 'cronjobs.batch' && change.type === 'DELETED') {
      return this.#runs.forgetGroup(change.object.metadata.uid);
    }
    if (change.resource !== 'pods') return;
    const { metadata } = change.object;
    const pod = change.object as Pod;
    if (change.type === 'DELETED') return this.#deps.logs.forget(metadata.namespace ?? '', metadata.name);
    if (!isPlayed(pod) || (pod.spec.nodeName ?? '') === '') return;
    const before = change.previous as Pod | undefined;
    if ((before?.spec.nodeName ?? '') === '') {
      if (hasEnded(pod)) this.#keepLogOfEnded(pod);
      else this.#later(startMs, pod, (current) => this.#start(current));
    }
    const told = metadata.deletionTimestamp !== undefined && before?.metadata.deletionTimestamp === undefined;
    if (told && (metadata.deletionGracePeriodSeconds ?? 0) > 0)
      this.#later(killMs, pod, (current) => this.#kill(current));
  }

  #forgetJob({ object }: Change): void {
    this.#podsOfJob.forgetGroup(object.metadata.uid);
    const owner = controllerOf(object);
    if (owner !== undefined) this.#runs.forget(owner.uid, object.metadata.uid);
  }

  /** Calls back with the pod as it is then, unless it is gone. */
  #later(delayMs: number, pod: Pod, then: (current: Pod) => void): void {
    const key = keyOf(pod.metadata.namespace, pod.metadata.name);
    this.#deps.clock.callAt(this.#deps.clock.now() + delayMs, () => {
      const current = this.#deps.store.table('pods').get(key) as Pod | undefined;
      if (current?.metadata.uid === pod.metadata.uid) then(current);
    });
  }

  /** As `#later`, for what only a pod that is not going does. */
  #whileAlive(delayMs: number, pod: Pod, then: (current: Pod) => void): void {
    this.#later(delayMs, pod, (current) => {
      if (!hasEnded(current) && current.metadata.deletionTimestamp === undefined) then(current);
    });
  }

  #write(pod: Pod, status: PodStatus): Pod {
    // The writer gives back what it was given, stored.
    return this.#deps.writer.replace(this.#pods, { ...pod, status }, pod) as Pod;
  }

  #time(): string {
    return printTime(this.#deps.clock.now());
  }

  #start(pod: Pod): void {
    if (pod.metadata.deletionTimestamp !== undefined) return;
    const script = this.#scriptOf(pod);
    if (script.outcome.kind === 'waiting') return this.#wait(pod, script.outcome.reasons, 0);
    if (script.outcome.kind === 'start-error') return this.#failToStart(pod, 'Pending');
    if (isLifelike(pod)) this.#events.started(pod);
    const startedAt = this.#time();
    const running = statusWith(pod, {
      phase: 'Running',
      ready: true,
      time: startedAt,
      state: { running: { startedAt } },
    });
    const started = this.#write(pod, running);
    this.#keepLog(started, script, false);
    this.#planEnd(started, script, script.seconds * 1000 - startMs + lateMs);
  }

  #scriptOf(pod: Pod): PodScript {
    const { random } = this.#deps;
    return scriptOf(pod, this.#jobOf(pod), { runs: this.#runs, pods: this.#podsOfJob, random });
  }

  #jobOf(pod: Pod): Job | undefined {
    const owner = controllerOf(pod);
    if (owner?.kind !== 'Job') return undefined;
    return this.#deps.store.get('jobs.batch', pod.metadata.namespace, owner.name) as Job | undefined;
  }

  /** A pod whose containers cannot start; the reason may change once. */
  #wait(pod: Pod, reasons: readonly { reason: string; message: string }[], index: number): void {
    const reason = reasons[index];
    if (reason === undefined) return;
    const time = pod.status.startTime ?? this.#time();
    const said = isLifelike(pod) ? namingImage(pod, reason) : reason;
    const status = statusWith(pod, { phase: 'Pending', ready: false, time, state: { waiting: said } });
    const written = this.#write(pod, status);
    if (isLifelike(pod)) this.#events.waiting(pod, reason);
    const waiting = reason.reason.includes('Image') ? 'trying and failing to pull image' : reason.reason;
    this.#eachContainer(written, (place) => this.#deps.logs.write(place, { pieces: [], ended: false, waiting }));
    this.#whileAlive(pullRetryMs, written, (current) => this.#wait(current, reasons, index + 1));
  }

  #planEnd(pod: Pod, script: PodScript, delayMs: number): void {
    const { outcome } = script;
    if (outcome.kind !== 'exit' && outcome.kind !== 'evicted') return;
    this.#whileAlive(Math.max(0, delayMs), pod, (current) => {
      if (outcome.kind === 'evicted') this.#evict(current);
      else this.#exit(current, outcome, script.message);
      this.#keepLog(current, script, true);
    });
  }

  #evict(pod: Pod): void {
    const evicted = evictedStatus(pod, this.#time());
    this.#write(pod, evicted);
    if (isLifelike(pod)) this.#events.evicted(pod, evicted.message ?? '');
  }

  #exit(pod: Pod, outcome: ExitOutcome, message: string | undefined): void {
    const finishedAt = this.#time();
    const startedAt = pod.status.containerStatuses?.[0]?.state.running?.startedAt ?? finishedAt;
    const { code: exitCode, reason } = outcome;
    const said = message === undefined ? {} : { message };
    this.#end(pod, { exitCode, reason, ...said, startedAt, finishedAt, containerID: 'containerd://0' });
  }

  /** The container is made, and ends with what the runtime says before a process of it ran. */
  #failToStart(pod: Pod, phase: 'Pending' | 'Running'): void {
    const creating = { waiting: { reason: 'ContainerCreating' } };
    const status = statusWith(pod, { phase, ready: false, time: this.#time(), state: creating });
    const restarts = phase === 'Running' ? lifeOf(pod) : 0;
    const containerStatuses = status.containerStatuses?.map((one) => ({ ...one, restartCount: restarts }));
    const created = this.#write(pod, { ...status, ...(containerStatuses === undefined ? {} : { containerStatuses }) });
    const message = `failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: exec: "/opt/run": stat /opt/run: no such file or directory: unknown`;
    if (isLifelike(pod)) this.#events.notStarted(pod, message);
    const finishedAt = this.#time();
    const startedAt = '1970-01-01T00:00:00Z';
    const end = { exitCode: 128, reason: 'StartError', message, startedAt, finishedAt, containerID: 'containerd://0' };
    this.#eachContainer(pod, (place) => this.#deps.logs.write(place, { pieces: [], ended: true }));
    this.#end(created, end);
  }

  #end(pod: Pod, terminated: TerminatedState): void {
    const { exitCode } = terminated;
    const finishedAt = terminated.finishedAt ?? this.#time();
    if (exitCode !== 0 && pod.spec.restartPolicy !== 'Never') return this.#crash(pod, { terminated });
    if (exitCode === 0 && pod.spec.restartPolicy === 'Always') return this.#crash(pod, { terminated });
    const phase = exitCode === 0 ? 'Succeeded' : 'Failed';
    this.#write(pod, statusWith(pod, { phase, ready: false, time: finishedAt, state: { terminated } }));
  }

  /** The container is started again, each time after a longer wait. */
  #crash(pod: Pod, ended: ContainerState): void {
    const restarts = pod.status.containerStatuses?.[0]?.restartCount ?? 0;
    const delayMs = Math.min(firstCrashDelayMs * 2 ** restarts, longestCrashDelayMs);
    const [name = ''] = pod.spec.containers.map((container) => container.name);
    const message = `back-off ${delayMs / 1000}s restarting failed container=${name} pod=${pod.metadata.name}_${pod.metadata.namespace ?? ''}`;
    const waiting = { waiting: { reason: 'CrashLoopBackOff', message } };
    const crashed = this.#write(pod, crashedStatus(pod, this.#time(), ended, waiting));
    if (isLifelike(pod)) this.#events.restarting(pod);
    this.#whileAlive(delayMs, crashed, (current) => {
      if (this.#scriptOf(current).outcome.kind === 'start-error') return this.#failToStart(current, 'Running');
      const again = this.#write(current, restartedStatus(current, this.#time()));
      if (isLifelike(pod)) this.#events.started(again);
      const script = this.#scriptOf(again);
      this.#keepLog(again, script, false);
      this.#planEnd(again, script, script.seconds * 1000);
    });
  }

  /** The node has heard that the pod must go: it goes at once. */
  #kill(pod: Pod): void {
    const last = isLifelike(pod) ? this.#signal(pod) : pod;
    this.#deps.writer.remove(this.#pods, last, { graceSeconds: 0 });
  }

  /** What runs is told to end and does; what waits is accounted for as lost, without a word. */
  #signal(pod: Pod): Pod {
    if (pod.status.phase === 'Running') this.#events.stopping(pod);
    const finishedAt = this.#time();
    return this.#write(pod, signalledStatus(pod, finishedAt));
  }

  /** A pod that had ended when it was put here is not started again, and its node has its log still. */
  #keepLogOfEnded(pod: Pod): void {
    const script = this.#scriptOf(pod);
    this.#keepLog(pod, script, false);
    this.#keepLog(pod, script, true);
  }

  #keepLog(pod: Pod, script: PodScript, ended: boolean): void {
    const now = this.#deps.clock.now();
    this.#eachContainer(pod, (place, first) => {
      const known = this.#deps.logs.find(place.namespace, place.pod, place.container);
      if (ended) return this.#deps.logs.write(place, { ...known, pieces: known?.pieces ?? [], ended: true });
      const previous = known !== undefined && known.waiting === undefined ? { previous: known.pieces } : {};
      const text = first ? (script.log ?? '').replaceAll('{attempt}', String(lifeOf(pod))) : '';
      this.#deps.logs.write(place, { pieces: piecesOf(text, now, lineEveryMs), ended: false, ...previous });
    });
  }

  #eachContainer(
    pod: Pod,
    call: (place: { namespace: string; pod: string; container: string }, first: boolean) => void,
  ): void {
    pod.spec.containers.forEach((container, index) => {
      call({ namespace: pod.metadata.namespace ?? '', pod: pod.metadata.name, container: container.name }, index === 0);
    });
  }
}

function hasEnded({ status: { phase } }: Pod): boolean {
  return phase === 'Succeeded' || phase === 'Failed';
}

/** Which life of its first container a pod lives, from 1. */
function lifeOf(pod: Pod): number {
  return (pod.status.containerStatuses?.[0]?.restartCount ?? 0) + 1;
}

/** While a node waits before it pulls again, the status of a container names its image. */
function namingImage(
  pod: Pod,
  { reason, message }: { reason: string; message: string },
): {
  reason: string;
  message: string;
} {
  const image = pod.spec.containers[0]?.image ?? '';
  return { reason, message: reason === 'ImagePullBackOff' ? `${message} "${image}"` : message };
}
