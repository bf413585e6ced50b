import type { SettingField, SettingSource } from '../../contract/index.ts';
import {
  type AlertType,
  alertTypes,
  type FailureCause,
  type OverrideWord,
  overrideWords,
  type OwnerWord,
  type Severity,
} from '../../contract/vocabulary.ts';
import { refText } from '../../contract/wording.ts';
import { isLike, type OpenRoute, type Routing } from '../alert/routes.ts';
import type { Instant } from '../instant.ts';
import { parseTemplate, renderTemplate } from '../template/parse.ts';
import {
  type Annotations,
  longestMuteMs,
  type OwnWords,
  readWords,
  type ReadWords,
  type WordProblem,
} from './words.ts';

type Labels = Readonly<Record<string, string>>;

/** What one object says of itself. */
export interface Said {
  readonly labels: Labels;
  readonly annotations: Annotations;
}

/** A CronJob with its Namespace, as far as they speak for themselves. */
export interface OwnSettings {
  readonly namespace: string;
  readonly name: string;
  /** In which dates begin. */
  readonly timeZone: string;
  readonly cronJob: Said;
  /** Undefined: not known, and it says nothing. */
  readonly ofNamespace: Said | undefined;
}

/** A route as a monitor has it. */
export interface WrittenRoute {
  readonly name: string;
  readonly when: {
    readonly owners: readonly string[];
    readonly labels: Labels;
    readonly causes: readonly FailureCause[];
    readonly types: readonly AlertType[];
  };
  readonly channels: readonly string[];
  readonly severities: readonly Severity[];
  readonly instead: boolean;
  readonly fold: boolean;
}

/** What a monitor says of its SLA, durations as text. */
export interface SlaSpec {
  readonly enabled: boolean;
  /** Undefined: there is no verdict on the rate. */
  readonly minSuccessRate: number | undefined;
  readonly windowDays: number;
  readonly minRuns: number;
  readonly countMissed: boolean;
  /** Undefined: off, for each of the next three. */
  readonly maxDuration: string | undefined;
  readonly minDuration: string | undefined;
  /** `time` as HH:MM; without a zone that of the CronJob. */
  readonly finishBy: { readonly time: string; readonly timezone: string | undefined } | undefined;
  /** 0: off. */
  readonly durationRegressionThreshold: number;
  readonly durationBaselineWindowDays: number;
}

/** What of a monitor's spec an owner may speak in place of. */
export interface OverridableSpec {
  readonly missedSchedule: { readonly grace: string };
  readonly sla: SlaSpec | undefined;
  readonly allowOverrides: readonly OverrideWord[];
  readonly alerting:
    | {
        readonly severityOverrides: Readonly<Partial<Record<AlertType, Severity>>>;
        readonly routes: readonly WrittenRoute[];
      }
    | undefined;
}

interface OverridableMonitor<S> {
  readonly namespace: string;
  readonly name: string;
  readonly spec: S;
}

/** One setting as it is in force, as text; `object`: who says so, `namespace/name` or the name of a Namespace. */
interface EffectiveSetting {
  readonly field: SettingField;
  /** Undefined: off, or none. */
  readonly value: string | undefined;
  readonly source: SettingSource;
  readonly object: string | undefined;
}

/** What is in force for one CronJob under one monitor. */
export interface Effective<S> {
  /** The spec as it stands for this CronJob: all that reads it needs no word of an owner. */
  readonly spec: S;
  readonly severityOverrides: Readonly<Partial<Record<AlertType, Severity>>> | undefined;
  /** By type: who says how bad it is. */
  readonly severitySourceOf: (type: AlertType) => SettingSource;
  readonly routing: Pick<Routing, 'routes' | 'annotation' | 'monitorNamespace' | 'cronJobNamespace'>;
  readonly owner: string | undefined;
  /** Messages wait until then. Undefined: they do not. */
  readonly mutedUntilAt: Instant | undefined;
  /** The monitor is to leave it out. */
  readonly isIgnored: boolean;
  /** Words that the monitor does not allow, and so do nothing. */
  readonly passedOver: readonly OverrideWord[];
  readonly settings: readonly EffectiveSetting[];
}

/** The annotations that cannot be used, with the object that has them. */
interface AnnotationProblem {
  readonly source: 'CronJob' | 'Namespace';
  readonly object: string;
  readonly word: OwnerWord;
  readonly message: string;
}

/** What CronJob and Namespace say, read once for all monitors. */
interface ReadSaid {
  readonly cronJob: ReadWords;
  readonly ofNamespace: ReadWords;
}

const nothing: ReadWords = { words: {}, problems: [] };

function readSaid({ cronJob, ofNamespace, timeZone }: OwnSettings): ReadSaid {
  return {
    cronJob: readWords(cronJob.annotations, timeZone),
    ofNamespace: ofNamespace ? readWords(ofNamespace.annotations, timeZone) : nothing,
  };
}

/** What of the annotations of a CronJob and its Namespace counts as absent, and why. */
export function annotationProblemsOf(own: OwnSettings, now: Instant): AnnotationProblem[] {
  const { cronJob, ofNamespace } = readSaid(own);
  return [
    ...problemsOf(cronJob, now).map((one) => {
      return { source: 'CronJob', object: refText(own), ...one } as const;
    }),
    ...problemsOf(ofNamespace, now).map((one) => ({ source: 'Namespace', object: own.namespace, ...one }) as const),
  ];
}

function problemsOf({ words, problems }: ReadWords, now: Instant): readonly WordProblem[] {
  const until = words['mute-until'];
  if (until === undefined || until - now <= longestMuteMs) return problems;
  const message = `mute-until: ${new Date(until).toISOString()} is more than 30 days ahead`;
  return [...problems, { word: 'mute-until', message }];
}

/** Who owns a CronJob: the annotation of it, then that of its Namespace, then the label of this name in the same order. */
export function ownerOf(own: OwnSettings, ownerLabel: string | undefined): string | undefined {
  return foundOwner(own, readSaid(own), ownerLabel)?.value;
}

/**
 * Each setting of a monitor as it stands for one CronJob: the CronJob's word wins over that of its Namespace, that over the monitor, and that
 * over the default; each word alone. Words that the monitor does not allow do nothing. `ownerLabel`: the label that names the owner.
 */
export function effectiveOf<S extends OverridableSpec>(
  monitor: OverridableMonitor<S>,
  own: OwnSettings,
  ownerLabel: string | undefined,
): Effective<S> {
  const { spec } = monitor;
  const said = readSaid(own);
  const wordOf = <W extends OverrideWord>(word: W): Found<NonNullable<OwnWords[W]>> | undefined =>
    spec.allowOverrides.includes(word) ? found(own, said, word) : undefined;
  const grace = wordOf('grace');
  const maxDuration = wordOf('max-duration');
  const finishBy = wordOf('finish-by');
  const severity = wordOf('severity');
  const channel = wordOf('channel');
  const mute = wordOf('mute-until');
  const ignore = wordOf('ignore');
  const owner = foundOwner(own, said, ownerLabel);
  const severityOverrides = severity ? overridesWith(spec, severity.value) : spec.alerting?.severityOverrides;
  const labels = { ...own.ofNamespace?.labels, ...own.cronJob.labels };
  return {
    spec: {
      ...spec,
      ...(grace && { missedSchedule: { ...spec.missedSchedule, grace: grace.value } }),
      ...((maxDuration ?? finishBy) && { sla: slaWith(spec.sla, maxDuration?.value, finishBy?.value) }),
      ...(spec.alerting && severity && { alerting: { ...spec.alerting, severityOverrides } }),
    },
    severityOverrides,
    severitySourceOf: (type) => {
      const says = typeof severity?.value === 'string' || severity?.value[type] !== undefined;
      if (severity && says) return severity.source;
      return spec.alerting?.severityOverrides[type] === undefined ? 'default' : 'CronJobMonitor';
    },
    routing: {
      routes: openRoutesOf(spec.alerting?.routes ?? [], owner?.value, labels),
      annotation: channel?.value,
      monitorNamespace: monitor.namespace,
      cronJobNamespace: own.namespace,
    },
    owner: owner?.value,
    mutedUntilAt: mute?.value,
    isIgnored: ignore !== undefined,
    passedOver: overrideWords.filter(
      (word) => !spec.allowOverrides.includes(word) && found(own, said, word) !== undefined,
    ),
    settings: settingsOf(monitor, { grace, maxDuration, finishBy, severity, channel, mute, ignore, owner }),
  };
}

interface Found<T> {
  readonly value: T;
  readonly source: 'CronJob' | 'Namespace';
  readonly object: string;
}

function found<W extends OwnerWord>(
  own: OwnSettings,
  { cronJob, ofNamespace }: ReadSaid,
  word: W,
): Found<NonNullable<OwnWords[W]>> | undefined {
  const mine = cronJob.words[word];
  if (mine !== undefined) return { value: mine, source: 'CronJob', object: refText(own) };
  const shared = ofNamespace.words[word];
  return shared === undefined ? undefined : { value: shared, source: 'Namespace', object: own.namespace };
}

function foundOwner(own: OwnSettings, said: ReadSaid, label: string | undefined): Found<string> | undefined {
  const word = found(own, said, 'owner');
  if (word || label === undefined) return word;
  const { namespace, name, cronJob, ofNamespace } = own;
  const mine = cronJob.labels[label];
  if (mine) return { value: mine, source: 'CronJob', object: `${namespace}/${name}` };
  const shared = ofNamespace?.labels[label];
  return shared ? { value: shared, source: 'Namespace', object: namespace } : undefined;
}

function overridesWith(
  { alerting }: OverridableSpec,
  severity: NonNullable<OwnWords['severity']>,
): Readonly<Partial<Record<AlertType, Severity>>> {
  if (typeof severity !== 'string') return { ...alerting?.severityOverrides, ...severity };
  return Object.fromEntries(alertTypes.map((type) => [type, severity]));
}

/** Limits of their own need no `sla` block, and switch on nothing else of it. */
function slaWith(
  sla: SlaSpec | undefined,
  maxDuration: OwnWords['max-duration'],
  finishBy: OwnWords['finish-by'],
): SlaSpec | undefined {
  const base: SlaSpec = sla?.enabled ? sla : onlyLimits;
  return {
    ...base,
    ...(maxDuration !== undefined && { maxDuration: maxDuration === 'off' ? undefined : maxDuration }),
    ...(finishBy !== undefined && { finishBy: finishBy === 'off' ? undefined : finishBy }),
  };
}

const onlyLimits: SlaSpec = {
  enabled: true,
  minSuccessRate: undefined,
  windowDays: 7,
  minRuns: 1,
  countMissed: false,
  maxDuration: undefined,
  minDuration: undefined,
  finishBy: undefined,
  durationRegressionThreshold: 0,
  durationBaselineWindowDays: 14,
};

/** The routes that are open to a CronJob with this owner and these labels, with the names of their channels filled in. */
function openRoutesOf(
  routes: readonly WrittenRoute[],
  owner: string | undefined,
  labels: Labels,
): readonly OpenRoute[] {
  return routes
    .filter(({ when }) => {
      const isOwned =
        when.owners.length === 0 || (owner !== undefined && when.owners.some((one) => isLike(owner, one)));
      return isOwned && Object.entries(when.labels).every(([key, value]) => labels[key] === value);
    })
    .map(({ name, when, channels, severities, instead, fold }) => ({
      name,
      causes: when.causes,
      types: when.types,
      severities,
      channels: channels.flatMap((written) => {
        const template = parseTemplate(written);
        const isOwned = template.parts.some((part) => 'name' in part);
        // Without an owner the name has a hole in it.
        if (isOwned && owner === undefined) return [];
        return { name: isOwned ? renderTemplate(template, { Owner: owner }) : written, isOwned };
      }),
      isChosen: when.owners.length > 0 || Object.keys(when.labels).length > 0,
      instead,
      fold,
    }));
}

/** Every setting that an owner may speak of, also where none does, in the order of `settingFields`. */
function settingsOf(
  { namespace, name, spec }: OverridableMonitor<OverridableSpec>,
  of: {
    readonly grace: Found<string> | undefined;
    readonly maxDuration: Found<string> | undefined;
    readonly finishBy: Found<NonNullable<OwnWords['finish-by']>> | undefined;
    readonly severity: Found<NonNullable<OwnWords['severity']>> | undefined;
    readonly channel: Found<readonly string[]> | undefined;
    readonly mute: Found<Instant> | undefined;
    readonly ignore: Found<true> | undefined;
    readonly owner: Found<string> | undefined;
  },
): EffectiveSetting[] {
  const monitor = refText({ namespace, name });
  const setting = <T>(
    field: SettingField,
    word: Found<T> | undefined,
    text: (value: T) => string | undefined,
    written?: string,
  ): EffectiveSetting => {
    if (word) return { field, value: text(word.value), source: word.source, object: word.object };
    return written === undefined
      ? {
          field,
          value: field === 'missedSchedule.grace' ? usualGrace : undefined,
          source: 'default',
          object: undefined,
        }
      : { field, value: written, source: 'CronJobMonitor', object: monitor };
  };
  const sla = spec.sla?.enabled ? spec.sla : undefined;
  const { routes = [], severityOverrides = {} } = spec.alerting ?? {};
  const { grace } = spec.missedSchedule;
  return [
    setting('missedSchedule.grace', of.grace, asWritten, grace === usualGrace ? undefined : grace),
    setting('sla.maxDuration', of.maxDuration, unlessOff, sla?.maxDuration),
    setting(
      'sla.finishBy',
      of.finishBy,
      (by) => (by === 'off' ? undefined : inWords(by)),
      sla?.finishBy && inWords(sla.finishBy),
    ),
    setting('alerting.severityOverrides', of.severity, severityText, severityText(severityOverrides) || undefined),
    setting(
      'alerting.routes',
      of.channel,
      (names) => names.join(', '),
      routes.map((route) => route.name).join(', ') || undefined,
    ),
    setting('muteUntil', of.mute, (at) => new Date(at).toISOString()),
    setting('ignore', of.ignore, () => 'true'),
    setting('owner', of.owner, asWritten),
  ];
}

/** As the CRD has it: an object does not tell whether it was written or filled in. */
const usualGrace = '2m';

const asWritten = (text: string): string => text;
const unlessOff = (text: string): string | undefined => (text === 'off' ? undefined : text);

function inWords({ time, timezone }: { readonly time: string; readonly timezone: string | undefined }): string {
  return timezone === undefined ? time : `${time} ${timezone}`;
}

function severityText(severity: NonNullable<OwnWords['severity']>): string {
  if (typeof severity === 'string') return severity;
  return Object.entries(severity)
    .map(([type, of]) => `${type}=${of}`)
    .join(', ');
}
