import { mapOf, named, typed, words } from './shape/index.ts';

/** Where the value of a configuration key came from when it is not the default. */
const configSources = ['flag', 'environment', 'file'] as const;
export type ConfigSource = (typeof configSources)[number];

/**
 * GET /api/v1/config: keys nested at their dots, durations as text, sensitive values `***` when set, else null.
 * `sources` names each key that is not at its default.
 */
export interface ConfigView {
  readonly [key: string]: unknown;
  readonly sources: Readonly<Record<string, ConfigSource>>;
}
export const ConfigView = named(
  'Config',
  typed<ConfigView>({ form: { kind: 'object', fields: { sources: mapOf(words(configSources)) }, more: true } }),
);
