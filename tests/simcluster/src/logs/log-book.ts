import { keyOf } from '../storage/kube-object.ts';

/** A piece of a container's output and when it came. A piece is usually a line; it need not end with a line break. */
export interface LogPiece {
  readonly at: number;
  readonly bytes: Buffer;
}

/** The log of one container, as its node keeps it. */
export interface ContainerLog {
  readonly pieces: readonly LogPiece[];
  /** Nothing more will come. */
  readonly ended: boolean;
  /** The log of the instance before a restart. */
  readonly previous?: readonly LogPiece[];
  /** The container has not started; why, as the kubelet words it, such as `ContainerCreating`. */
  readonly waiting?: string;
}

/** The logs of all containers. They go with their pods. */
export class LogBook {
  readonly #logs = new Map<string, Map<string, ContainerLog>>();

  find(namespace: string, pod: string, container: string): ContainerLog | undefined {
    return this.#logs.get(keyOf(namespace, pod))?.get(container);
  }

  write(place: { namespace: string; pod: string; container: string }, log: ContainerLog): void {
    const key = keyOf(place.namespace, place.pod);
    const ofPod = this.#logs.get(key) ?? new Map<string, ContainerLog>();
    ofPod.set(place.container, log);
    this.#logs.set(key, ofPod);
  }

  forget(namespace: string, pod: string): void {
    this.#logs.delete(keyOf(namespace, pod));
  }
}

/** A text as pieces of one line each, the first at `from`, the others `everyMs` later each. */
export function piecesOf(text: string | Buffer, from: number, everyMs = 0): LogPiece[] {
  const bytes = Buffer.from(text);
  const pieces: LogPiece[] = [];
  let start = 0;
  while (start < bytes.length) {
    const lineBreak = bytes.indexOf(0x0a, start);
    const end = lineBreak === -1 ? bytes.length : lineBreak + 1;
    pieces.push({ at: from + pieces.length * everyMs, bytes: bytes.subarray(start, end) });
    start = end;
  }
  return pieces;
}
