import type { PreviewFinding } from '@cronjob-monitor/shared/contract';
import {
  type Effective,
  type Instant,
  lint,
  type LintedCronJob,
  type LintFacts,
  namedChannels,
  type OwnSettings,
  refText,
} from '@cronjob-monitor/shared/domain';
import { rhythmOf } from '@cronjob-monitor/shared/domain/schedule';
import { alertRulesOf, ownOfLinted, type MonitorSpec } from '@cronjob-monitor/shared/kube';
import { measureLastDurations, type CatalogCronJob, type RoutedChannel } from '@cronjob-monitor/shared/store';
import { speaks } from '../own-settings.ts';
import type { PreviewSource } from './wish.ts';

const durationsOf = 100;

/** Findings about a spec: schema errors, lint of the spec and of its CronJobs, and references that this service does not know. */
export async function findingsOf(
  deps: PreviewSource,
  of: Parameters<typeof lintOf>[1] & {
    readonly problems: readonly { readonly path: string; readonly message: string }[];
    readonly unknownLabels: boolean;
  },
): Promise<PreviewFinding[]> {
  return [
    ...of.problems.map(({ path, message }) => ofSchema(path, message)),
    ...(await lintOf(deps, of)),
    ...(of.unknownLabels ? [labelsUnknown] : []),
    ...(of.spec.jobs ? [jobsUnknown] : []),
  ];
}

async function lintOf(
  { store, settings }: PreviewSource,
  of: {
    readonly spec: MonitorSpec;
    readonly asked: readonly CatalogCronJob[];
    readonly owns: ReadonlyMap<number, OwnSettings>;
    readonly settingsOf: (own: OwnSettings) => Effective<MonitorSpec>;
    readonly channels: ReadonlyMap<string, RoutedChannel>;
    readonly skewP99Ms: number;
    readonly toAt: Instant;
    readonly mayListChannels: boolean;
    readonly dependencies: LintFacts['dependencies'];
  },
): Promise<PreviewFinding[]> {
  const { spec, asked, owns, settingsOf, skewP99Ms, toAt, mayListChannels, dependencies } = of;
  const durations = await measureLastDurations(
    store,
    asked.map(({ id }) => id),
    durationsOf,
  );
  const findings = lint({
    monitor: spec,
    cronJobs: asked.map((cronJob) => {
      const own = owns.get(cronJob.id);
      const isOwn = own !== undefined && (speaks(own) || (spec.alerting?.routes.length ?? 0) > 0);
      return {
        ...toLinted(cronJob, durations.get(cronJob.id), settings.defaultTimeZone, toAt),
        own: isOwn ? ownOfLinted(settingsOf(own), own, toAt) : undefined,
      };
    }),
    channelFaults: mayListChannels
      ? faultsOf(
          asked.flatMap(({ id }) => owns.get(id) ?? []),
          of,
        )
      : [],
    skewP99Ms,
    isDefaultZoneGiven: settings.isDefaultZoneGiven,
    dependencies,
  });
  return findings
    .filter(({ isLeft }) => !isLeft)
    .map(({ level, code, path, cronJob, message }) => ({
      level,
      code,
      path,
      message: cronJob ? `${refText(cronJob)}: ${message}` : message,
    }));
}

/** Channels that are named and cannot be told, each once; of a spec that selects nothing those of its `channelRefs`. */
function faultsOf(
  owns: readonly OwnSettings[],
  of: {
    readonly spec: MonitorSpec;
    readonly settingsOf: (own: OwnSettings) => Effective<MonitorSpec>;
    readonly channels: ReadonlyMap<string, RoutedChannel>;
  },
): LintFacts['channelFaults'] {
  const refs = (of.spec.alerting?.channelRefs ?? [])
    .filter(({ name }) => !of.channels.has(name))
    .map(({ name }) => ({ name, reason: 'unknownChannel' as const, isOwned: false }));
  const named = owns.flatMap((own) =>
    namedChannels(alertRulesOf(of.settingsOf(own)).alerting, (name) => of.channels.get(name)),
  );
  const faults = [...refs, ...named].flatMap(({ name, reason, isOwned }): [string, string][] => {
    if (reason === undefined || (reason === 'unknownChannel' && isOwned)) return [];
    return [[name, reason === 'unknownChannel' ? 'it does not exist' : 'it does not admit who names it']];
  });
  return [...new Map(faults)].map(([name, why]) => ({ name, why }));
}

/** Fields of a CronJob that the catalog does not store count as sound; the CronJob's page checks them. */
function toLinted(
  { namespace, name, notes, schedule, timeZone, policy, deadlineS, nextRunAt }: CatalogCronJob,
  durations: LintedCronJob['durations'],
  defaultZone: string,
  now: Instant,
): LintedCronJob {
  const kept = { successLimit: 3, failureLimit: 1, ttlAfterFinishedS: undefined };
  const job = { activeDeadlineS: Number.MAX_SAFE_INTEGER, backoffLimit: 0, restartPolicy: 'Never' as const };
  return {
    facts: { namespace, name, notes, schedule, timeZone, policy, deadlineS, ...kept, ...job },
    rhythm: rhythmOf(schedule, timeZone ?? defaultZone, now),
    durations,
    nextRunAt,
  };
}

const labelsUnknown: PreviewFinding = {
  level: 'note',
  code: 'SelectorEmpty',
  path: 'spec.selector',
  message:
    'labels are looked at in the cluster alone: what the monitor of this name selects now is taken in their place',
};

const jobsUnknown: PreviewFinding = {
  level: 'note',
  code: 'SelectorEmpty',
  path: 'spec.jobs',
  message: 'Jobs are looked at in the cluster alone: of those that no monitor watches yet, nothing is known',
};

function ofSchema(path: string, message: string): PreviewFinding {
  return { level: 'error', code: 'schema', path, message };
}
