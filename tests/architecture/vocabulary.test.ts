import * as contract from '@cronjob-monitor/shared/contract';
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { listFiles, readProjectFile } from './project-files.ts';
import { readSource } from './source-text.ts';

/** Names that tell nothing: what has one of them grows into a drawer. */
const drawers =
  /^(utils?|utilities|commons?|misc|libs?|types?|core|managers?|services?|processors?|helpers?|stuff|general)$|-(utils?|managers?|processors?|helpers?|misc)$/i;

/** The parts of a path that are named so, extensions aside. */
function findDrawers(path: string): string[] {
  return path
    .split('/')
    .filter((part) => drawers.test(part.replace(/(?<=.)\..*$/, '').replaceAll(/([a-z])([A-Z])/g, '$1-$2')));
}

test('no room and no file is a drawer by its name', () => {
  const paths = listFiles('{controller,apiserver,webui,shared,tests,scripts}/**/*.*').filter(
    (path) => !path.startsWith('tests/golden/'),
  );
  assert.ok(paths.length > 300, 'the files are found');
  assert.deepEqual(
    paths.flatMap((path) => findDrawers(path).map((name) => `${path}: ${name}`)),
    [],
  );
});

test('a drawer is found by any of its names', () => {
  for (const name of [
    'utils/a.ts',
    'a/common.ts',
    'types.test.ts',
    'date-utils.ts',
    'JobManager.svelte',
    'lib/x.ts',
    'http-helpers.ts',
  ]) {
    assert.equal(findDrawers(name).length, 1, name);
  }
  for (const name of ['store/a.ts', 'typescript.ts', 'core-dump.ts', 'service-account.ts', 'table-row.ts']) {
    assert.deepEqual(findDrawers(name), [], name);
  }
});

/** The table of words that all parts speak: API type, metric label, default severity, kind, subjects. */
const alertTypes = [
  ['jobFailed', 'JobFailed', 'warning', 'edge', []],
  ['missedSchedule', 'MissedSchedule', 'warning', 'edge', []],
  ['deadManTriggered', 'DeadManSwitch', 'critical', 'level', []],
  [
    'slaBreached',
    'SLABreached',
    'warning',
    'level',
    ['successRate', 'maxDuration', 'minDuration', 'finishBy', 'output'],
  ],
  ['durationRegression', 'DurationRegression', 'warning', 'level', []],
  ['jobSuspended', 'JobSuspended', 'warning', 'level', []],
  ['jobStuck', 'JobStuck', 'warning', 'level', ['notStarted', 'overrunning', 'terminating']],
  ['absent', 'Absent', 'critical', 'level', ['neverSucceeded', 'disappeared']],
] as const;

const states = {
  messageSeverities: ['critical', 'warning', 'info'],
  severities: ['critical', 'warning'],
  alertStates: ['pending', 'active', 'suppressed', 'resolved', 'expired', 'cancelled'],
  suppressions: ['maintenance', 'silence', 'monitorGone'],
  deliveryStates: ['ready', 'claimed', 'sent', 'parked', 'dead', 'cancelled', 'digested', 'collapsed'],
  deliveryKinds: ['firing', 'reminder', 'flapping', 'update', 'closing', 'digest', 'test', 'drill'],
  executionStatuses: ['success', 'failed', 'replaced', 'deleted', 'unobserved'],
  executionTriggers: ['scheduled', 'manual', 'rerun', 'unmatched'],
  failureCauses: ['platform', 'capacity', 'configuration', 'application'],
  slotOutcomes: [
    'matched',
    'late',
    'missed',
    'skippedForbid',
    'skippedDeadline',
    'suspended',
    'unobserved',
    'indeterminate',
  ],
  cronJobStatuses: ['critical', 'warning', 'suspended', 'healthy', 'unknown'],
  cronJobStatusFilters: ['healthy', 'warning', 'critical', 'suspended', 'running', 'unknown'],
  monitorPhases: ['Pending', 'Active', 'Degraded', 'Error'],
  schedulerNames: ['dead-man-switch', 'sla-recalculation', 'stuck-job-check', 'prune'],
  holds: [
    'storm',
    'inhibited',
    'dependsOn',
    'startupGrace',
    'duplicate',
    'flapping',
    'scope',
    'rateLimit',
    'backoff',
    'circuit',
    'parked',
    'invalid',
    'order',
    'after',
  ],
} as const;

describe('the contract', () => {
  test('has exactly the alert types, with their labels, severities, kinds and subjects', () => {
    const rows = contract.alertTypes.map((type) => {
      const { label, severity, kind, subjects } = contract.alertTypeTable[type];
      return [type, label, severity, kind, [...subjects]];
    });
    assert.deepEqual(
      rows,
      alertTypes.map(([type, label, severity, kind, subjects]) => [type, label, severity, kind, [...subjects]]),
    );
    assert.deepEqual(contract.messageLabels, { test: 'Test', digest: 'Digest' });
  });

  for (const [name, expected] of Object.entries(states)) {
    test(`has exactly the ${name}`, () => {
      const [, found] = Object.entries(contract).find(([exported]) => exported === name) ?? [];
      assert.ok(Array.isArray(found), name);
      assert.deepEqual(found.map(String).sort(), [...expected].sort());
    });
  }
});

interface Schema {
  readonly enum?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

/** The schema at a path of properties; `[]` stands for the items of a list. */
function schemaAt(file: string, path: string): Schema {
  const crd: unknown = parse(readProjectFile(`charts/cronjob-monitor/crds/${file}.yaml`));
  const { spec } = crd as { spec: { versions: readonly { schema: { openAPIV3Schema: Schema } }[] } };
  let schema = spec.versions[0]?.schema.openAPIV3Schema;
  for (const name of path.split('.')) schema = name === '[]' ? schema?.items : schema?.properties?.[name];
  assert.ok(schema, `${file} ${path}`);
  return schema;
}

describe('the resources', () => {
  const wordsAt = (file: string, path: string) => [...(schemaAt(file, path).enum ?? [])].sort();

  test('override severities by exactly the alert types, each with exactly the severities', () => {
    const overrides = schemaAt('cronjobmonitors', 'spec.alerting.severityOverrides').properties ?? {};
    assert.deepEqual(Object.keys(overrides).sort(), [...contract.alertTypes].sort());
    for (const [type, schema] of Object.entries(overrides)) {
      assert.deepEqual([...(schema.enum ?? [])].sort(), [...contract.severities].sort(), type);
    }
  });

  test('route by exactly the severities, and have exactly the phases and types of channels', () => {
    assert.deepEqual(
      wordsAt('cronjobmonitors', 'spec.alerting.channelRefs.[].severities.[]'),
      [...contract.severities].sort(),
    );
    assert.deepEqual(wordsAt('cronjobmonitors', 'status.phase'), [...contract.monitorPhases].sort());
    assert.deepEqual(wordsAt('alertchannels', 'spec.type'), [...contract.channelTypes].sort());
  });
});

/** Every word of the contract. */
const words: ReadonlySet<string> = new Set([
  ...Object.values(contract)
    .flatMap((list): readonly unknown[] => (Array.isArray(list) ? list : []))
    .map(String),
  ...contract.alertTypes.map((type) => contract.alertTypeTable[type].label),
]);

/** Those made of several words, which can be spelled in more ways than one. */
const compound = [...words].filter((word) => /[a-z][A-Z]|[A-Z]{2}[a-z]|-/.test(word));

function spelledPlain(word: string): string {
  return word.toLowerCase().replaceAll(/[-_ ]/g, '');
}

/** Words that are one of the contract's in a spelling of their own. */
function findMisspelled(found: readonly string[], known: ReadonlySet<string>): string[] {
  const plain = new Set(compound.map(spelledPlain));
  return found.filter((word) => !words.has(word) && !known.has(word) && plain.has(spelledPlain(word)));
}

/** Every name of a property, however deep. */
function propertiesOf(schema: Schema): string[] {
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, inner]) => [name, ...propertiesOf(inner)]);
  return [...own, ...(schema.items ? propertiesOf(schema.items) : [])];
}

describe('pages for readers', () => {
  const fields = new Set(['cronjobmonitors', 'alertchannels'].flatMap((file) => propertiesOf(schemaAt(file, 'spec'))));

  test('spell the words of the contract as it does', () => {
    const pages = listFiles('{docs/**/*.md,*.md,charts/**/*.md}');
    assert.ok(pages.length > 0, 'the pages are found');
    for (const page of pages) {
      const quoted = [...readProjectFile(page).matchAll(/`([^`\n]+)`/g)].map(([, word = '']) => word);
      assert.deepEqual(findMisspelled(quoted, fields), [], page);
    }
  });

  test('are found to spell a word otherwise', () => {
    assert.deepEqual(findMisspelled(['jobFailed', 'jobfailed', 'Missed-Schedule', 'deadManSwitch', 'other'], fields), [
      'jobfailed',
      'Missed-Schedule',
    ]);
  });
});

test('metrics take labels and severities from the contract, and have none of their own', () => {
  const sources = listFiles('{controller/src/metrics,shared/src/process/metrics}/**/*.ts').concat(
    'apiserver/src/metrics.ts',
  );
  const taken = new Set<string>([
    ...contract.alertTypes,
    ...alertTypes.map(([, label]) => label),
    'Test',
    'Digest',
    ...states.severities,
  ]);
  for (const path of sources.filter((each) => !each.endsWith('.test.ts'))) {
    const { strings } = readSource(readProjectFile(path));
    assert.deepEqual([...strings.filter((word) => taken.has(word)), ...findMisspelled(strings, new Set())], [], path);
  }
});
