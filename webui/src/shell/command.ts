import { alertTypesOf, type CronJob, type SlaTargetVerdict, type Trouble } from '@cronjob-monitor/shared/contract';

/** What the command line of the palette can do with a CronJob. */
const verbs = [
  'open',
  'trigger',
  'suspend',
  'resume',
  'silence',
  'acknowledge',
  'logs',
  'compare',
  'who hears',
  'copy',
] as const;
export type Verb = (typeof verbs)[number];

/** Further words for a verb. */
const otherWords: Partial<Record<string, Verb>> = {
  go: 'open',
  run: 'trigger',
  start: 'trigger',
  pause: 'suspend',
  unsuspend: 'resume',
  mute: 'silence',
  ack: 'acknowledge',
  log: 'logs',
  diff: 'compare',
  who: 'who hears',
  hears: 'who hears',
  kubectl: 'copy',
};

type Shown = Pick<CronJob, 'verdict' | 'lastExecution'>;

const isOf = (trouble: Trouble, kind: string): boolean => alertTypesOf(trouble).some((type) => type === kind);

/** Words that list CronJobs by what is wrong with them, and which those are: by themselves, or by how the SLA page judges a target of theirs. */
const lists: Readonly<Record<string, ((cronJob: Shown) => boolean) | SlaTargetVerdict>> = {
  failed: ({ verdict: { kind } }) => kind === 'lastRunFailed' || isOf('failure', kind),
  oom: ({ verdict: { cause }, lastExecution }) => /OOM|memory/i.test(`${lastExecution?.reason} ${cause}`),
  stuck: ({ verdict: { kind } }) => kind === 'waiting' || isOf('stuck', kind),
  late: ({ verdict: { kind } }) => kind === 'missedLast' || isOf('absence', kind),
  silenced: ({ verdict: { holds } }) => holds.some(({ kind }) => kind === 'silenced'),
  'at risk': 'atRisk',
  breached: 'breached',
};

/** What a line that finds nothing says can be typed. */
export const whatToType = `Type a part of a name; a verb and a name (${verbs.join(', ')}); a word that lists CronJobs (${Object.keys(lists).join(', ')}); or > for pages and settings.`;

/** What was typed: a verb and the name it is for, or a word that lists CronJobs, or a name alone. */
export interface Command {
  readonly verb: Verb | undefined;
  readonly list: { readonly word: string; readonly by: (typeof lists)[string] } | undefined;
  readonly object: string;
}

/** Reads `trigger night`, `who hears backup`, `oom`, `ack` or `nightly`; a verb may be cut short after its third letter. */
export function readCommand(typed: string): Command {
  const text = typed.trim().toLowerCase().replaceAll(/\s+/g, ' ');
  const list = Object.entries(lists).find(([word]) => text === word);
  if (list) return { verb: undefined, list: { word: list[0], by: list[1] }, object: '' };
  const [first = '', ...rest] = text.replace(/^who hears\b/, 'who').split(' ');
  const verb =
    otherWords[first] ??
    verbs.find((one) => one === first || (first.length >= 3 && rest.length > 0 && one.startsWith(first)));
  return verb ? { verb, list: undefined, object: rest.join(' ') } : { verb: undefined, list: undefined, object: text };
}

/** What a line of the palette says it does: `Trigger data/nightly-backup`. */
export function sayCommand(verb: Verb, name: string): string {
  switch (verb) {
    case 'who hears':
      return `Who hears of ${name}`;
    case 'logs':
      return `Log of the newest run of ${name}`;
    case 'compare':
      return `Compare the newest run of ${name} with the success before it`;
    case 'copy':
      return `Copy the kubectl command of ${name}`;
    default:
      return `${verb.charAt(0).toUpperCase()}${verb.slice(1)} ${name}`;
  }
}
