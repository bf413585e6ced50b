import type { Pod } from './batch-objects.ts';
import type { EventRecorder } from './event-recorder.ts';

type Container = Pod['spec']['containers'][number];

/** What a node tells about the pods it runs, in the words of the kubelet. */
export class NodeEvents {
  readonly #recorder: EventRecorder;

  constructor(recorder: EventRecorder) {
    this.#recorder = recorder;
  }

  started(pod: Pod): void {
    for (const container of pod.spec.containers) {
      this.#created(pod, container);
      this.#tell(pod, 'Normal', { reason: 'Started', message: `Container started` }, container);
    }
  }

  /** `message` is what the runtime said. */
  notStarted(pod: Pod, message: string): void {
    for (const container of pod.spec.containers) {
      this.#created(pod, container);
      this.#tell(pod, 'Warning', { reason: 'Failed', message: `Error: ${message}` }, container);
    }
  }

  #pulled(pod: Pod, container: Container): void {
    const image = JSON.stringify(container.image ?? '');
    const message = `Container image ${image} already present on machine and can be accessed by the pod`;
    this.#tell(pod, 'Normal', { reason: 'Pulled', message }, container);
  }

  #created(pod: Pod, container: Container): void {
    this.#pulled(pod, container);
    this.#tell(pod, 'Normal', { reason: 'Created', message: 'Container created' }, container);
  }

  /** `reason` is why the containers wait, as their status has it. */
  waiting(pod: Pod, { reason, message }: { reason: string; message: string }): void {
    for (const container of pod.spec.containers) {
      const image = JSON.stringify(container.image ?? '');
      if (reason === 'ImagePullBackOff') {
        this.#tell(pod, 'Normal', { reason: 'BackOff', message: `Back-off pulling image ${image}` }, container);
        this.#tell(pod, 'Warning', { reason: 'Failed', message: 'Error: ImagePullBackOff' }, container);
        continue;
      }
      if (reason === 'InvalidImageName') {
        const inspected = `Failed to apply default image tag ${image}: ${message}`;
        this.#tell(pod, 'Warning', { reason: 'InspectFailed', message: inspected }, container);
        this.#tell(pod, 'Warning', { reason: 'Failed', message: 'Error: InvalidImageName' }, container);
        continue;
      }
      if (reason === 'ErrImagePull') {
        this.#tell(pod, 'Normal', { reason: 'Pulling', message: `Pulling image ${image}` }, container);
        this.#tell(
          pod,
          'Warning',
          { reason: 'Failed', message: `Failed to pull image ${image}: ${message}` },
          container,
        );
      }
      if (reason === 'CreateContainerConfigError') this.#pulled(pod, container);
      const error = reason === 'ErrImagePull' ? reason : message;
      this.#tell(pod, 'Warning', { reason: 'Failed', message: `Error: ${error}` }, container);
    }
  }

  restarting(pod: Pod): void {
    const { name, namespace = '', uid } = pod.metadata;
    for (const container of pod.spec.containers) {
      const message = `Back-off restarting failed container ${container.name} in pod ${name}_${namespace}(${uid})`;
      this.#tell(pod, 'Warning', { reason: 'BackOff', message }, container);
    }
  }

  stopping(pod: Pod): void {
    for (const container of pod.spec.containers) {
      this.#tell(pod, 'Normal', { reason: 'Killing', message: `Stopping container ${container.name}` }, container);
    }
  }

  evicted(pod: Pod, message: string): void {
    this.#tell(pod, 'Warning', { reason: 'Evicted', message });
  }

  #tell(pod: Pod, type: 'Normal' | 'Warning', text: { reason: string; message: string }, container?: Container): void {
    const fieldPath = container === undefined ? undefined : `spec.containers{${container.name}}`;
    this.#recorder.record(pod, { type, ...text, ...(fieldPath === undefined ? {} : { fieldPath }) });
  }
}
