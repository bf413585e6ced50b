import { parseArgs } from 'node:util';
import { findNearest } from '@cronjob-monitor/shared/domain';
import { UsageError } from './command.ts';

/** The flags of a command: `text` takes a value, `flag` none. */
type FlagKinds = Readonly<Record<string, 'text' | 'flag'>>;

type Flags<K extends FlagKinds> = {
  readonly [N in keyof K]: (K[N] extends 'flag' ? true : string) | undefined;
};

/** Flags by name, and what stands without one. Throws `UsageError` for a flag that does not exist, twice, or without its value. */
export function readArguments<const K extends FlagKinds>(
  argv: readonly string[],
  kinds: K,
): { readonly flags: Flags<K>; readonly operands: readonly string[] } {
  const options = Object.fromEntries(
    Object.entries(kinds).map(([name, kind]) => [name, { type: kind === 'flag' ? 'boolean' : 'string' } as const]),
  );
  const { tokens } = parseArgs({ args: [...argv], options, strict: false, tokens: true });
  const flags: Record<string, string | true> = {};
  const operands: string[] = [];
  const problems: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') operands.push(token.value);
    if (token.kind !== 'option') continue;
    const { name, rawName, value } = token;
    if (!Object.hasOwn(kinds, name)) problems.push(unknownFlag(rawName, name, kinds));
    else if (name in flags) problems.push(`${rawName} is given twice`);
    else if (kinds[name] === 'flag') {
      if (value !== undefined) problems.push(`${rawName} takes no value`);
      flags[name] = true;
    } else if (value === undefined || value === '' || (!token.inlineValue && value.startsWith('--'))) {
      problems.push(`${rawName} needs a value`);
    } else flags[name] = value;
  }
  if (problems.length > 0) throw new UsageError(...problems);
  return { flags: flags as Flags<K>, operands }; // each was read as its kind says
}

function unknownFlag(rawName: string, name: string, kinds: FlagKinds): string {
  if (name === 'token') {
    return `${rawName}: other users of this machine can read flags; put the token into CRONJOB_MONITOR_TOKEN, or give --token-file FILE`;
  }
  const near = findNearest(name, Object.keys(kinds));
  return `${rawName} is no flag of this command${near === undefined ? '' : `; did you mean --${near}?`}`;
}

/** One of the words that a flag takes; `usual` when it was not given. */
export function wordOf<const W extends string>(
  flag: string,
  given: string | undefined,
  words: readonly W[],
  usual: W,
): W {
  const found = given === undefined ? usual : words.find((word) => word === given);
  if (found !== undefined) return found;
  throw new UsageError(`--${flag} ${JSON.stringify(given)} is unknown; allowed: ${words.join(', ')}`);
}

/** The whole number that a flag takes; undefined when it was not given. */
export function numberOf(flag: string, given: string | undefined, min: number, max: number): number | undefined {
  if (given === undefined) return undefined;
  const value = /^\d{1,9}$/.test(given) ? Number(given) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new UsageError(`--${flag} ${JSON.stringify(given)} must be a whole number from ${min} to ${max}`);
}

/** `NAMESPACE/NAME`, the one operand of a command; the name of a CronJob, or of a group of Jobs. */
export function refOf(operands: readonly string[]): { readonly namespace: string; readonly name: string } {
  const [given = '', ...more] = operands;
  const [, namespace, name] =
    /^([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)\/([a-z0-9][-.a-z0-9]{0,252}|~[A-Za-z0-9][-_.A-Za-z0-9]{0,251})$/.exec(given)
      ? ['', ...given.split('/')]
      : [];
  if (more.length > 0 || namespace === undefined || name === undefined) {
    throw new UsageError(
      operands.length === 0
        ? 'which CronJob? Give NAMESPACE/NAME'
        : `${JSON.stringify(operands.join(' '))} is not one NAMESPACE/NAME; allowed: names of Kubernetes, such as prod/backup`,
    );
  }
  return { namespace, name };
}
