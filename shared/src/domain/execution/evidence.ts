import type { Instant } from '../instant.ts';

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
