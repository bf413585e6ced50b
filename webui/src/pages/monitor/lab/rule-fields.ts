import { type PreviewHistogram, isObject, type Json } from '@cronjob-monitor/shared/contract';
import { limitText } from '../../../format/duration.ts';
import { targetText } from '../../../format/figures.ts';
import { block, flag, number, text } from '../../../format/monitor-spec.ts';
import { goText, secondsOfText } from './durations.ts';

type RuleKind = 'duration' | 'percent' | 'count' | 'clock';

/** One rule of the form: a switch and one control. */
export interface RuleField {
  /** Of the value in the resource, as findings and histograms name it. */
  readonly path: string;
  readonly name: string;
  readonly kind: RuleKind;
  /** Behind the control: `in 7 days`. */
  readonly unit?: (spec: Json) => string;
  /** Undefined: its limit is judged by nothing that can be drawn. */
  readonly histogram?: PreviewHistogram['path'];
  readonly isOn: (spec: Json) => boolean;
  /** The value in the resource, whether the rule is on or off; undefined: it is not set. */
  readonly valueOf: (spec: Json) => string | undefined;
  /** What holds where it is not set; the value that a rule begins with. */
  readonly preset: string;
  /** Whether `preset` is what the service takes where nothing is set; else nothing is watched then. */
  readonly hasDefault: boolean;
  readonly switchTo: (spec: Json, isOn: boolean) => Json;
  readonly write: (spec: Json, value: string) => Json;
}

/** Where the value of a rule comes from. */
interface FieldSource {
  readonly word: string;
  readonly isChanged: boolean;
}

/** `default`, `as set`, `off`, or what it was before: `was 25 h`. */
export function sourceOf(field: RuleField, inForce: Json, wished: Json): FieldSource {
  const [was, is] = [sayOf(field, inForce), sayOf(field, wished)];
  if (was !== is) return { word: `was ${was}`, isChanged: true };
  if (!field.isOn(wished)) return { word: 'off', isChanged: false };
  const value = field.valueOf(wished);
  const isDefault = field.hasDefault && (value === undefined || value === field.preset);
  return { word: isDefault ? 'default' : 'as set', isChanged: false };
}

function sayOf(field: RuleField, spec: Json): string {
  return field.isOn(spec) ? sayValue(field.kind, field.valueOf(spec) ?? field.preset) : 'off';
}

/** A value of the resource as people read it: `25 h`, `95 %`. */
export function sayValue(kind: RuleKind, value: string): string {
  if (kind === 'duration') return limitText(value);
  return kind === 'percent' ? targetText(Number(value)) : value;
}

/** What is wrong with a text typed into a field, or the value that it means in the resource. */
export function readField(kind: RuleKind, typed: string): { readonly value: string } | { readonly problem: string } {
  const plain = typed.trim();
  if (kind === 'duration') {
    const seconds = secondsOfText(plain);
    const problem = 'Write a duration, such as 25 h or 1 h 30 min';
    return seconds === undefined || seconds < 1 ? { problem } : { value: goText(seconds) };
  }
  if (kind === 'clock')
    return /^([01]\d|2[0-3]):[0-5]\d$/.test(plain)
      ? { value: plain }
      : { problem: 'Write a time of the day, such as 06:00' };
  const figure = Number(plain.replace(/\s*%$/, ''));
  const isFigure = plain !== '' && Number.isFinite(figure);
  if (kind === 'percent')
    return isFigure && figure > 0 && figure <= 100
      ? { value: String(figure) }
      : { problem: 'Write a percentage above 0, 100 at most' };
  return isFigure && Number.isInteger(figure) && figure >= 1 && figure <= 100
    ? { value: String(figure) }
    : { problem: 'Write a whole number from 1 to 100' };
}

/** The switch of an SLA is one for all its targets: to have one of them alone, the others are written as off. */
const onlySla = { enabled: true, minSuccessRate: 0, durationRegressionThreshold: 0 } as const;

function slaOf(spec: Json): Json | undefined {
  const sla = block(spec, 'sla');
  return sla && flag(sla, 'enabled', true) ? sla : undefined;
}

function withSla(spec: Json, key: string, value: unknown): Json {
  const sla = slaOf(spec) ?? (value === undefined ? undefined : onlySla);
  return sla ? withValue(spec, 'sla', withValue(sla, key, value)) : spec;
}

function textAt(spec: Json, path: string): string | undefined {
  const value = valueAt(spec, path);
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}

/** A limit as it takes a duration; `path` in the spec, and its rule has a block of its own. */
function inBlock(of: {
  readonly path: string;
  readonly name: string;
  readonly kind: RuleKind;
  readonly preset: string;
  readonly histogram?: PreviewHistogram['path'];
}): RuleField {
  const [name = ''] = of.path.split('.');
  return {
    ...of,
    path: `spec.${of.path}`,
    hasDefault: true,
    isOn: (spec) => flag(block(spec, name), 'enabled', true),
    valueOf: (spec) => textAt(spec, of.path),
    switchTo: (spec, isOn) => withValue(spec, `${name}.enabled`, isOn),
    write: (spec, value) => withValue(spec, of.path, of.kind === 'duration' ? value : Number(value)),
  };
}

const deadMan = 'deadManSwitch';

/** The rules with a control, in the order of their weight. Everything else of a spec is edited as JSON. */
export const ruleFields: readonly RuleField[] = [
  {
    path: 'spec.deadManSwitch.maxTimeSinceLastSuccess',
    name: 'No success for',
    kind: 'duration',
    preset: '25h',
    hasDefault: false,
    histogram: 'spec.deadManSwitch.maxTimeSinceLastSuccess',
    isOn: (spec) => {
      const rule = block(spec, deadMan);
      return flag(rule, 'enabled', rule !== undefined) && text(rule, 'maxTimeSinceLastSuccess') !== undefined;
    },
    valueOf: (spec) => textAt(spec, 'deadManSwitch.maxTimeSinceLastSuccess'),
    switchTo: (spec, isOn) => {
      const limit = 'deadManSwitch.maxTimeSinceLastSuccess';
      const enabled = withValue(spec, 'deadManSwitch.enabled', isOn);
      if (isOn) return withValue(enabled, limit, textAt(spec, limit) ?? '25h');
      const auto = block(block(spec, deadMan), 'autoFromSchedule');
      return auto && flag(auto, 'enabled', true) ? withValue(spec, limit, undefined) : enabled;
    },
    write: (spec, value) => withValue(spec, 'deadManSwitch.maxTimeSinceLastSuccess', value),
  },
  {
    path: 'spec.deadManSwitch.autoFromSchedule.buffer',
    name: 'No success for each schedule, plus',
    kind: 'duration',
    preset: '1h',
    hasDefault: true,
    isOn: (spec) => {
      const rule = block(spec, deadMan);
      const auto = block(rule, 'autoFromSchedule');
      const isFixed = text(rule, 'maxTimeSinceLastSuccess') !== undefined;
      return !isFixed && flag(rule, 'enabled', rule !== undefined) && flag(auto, 'enabled', auto !== undefined);
    },
    valueOf: (spec) => textAt(spec, 'deadManSwitch.autoFromSchedule.buffer'),
    // The fixed limit wins over the schedule: to have the schedule, it is taken away.
    switchTo: (spec, isOn) => {
      const auto = block(block(spec, deadMan), 'autoFromSchedule') ?? {};
      const changed = withValue(spec, 'deadManSwitch.autoFromSchedule', { ...auto, enabled: isOn });
      if (!isOn) return changed;
      return withValue(
        withValue(changed, 'deadManSwitch.maxTimeSinceLastSuccess', undefined),
        'deadManSwitch.enabled',
        true,
      );
    },
    write: (spec, value) => withValue(spec, 'deadManSwitch.autoFromSchedule.buffer', value),
  },
  {
    path: 'spec.sla.maxDuration',
    name: 'Takes at most',
    kind: 'duration',
    preset: '1h',
    hasDefault: false,
    histogram: 'spec.sla.maxDuration',
    isOn: (spec) => text(slaOf(spec), 'maxDuration') !== undefined,
    valueOf: (spec) => textAt(spec, 'sla.maxDuration'),
    switchTo: (spec, isOn) => withSla(spec, 'maxDuration', isOn ? '1h' : undefined),
    write: (spec, value) => withSla(spec, 'maxDuration', value),
  },
  {
    path: 'spec.sla.minSuccessRate',
    name: 'Success rate at least',
    kind: 'percent',
    preset: '95',
    hasDefault: false,
    histogram: 'spec.sla.minSuccessRate',
    unit: (spec) => `in ${number(slaOf(spec), 'windowDays') ?? 7} days`,
    isOn: (spec) => (number(slaOf(spec), 'minSuccessRate') ?? (slaOf(spec) ? 95 : 0)) > 0,
    valueOf: (spec) => textAt(spec, 'sla.minSuccessRate'),
    switchTo: (spec, isOn) => withSla(spec, 'minSuccessRate', isOn ? 95 : 0),
    write: (spec, value) => withSla(spec, 'minSuccessRate', Number(value)),
  },
  inBlock({ path: 'jobFailed.failureThreshold', name: 'Failed runs in a row', kind: 'count', preset: '1' }),
  inBlock({
    path: 'missedSchedule.grace',
    name: 'May start late by',
    kind: 'duration',
    preset: '2m',
    histogram: 'spec.missedSchedule.grace',
  }),
  {
    path: 'spec.sla.finishBy.time',
    name: 'Finished by',
    kind: 'clock',
    preset: '06:00',
    hasDefault: false,
    isOn: (spec) => text(block(slaOf(spec), 'finishBy'), 'time') !== undefined,
    valueOf: (spec) => textAt(spec, 'sla.finishBy.time'),
    switchTo: (spec, isOn) => withSla(spec, 'finishBy', isOn ? { time: '06:00' } : undefined),
    write: (spec, value) => withSla(spec, 'finishBy.time', value),
  },
  {
    path: 'spec.suspendedHandling.alertIfSuspendedFor',
    name: 'Suspended for',
    kind: 'duration',
    preset: '168h',
    hasDefault: false,
    isOn: (spec) => textAt(spec, 'suspendedHandling.alertIfSuspendedFor') !== undefined,
    valueOf: (spec) => textAt(spec, 'suspendedHandling.alertIfSuspendedFor'),
    switchTo: (spec, isOn) => withValue(spec, 'suspendedHandling.alertIfSuspendedFor', isOn ? '168h' : undefined),
    write: (spec, value) => withValue(spec, 'suspendedHandling.alertIfSuspendedFor', value),
  },
];

/** The value at a path such as `sla.maxDuration`; undefined where a step is missing. */
function valueAt(spec: Json, path: string): unknown {
  return path.split('.').reduce<unknown>((value, key) => (isObject(value) ? value[key] : undefined), spec);
}

/** A copy of the spec with this value at a path; undefined takes the key away. The order of the keys stays. */
function withValue(spec: Json, path: string, value: unknown): Json {
  const [key = '', ...rest] = path.split('.');
  if (rest.length > 0) return { ...spec, [key]: withValue(block(spec, key) ?? {}, rest.join('.'), value) };
  if (value !== undefined) return { ...spec, [key]: value };
  return Object.fromEntries(Object.entries(spec).filter(([name]) => name !== key));
}
