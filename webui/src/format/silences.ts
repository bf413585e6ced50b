import type { Silence, SilenceMatcher } from '@cronjob-monitor/shared/contract';
import { alertTypeWords } from './alert-words.ts';
import { listText, plural } from './figures.ts';
import { shortId } from './short-id.ts';
import { msOf } from './time.ts';

/** What a silence holds, in words: `critical failed run alerts of prod/backup`. */
export function matcherText(matcher: Partial<SilenceMatcher>): string {
  if (matcher.all) return 'Every alert of the whole fleet';
  const {
    namespaces = [],
    cronjobs = [],
    refs = [],
    types = [],
    severities = [],
    monitor = null,
    alertId = null,
  } = matcher;
  const what = [
    severities.length === 0 ? '' : listText(severities),
    types.length === 0
      ? 'alerts'
      : `${listText(
          types.map((type) => alertTypeWords[type]),
          4,
        )} alerts`,
  ];
  const where = whereText(namespaces, cronjobs);
  const parts = [
    what.filter(Boolean).join(' '),
    where,
    refs.length === 0
      ? ''
      : `of ${listText(
          refs.map(({ namespace, name }) => `${namespace}/${name}`),
          4,
        )}`,
    monitor ? `of monitor ${monitor.namespace}/${monitor.name}` : '',
    alertId === null ? '' : `that are the one alert #${shortId(alertId)}`,
  ];
  const text = parts.filter(Boolean).join(' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function whereText(namespaces: readonly string[], cronjobs: readonly string[]): string {
  const [namespace] = namespaces;
  if (cronjobs.length === 0) return namespace === undefined ? '' : `in ${listText(namespaces, 4)}`;
  if (namespaces.length === 1)
    return `of ${listText(
      cronjobs.map((name) => `${namespace}/${name}`),
      4,
    )}`;
  return `of ${listText(cronjobs, 4)}${namespace === undefined ? '' : ` in ${listText(namespaces, 4)}`}`;
}

/** A silence that ends within this time over something that still holds is said. */
const soonMs = 30 * 60_000;

/** `over 2 alerts that still hold`, of a silence that ends soon; undefined when there is nothing to warn of. */
export function endsSoonText(
  { state, endsAt, mutedNow }: Pick<Silence, 'state' | 'endsAt' | 'mutedNow'>,
  nowMs: number,
): string | undefined {
  const leftMs = msOf(endsAt) - nowMs;
  if (state !== 'active' || mutedNow === 0 || leftMs > soonMs || leftMs < 0) return undefined;
  return `over ${plural(mutedNow, 'alert')} that still ${mutedNow === 1 ? 'holds' : 'hold'}`;
}

/** What ending a silence early brings. */
export function endingText({ mutedNow, state }: Pick<Silence, 'state' | 'mutedNow'>): string {
  if (state === 'scheduled') return 'It has not begun: it will hold nothing.';
  if (mutedNow === 0) return 'It holds nothing now: nothing is sent.';
  const one = mutedNow === 1;
  return `${plural(mutedNow, 'alert')} that it holds ${one ? 'is' : 'are'} told now, if ${one ? 'it still holds' : 'they still hold'}.`;
}
