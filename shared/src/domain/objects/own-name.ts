import type { OwnerWord } from '../../contract/index.ts';

/** Names beside those of `OwnerWord`. The API writes `triggered-by`, the controller `health`, and people write the others. */
type OwnMark =
  | 'advice-ignore'
  | 'channel-secret'
  | 'depends-on'
  | 'description'
  | 'group'
  | 'health'
  | 'health-message'
  | 'monitored-from'
  | 'retry'
  | 'retry-of'
  | 'runbook'
  | 'triggered-by';

/** A name in our API group: `cronjob-monitor.io/ignore` of a label or an annotation, `cronjob-monitor.io/v1alpha1` of our kinds. */
export function ownName(word: OwnMark | OwnerWord | 'v1alpha1'): string {
  return `cronjob-monitor.io/${word}`;
}
