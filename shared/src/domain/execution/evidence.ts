import type { Instant } from '../instant.ts';
import type { Attempt } from './attempts.ts';

const evidenceKinds = ['logs', 'events', 'attempts', 'decisive'] as const;
export type EvidenceKind = (typeof evidenceKinds)[number];

/** What was captured about a run (or an alert): the log of one container, the events, the pods, and which lines of its logs are decisive. */
export interface Evidence {
  /** Job UID or alert id. */
  readonly owner: string;
  readonly kind: EvidenceKind;
  /** Container or pod; empty where there is only one. */
  readonly name: string;
  readonly cronJobUid: string;
  /** Creation of the Job: evidence is pruned by it, never later than its execution. */
  readonly createdAt: Instant;
  readonly capturedAt: Instant;
  /** Text, already made safe; JSON for all kinds but logs. Undefined when there is none: then `unavailable` says why. */
  readonly body: string | undefined;
  readonly truncated: boolean;
  /** podGone, containerWaiting, forbidden, timeout, nodeUnreachable, empty; undefined when there is a body. */
  readonly unavailable: string | undefined;
}

/** An event of Kubernetes as evidence keeps it. */
export interface KeptEvent {
  readonly at?: number | undefined;
  readonly type: string;
  readonly reason: string;
  /** Kind/name. */
  readonly object: string;
  readonly message: string;
  readonly count: number;
}

/** The events that were captured; none where they were not. */
export function eventsIn(evidence: readonly Evidence[]): readonly KeptEvent[] {
  return (parsedIn(evidence, 'events') ?? []) as readonly KeptEvent[]; // as capture wrote them
}

/** The attempts of the run, oldest first; none where they were not captured. */
export function attemptsIn(evidence: readonly Evidence[]): readonly Attempt[] {
  return (parsedIn(evidence, 'attempts') ?? []) as readonly Attempt[]; // as toAttempts made them
}

function parsedIn(evidence: readonly Evidence[], wanted: EvidenceKind): unknown {
  const body = evidence.find((piece) => piece.kind === wanted && piece.body !== undefined)?.body;
  return body === undefined ? undefined : JSON.parse(body);
}
