import { bool, count, extended, listOf, named, nullable, object, type Of, text, words } from './shape/shape.ts';
import { listFields, Ref } from './wire.ts';

export const adviceLevels = ['error', 'warning', 'note'] as const;
export type AdviceLevel = (typeof adviceLevels)[number];

/** A setting that cannot work, or hardly as it was meant, and what it comes to. */
export const Advice = object('Advice', {
  /** The kind of finding: `DeadManShorterThanPeriod`. */
  code: text,
  level: words(adviceLevels),
  /** A sentence about this one object. */
  words: text,
  /** What came of it: `critical each Monday; 4 alerts in 30 days`; null: it raises no alert by itself. */
  impact: nullable(text),
  /** Null: it is about the monitor itself. */
  cronjob: nullable(Ref),
  /** Whose rules it is about; null: it is about no monitor's. */
  monitor: nullable(Ref),
  /** The field it is about, of the monitor or of the CronJob; null: it is about no single one. */
  path: nullable(text),
  /** Page that shows the field; null: there is none. */
  href: nullable(text),
  /** Alerts of the last 30 days that it explains. */
  alerts30d: count,
  /** A command that mends it, to be copied; null: there is more than one right way. */
  patch: nullable(text),
  /** A command that has it left, by the annotation `cronjob-monitor.io/advice-ignore`; null: that annotation is not read there. */
  leave: nullable(text),
  /** It is left. */
  ignored: bool,
});
export type Advice = Of<typeof Advice>;

/** One kind of finding, among all that the other filters let through. */
export const AdviceKind = object({
  code: text,
  level: words(adviceLevels),
  /** What the kind comes to, for all its findings. */
  words: text,
  findings: count,
});
export type AdviceKind = Of<typeof AdviceKind>;

/** GET /api/v1/advice: worst first. */
export const AdviceList = named(
  'AdviceList',
  extended(listFields(Advice), {
    counts: object({
      /** Those that are no notes and are not left. */
      findings: count,
      /** Those that are left. */
      ignored: count,
      /** Counted and not listed: there are too many of one monitor. */
      omitted: count,
      kinds: listOf(AdviceKind),
    }),
  }),
);
export type AdviceList = Of<typeof AdviceList>;
