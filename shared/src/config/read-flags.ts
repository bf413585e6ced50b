import { configKeys, isConfigKey, rowOf, variableOf, type ConfigKey } from './keys.ts';
import { findNearest } from './nearest.ts';
import { problemLine, shownText, type Found, type Setting } from './source.ts';

/** What the command line asks for besides values of keys. */
export interface Arguments extends Found {
  readonly wants: 'run' | 'help' | 'version' | 'print-config';
  /** `--config`; undefined without it. */
  readonly configPath: string | undefined;
}

const bareFlags = ['help', 'version', 'print-config'] as const;
const flagNames = [...configKeys, 'config', ...bareFlags];

/**
 * Reads `--key=value`, `--key value` and, for a bool, `--key` alone. The last of several flags of one key counts. A value
 * that begins with `--` needs the form with `=`.
 */
export function readFlags(argv: readonly string[]): Arguments {
  const settings = new Map<ConfigKey, Setting>();
  const problems: string[] = [];
  const warnings: string[] = [];
  const asked = new Set<string>();
  let configPath: string | undefined;

  const rest = [...argv];
  for (let argument = rest.shift(); argument !== undefined; argument = rest.shift()) {
    const match = /^--([^=]+)(?:=(.*))?$/s.exec(argument);
    if (!match) {
      problems.push(problemLine(`argument ${shownText(argument)} is no flag; flags begin with --`));
      if (argument.startsWith('-')) skipValue(rest);
      continue;
    }
    const [, name = '', inline] = match;
    if (isBareFlag(name)) {
      if (inline === undefined) asked.add(name);
      else problems.push(problemLine(`flag --${name} takes no value`));
    } else if (name === 'config' || isConfigKey(name)) {
      const value = inline ?? takeValue(rest, name);
      if (value === undefined) problems.push(problemLine(`${name} (flag --${name}) needs a value`));
      else if (name === 'config') configPath = value;
      else settings.set(name, { given: value, source: { from: 'flag', flag: `--${name}` } });
    } else {
      problems.push(unknownFlag(name));
      if (inline === undefined) skipValue(rest);
    }
  }
  for (const key of settings.keys()) if (rowOf(key).sensitive) warnings.push(sensitiveFlag(key));
  return { wants: wantsOf(asked), configPath, settings, problems, warnings };
}

function isBareFlag(name: string): boolean {
  return bareFlags.some((flag) => flag === name);
}

/** A bool takes the next argument only when it is one of its words. */
function takeValue(rest: string[], name: string): string | undefined {
  const next = rest[0];
  const isBool = isConfigKey(name) && rowOf(name).kind.name === 'bool';
  if (isBool && next !== 'true' && next !== 'false') return 'true';
  return next === undefined || next.startsWith('--') ? undefined : rest.shift();
}

/** What follows an unknown flag may be a secret: it is not read as an argument, and so never shown. */
function skipValue(rest: string[]): void {
  if (rest[0] !== undefined && !rest[0].startsWith('-')) rest.shift();
}

function wantsOf(asked: ReadonlySet<string>): Arguments['wants'] {
  return bareFlags.find((flag) => asked.has(flag)) ?? 'run';
}

function unknownFlag(name: string): string {
  const near = findNearest(name, flagNames);
  return problemLine(
    `${shownText(name)} (flag --${shownText(name)}) is no key${near ? `; did you mean ${near}?` : ''}`,
  );
}

function sensitiveFlag(key: ConfigKey): string {
  return `${key} (flag --${key}) is a secret, and other users of this machine can read flags; use ${variableOf(key)}`;
}
