import type { Instant } from '../instant.ts';
import { dayMs } from '../duration.ts';
import { isObject } from '../json.ts';

/** What one monitor says about keeping; a field that is undefined follows the configuration. */
export interface RetentionRule {
  readonly retentionDays: number | undefined;
  readonly logRetentionDays: number | undefined;
  readonly onCronJobDeletion: 'retain' | 'purge' | 'purge-after-days';
  /** Of `purge-after-days`. */
  readonly purgeAfterDays: number | undefined;
  readonly onRecreation: 'retain' | 'reset';
}

/** Days of the configuration (`history-retention.*`, `storage.log-retention-days`). */
export interface RetentionDefaults {
  readonly defaultDays: number;
  readonly maxDays: number;
  /** 0 = as long as runs. */
  readonly logDays: number;
}

/** What was created before these instants goes. */
export interface Cutoffs {
  /** Runs and expected runs. */
  readonly runsBefore: Instant;
  /** Stored logs and events; never earlier than `runsBefore`. */
  readonly textBefore: Instant;
}

/**
 * The cutoffs of a CronJob that these monitors select: the longest retention holds, within the ceiling; without a monitor that of the
 * configuration. A text is never kept longer than its run (resources.md section 2, storage.md section 7).
 */
export function cutoffsOf(rules: readonly RetentionRule[], defaults: RetentionDefaults, now: Instant): Cutoffs {
  const { defaultDays, maxDays, logDays } = defaults;
  const usualLogDays = logDays === 0 ? defaultDays : logDays;
  const runDays = longest(
    rules.map(({ retentionDays }) => retentionDays ?? defaultDays),
    defaultDays,
  );
  const textDays = longest(
    rules.map(({ logRetentionDays, retentionDays }) =>
      Math.min(logRetentionDays ?? usualLogDays, retentionDays ?? defaultDays),
    ),
    usualLogDays,
  );
  const keptDays = Math.min(runDays, maxDays);
  return { runsBefore: now - keptDays * dayMs, textBefore: now - Math.min(textDays, keptDays) * dayMs };
}

/**
 * When everything about a deleted CronJob goes; undefined: never, only as it ages. Every monitor that selected it when it was deleted must
 * have asked; the latest of their instants holds.
 */
export function purgeDueAt(rules: readonly RetentionRule[], deletedAt: Instant): Instant | undefined {
  const instants = rules.map(({ onCronJobDeletion, purgeAfterDays }) => {
    if (onCronJobDeletion === 'purge') return deletedAt;
    if (onCronJobDeletion === 'purge-after-days' && purgeAfterDays !== undefined) {
      return deletedAt + purgeAfterDays * dayMs;
    }
    return Infinity;
  });
  const latest = instants.length === 0 ? Infinity : Math.max(...instants);
  return latest === Infinity ? undefined : latest;
}

/** Whether the history of an earlier CronJob of the same name goes now that there is a new one: every monitor of the new one must ask. */
export function resetsOnRecreation(rules: readonly RetentionRule[]): boolean {
  return rules.length > 0 && rules.every(({ onRecreation }) => onRecreation === 'reset');
}

/** Reads the rule out of a monitor's spec as stored. What has another form than expected counts as absent: nothing is deleted on a guess. */
export function retentionRuleOf(spec: unknown): RetentionRule {
  const retention = isObject(spec) && isObject(spec['dataRetention']) ? spec['dataRetention'] : {};
  const { onCronJobDeletion, onRecreation } = retention;
  return {
    retentionDays: daysIn(retention['retentionDays'], 1),
    logRetentionDays: daysIn(retention['logRetentionDays'], 1),
    onCronJobDeletion:
      onCronJobDeletion === 'purge' || onCronJobDeletion === 'purge-after-days' ? onCronJobDeletion : 'retain',
    purgeAfterDays: daysIn(retention['purgeAfterDays'], 0),
    onRecreation: onRecreation === 'reset' ? 'reset' : 'retain',
  };
}

function longest(days: readonly number[], otherwise: number): number {
  return days.length === 0 ? otherwise : Math.max(...days);
}

function daysIn(value: unknown, least: number): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= least ? value : undefined;
}
