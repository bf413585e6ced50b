import type { AlertType, Severity, SilenceState } from './vocabulary.ts';
import type { List, Ref, WireInstant } from './wire.ts';

/** All that is given must hold; `all` is the whole fleet, with nothing beside it. */
export interface SilenceMatcher {
  readonly namespaces: readonly string[];
  readonly cronjobs: readonly string[];
  readonly types: readonly AlertType[];
  readonly severities: readonly Severity[];
  readonly monitor: Ref | null;
  readonly alertId: string | null;
  readonly all: boolean;
}

export interface Silence {
  /** Null for a dry run. */
  readonly id: string | null;
  readonly state: SilenceState;
  readonly matcher: SilenceMatcher;
  readonly startsAt: WireInstant;
  readonly endsAt: WireInstant;
  /** Ends also when nothing it holds is open. */
  readonly untilResolved: boolean;
  readonly comment: string;
  readonly createdBy: string;
  readonly createdAt: WireInstant;
  readonly updatedAt: WireInstant;
  /** Alerts held now. */
  readonly mutedNow: number;
  /** Alerts ever held. */
  readonly mutedTotal: number;
}

/** GET /api/v1/silences */
export type SilenceList = List<Silence>;

/** Body of POST and PUT. Exactly one of `endsAt` and `duration`. */
export interface SilenceInput {
  readonly matcher: Partial<SilenceMatcher>;
  readonly startsAt?: string;
  readonly endsAt?: string;
  readonly duration?: string;
  readonly untilResolved?: boolean;
  readonly comment: string;
  readonly by?: string;
}

export const silenceSortKeys = ['endsAt', 'startsAt', 'createdAt'] as const;
export type SilenceSortKey = (typeof silenceSortKeys)[number];
