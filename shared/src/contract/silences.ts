import {
  anyText,
  bool,
  count,
  described,
  id,
  input,
  instant,
  listOf,
  nullable,
  object,
  type Of,
  optional,
  shortText,
  text,
  words,
} from './shape/shape.ts';
import { alertTypes, severities, silenceStates } from './vocabulary.ts';
import { listFields, missing, Ref } from './wire.ts';

/** All that is given must hold; `all` is the whole fleet, with nothing beside it. */
export const SilenceMatcher = object({
  namespaces: listOf(shortText(63), 200),
  cronjobs: listOf(shortText(253), 200),
  /** Whole names, each with its namespace. */
  refs: listOf(Ref, 200),
  types: listOf(words(alertTypes), alertTypes.length),
  severities: listOf(words(severities), severities.length),
  monitor: nullable(Ref),
  alertId: nullable(text),
  all: bool,
});
export type SilenceMatcher = Of<typeof SilenceMatcher>;

export const Silence = object('Silence', {
  /** Name of its cluster; only where the service shows several. */
  cluster: optional(text),
  /** Null for a dry run. */
  id: nullable(id),
  state: words(silenceStates),
  matcher: SilenceMatcher,
  startsAt: instant,
  endsAt: instant,
  /** Ends also when nothing it holds is open. */
  untilResolved: bool,
  comment: text,
  createdBy: text,
  createdAt: instant,
  updatedAt: instant,
  /** Alerts held now. */
  mutedNow: count,
  /** Alerts ever held. */
  mutedTotal: count,
});
export type Silence = Of<typeof Silence>;

/** GET /api/v1/silences */
export const SilenceList = object('SilenceList', { ...listFields(Silence), missing });
export type SilenceList = Of<typeof SilenceList>;

/** Body of POST and PUT. Exactly one of `endsAt`, `duration` and `untilSuccess`. */
export const SilenceInput = input('SilenceInput', {
  matcher: described(
    input({
      namespaces: optional(listOf(shortText(63), 200)),
      cronjobs: optional(listOf(shortText(253), 200)),
      refs: optional(listOf(input({ namespace: shortText(63), name: shortText(253) }), 200)),
      types: optional(listOf(words(alertTypes), alertTypes.length)),
      severities: optional(listOf(words(severities), severities.length)),
      monitor: optional(input({ namespace: shortText(63), name: shortText(253) })),
      alertId: optional(shortText(100)),
      all: optional(bool),
    }),
    'All that is given must hold. The whole fleet is {"all": true}, with nothing beside it.',
  ),
  startsAt: optional(described(anyText(64), 'RFC 3339, or a date; now when it is absent.')),
  endsAt: optional(described(anyText(64), 'At most 30 days after startsAt. This, duration or untilSuccess.')),
  duration: optional(described(anyText(32), 'Such as 4h or 2d. This, endsAt or untilSuccess.')),
  untilSuccess: optional(
    described(bool, 'True: until what it holds has ended, as a failed run does by a success; 30 days at most.'),
  ),
  untilResolved: optional(described(bool, 'Ends also when nothing that it holds is open.')),
  comment: optional(shortText(500)),
  by: optional(described(shortText(100), 'Counts only where callers are not asked who they are.')),
});
export type SilenceInput = Of<typeof SilenceInput>;

export const silenceSortKeys = ['endsAt', 'startsAt', 'createdAt'] as const;
export type SilenceSortKey = (typeof silenceSortKeys)[number];
