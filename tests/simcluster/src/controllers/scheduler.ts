import type { Kind } from '../kinds/kind.ts';
import { controllerOf } from '../storage/kube-object.ts';
import type { Change } from '../storage/resource-table.ts';
import type { VerbDeps } from '../verbs/verb-deps.ts';
import { printTime } from '../schema/go-time.ts';
import type { Pod } from './batch-objects.ts';
import type { EventRecorder } from './event-recorder.ts';
import { isLifelike, isUnschedulable } from './pod-script.ts';

const bindMs = 4;

interface SchedulerDeps extends VerbDeps {
  readonly recorder: EventRecorder;
}

/** Puts the pods of Jobs that name no node on one of the cluster's nodes, in turn. */
export class Scheduler {
  readonly #deps: SchedulerDeps;
  readonly #pods: Kind;
  #turn = 0;

  constructor(deps: SchedulerDeps) {
    this.#deps = deps;
    this.#pods = deps.registry.get('', 'v1', 'pods');
  }

  /** To be told of every write. */
  notice({ type, resource, object }: Change): void {
    if (resource !== 'pods' || type !== 'ADDED') return;
    const pod = object as Pod;
    if ((pod.spec.nodeName ?? '') !== '' || controllerOf(pod)?.kind !== 'Job') return;
    this.#deps.clock.callAt(this.#deps.clock.now() + bindMs, () => this.#bind(pod));
  }

  #bind({ metadata }: Pod): void {
    const pod = this.#deps.store.get('pods', metadata.namespace, metadata.name) as Pod | undefined;
    if (pod?.metadata.uid !== metadata.uid) return;
    const nodes = [...this.#deps.store.table('nodes').objects()];
    const node = nodes[this.#turn++ % Math.max(1, nodes.length)]?.metadata.name;
    if (isUnschedulable(pod)) this.#refuse(pod, nodes.length);
    else if (node !== undefined) this.#place(pod, node);
  }

  #place(pod: Pod, node: string): void {
    const { name, namespace = '' } = pod.metadata;
    this.#deps.writer.replace(this.#pods, { ...pod, spec: { ...pod.spec, nodeName: node } }, pod);
    if (!isLifelike(pod)) return;
    const message = `Successfully assigned ${namespace}/${name} to ${node}`;
    this.#deps.recorder.record(pod, { type: 'Normal', reason: 'Scheduled', message });
  }

  #refuse(pod: Pod, nodes: number): void {
    const message = `0/${nodes} nodes are available: ${nodes} Insufficient cpu.`;
    const condition = {
      type: 'PodScheduled',
      status: 'False',
      lastProbeTime: null,
      lastTransitionTime: printTime(this.#deps.clock.now()),
      reason: 'Unschedulable',
      message,
    };
    const status = { ...pod.status, conditions: [...(pod.status.conditions ?? []), condition] };
    this.#deps.writer.replace(this.#pods, { ...pod, status }, pod);
    this.#deps.recorder.record(pod, { type: 'Warning', reason: 'FailedScheduling', message });
  }
}
