import type { MonitorPreview } from '@cronjob-monitor/shared/contract';
import type { Command, ExitStatus, World } from './command.ts';
import { describeFindings, presentFindings, reaches, type Finding } from './findings.ts';
import { judgeResources, type JudgedMonitor } from './judge-resources.ts';
import { readArguments, wordOf } from './read-arguments.ts';
import { readDocuments, refuseNoFiles } from './read-documents.ts';
import { sortDocuments } from './resources.ts';
import { openService, serviceFlags, serviceUsage, type Service } from './ask-service.ts';
import { adviceLevels } from '@cronjob-monitor/shared/contract';

/** Checks monitors and channels in files: for a pipeline that has no cluster, or against a running service. */
export const lintCommand: Command = {
  name: 'lint',
  summary: 'check CronJobMonitors and AlertChannels in files',
  usage: `Usage: cronjob-monitor lint FILE... [flags]

Checks every CronJobMonitor and AlertChannel in YAML or JSON files; - is standard input. Fields are read as the service reads
them. CronJobs, Namespaces and channels in the same files are what monitors select and name. With --server the stored runs,
CronJobs and channels of a running service are looked at too; limits of a configuration are those of its defaults.

  --namespace NAME   namespace of documents that name none; default: default
  --fail-on LEVEL    error, warning (default) or note: a finding so bad, or worse, ends with 1
  --format FORMAT    text (default) or json
${serviceUsage}

Ends with 0: nothing found, also where the files have no monitor and no channel; 1: something found; 2: usage or input error.
`,
  run: runLint,
};

async function runLint(argv: readonly string[], world: World): Promise<ExitStatus> {
  const { flags, operands: files } = readArguments(argv, {
    namespace: 'text',
    'fail-on': 'text',
    format: 'text',
    ...serviceFlags,
  });
  const failOn = wordOf('fail-on', flags['fail-on'], adviceLevels, 'warning');
  const format = wordOf('format', flags.format, ['text', 'json'], 'text');
  refuseNoFiles(files);
  const service = flags.server === undefined ? undefined : openService(flags, world);

  const resources = sortDocuments(await readDocuments(files, world), flags.namespace ?? 'default');
  const { monitors, findings: offline } = judgeResources(resources, world.clock.now());
  const channels = new Set(resources.channels.map(({ name }) => name));
  const findings = service ? [...offline, ...(await lintAtService(service, monitors, { offline, channels }))] : offline;

  const objects = resources.monitors.length + resources.channels.length + resources.misnamed;
  world.out(
    format === 'json' ? `${JSON.stringify(presentFindings(findings), null, 2)}\n` : describeFindings(findings, objects),
  );
  return reaches(findings, failOn) ? 1 : 0;
}

/** What the service says besides: it knows durations, CronJobs and channels that no file has. */
async function lintAtService(
  service: Service,
  monitors: readonly JudgedMonitor[],
  known: { readonly offline: readonly Finding[]; readonly channels: ReadonlySet<string> },
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { written } of monitors) {
    const { findings: found } = await previewOf(service, written, 1);
    findings.push(...found.map((finding) => ({ ...finding, subject: written.subject })));
  }
  return findings.filter(({ code, path, message, subject }) => {
    const isInFiles =
      code === 'ChannelUnknown' && [...known.channels].some((name) => message.startsWith(`channel ${name}:`));
    const isTold = known.offline.some((one) => one.subject === subject && one.path === path && one.code === code);
    return !isInFiles && !isTold;
  });
}

/** Asks the service what the monitor would have said of the last days. */
export async function previewOf(
  service: Service,
  { namespace, name, object }: JudgedMonitor['written'],
  days: number,
): Promise<MonitorPreview> {
  return service.post<MonitorPreview>('/monitors/preview', { namespace, name, spec: object['spec'] ?? {}, days });
}
