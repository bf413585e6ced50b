import assert from 'node:assert/strict';
import { test } from 'node:test';
import { patternCriteria } from '../../contract/index.ts';
import { parseTemplate, suggestionPlaceholders, unknownPlaceholders } from '../template/parse.ts';
import { bestMatch, compileFixes, renderSuggestion } from './best-match.ts';
import { builtInFixes, infrastructurePriority } from './built-in.ts';
import { compileMatch, meetsAll, type FixFacts, type FixMatch, type FixPattern } from './pattern.ts';
import { RegexError } from './regex.ts';

const nothing: FixFacts = { exitCode: undefined, reasons: [], log: undefined, events: [] };
const builtIn = compileFixes();

/** Facts of a run, and the built-in suggestion that they call for. */
const runs: { facts: Partial<FixFacts>; fix: string | undefined }[] = [
  { facts: { exitCode: 137, reasons: ['OOMKilled', 'BackoffLimitExceeded'] }, fix: 'oom-killed' },
  { facts: { reasons: ['oomkilled'] }, fix: 'oom-killed' },
  { facts: { reasons: ['NotOOMKilled'] }, fix: undefined },
  { facts: { reasons: ['ImagePullBackOff'] }, fix: 'image-pull' },
  { facts: { reasons: ['ErrImagePull'] }, fix: 'image-pull' },
  { facts: { reasons: ['InvalidImageName'] }, fix: 'image-pull' },
  { facts: { reasons: ['ErrImageNeverPull'] }, fix: 'image-pull' },
  { facts: { reasons: ['CreateContainerConfigError'] }, fix: 'config-error' },
  { facts: { reasons: ['CreateContainerError'] }, fix: 'config-error' },
  { facts: { exitCode: 128, reasons: ['StartError'] }, fix: 'start-error' },
  { facts: { reasons: ['ContainerCannotRun'] }, fix: 'start-error' },
  { facts: { reasons: ['RunContainerError'] }, fix: 'start-error' },
  { facts: { exitCode: 126, reasons: ['Error'] }, fix: 'command-missing' },
  { facts: { exitCode: 127, reasons: ['Error'] }, fix: 'command-missing' },
  { facts: { reasons: ['Unschedulable'] }, fix: 'unschedulable' },
  { facts: { events: ['FailedScheduling: 0/3 nodes are available'] }, fix: 'unschedulable' },
  { facts: { events: ['Normal: FailedScheduling: quoted'] }, fix: undefined },
  { facts: { events: ['FailedCreate: pods "x" is forbidden: exceeded quota: q'] }, fix: 'quota' },
  { facts: { events: ['FailedCreate: admission webhook denied: Forbidden'] }, fix: 'admission' },
  { facts: { events: ['FailedCreate: Internal error occurred: failed calling webhook "x"'] }, fix: 'webhook' },
  { facts: { events: ['FailedMount: timed out'] }, fix: 'mount' },
  { facts: { events: ['FailedAttachVolume: Multi-Attach error'] }, fix: 'mount' },
  { facts: { reasons: ['Evicted'] }, fix: 'evicted' },
  { facts: { reasons: ['EvictionByEvictionAPI'] }, fix: 'evicted' },
  { facts: { reasons: ['PreemptionByScheduler'] }, fix: 'evicted' },
  { facts: { reasons: ['NodeLost'] }, fix: 'node-lost' },
  { facts: { reasons: ['DeletionByTaintManager'] }, fix: 'node-lost' },
  { facts: { reasons: ['DeletionByPodGC'] }, fix: 'node-lost' },
  { facts: { exitCode: 137, reasons: ['ContainerStatusUnknown'] }, fix: 'node-lost' },
  { facts: { exitCode: 143, reasons: ['DeadlineExceeded'] }, fix: 'deadline' },
  { facts: { exitCode: 137, reasons: ['Error'] }, fix: 'sigkill' },
  { facts: { exitCode: 143, reasons: ['Error'] }, fix: 'sigterm' },
  { facts: { exitCode: 134 }, fix: 'crash' },
  { facts: { exitCode: 136 }, fix: 'crash' },
  { facts: { exitCode: 139 }, fix: 'crash' },
  { facts: { exitCode: 138 }, fix: 'signal-range' },
  { facts: { exitCode: 1, reasons: ['CrashLoopBackOff'] }, fix: 'crash-loop' },
  { facts: { exitCode: 1, log: 'write: No space left on device' }, fix: 'disk-full' },
  { facts: { exitCode: 1, log: 'dial tcp: lookup db: no such host' }, fix: 'dns' },
  { facts: { exitCode: 1, log: 'connect: Connection refused' }, fix: 'refused' },
  { facts: { exitCode: 1, log: 'x509: certificate signed by unknown authority' }, fix: 'tls' },
  { facts: { exitCode: 1, reasons: ['Error', 'BackoffLimitExceeded'] }, fix: 'exit-1' },
  { facts: { exitCode: 2 }, fix: 'exit-range' },
  { facts: { exitCode: 125 }, fix: 'exit-range' },
  { facts: { exitCode: 254 }, fix: 'signal-range' },
  { facts: { exitCode: 255 }, fix: 'exit-255' },
  {
    facts: {
      cause: 'configuration',
      reasons: ['ImagePullBackOff'],
      events: ['Failed: no match for platform in manifest: not found'],
    },
    fix: 'image-platform',
  },
  { facts: { reasons: ['PodFailurePolicy'] }, fix: 'failure-policy' },
  { facts: { reasons: ['BackoffLimitExceeded'] }, fix: 'backoff-limit' },
  { facts: { cause: 'platform', reasons: ['ImagePullBackOff'] }, fix: 'registry' },
  { facts: { cause: 'configuration', reasons: ['ImagePullBackOff'] }, fix: 'image-pull' },
  { facts: { cause: 'platform', reasons: ['CreateContainerError'] }, fix: 'node-trouble' },
  { facts: { cause: 'platform', exitCode: 128, reasons: ['StartError'] }, fix: 'node-trouble' },
  { facts: { cause: 'platform', events: ['NetworkNotReady: network is not ready'] }, fix: 'node-trouble' },
  { facts: { cause: 'capacity', exitCode: 128, reasons: ['StartError'] }, fix: 'memory-to-start' },
  { facts: { cause: 'platform', reasons: ['EvictionByEvictionAPI'] }, fix: 'evicted' },
  {
    facts: { cause: 'platform', reasons: ['EvictionByEvictionAPI'], events: ['FailedMount: timed out'] },
    fix: 'evicted',
  },
  { facts: { cause: 'capacity', reasons: ['Evicted'], events: ['FailedScheduling: 0/3 nodes'] }, fix: 'evicted' },
  { facts: { cause: 'platform', reasons: ['NodeLost'], events: ['FailedMount: timed out'] }, fix: 'node-lost' },
  { facts: { cause: 'application', exitCode: 1, events: ['FailedScheduling: 0/3 nodes'] }, fix: 'exit-1' },
  { facts: { cause: 'application', exitCode: 3, events: ['FailedMount: not found'] }, fix: 'exit-range' },
  { facts: { cause: 'capacity', exitCode: 137, reasons: ['OOMKilled'] }, fix: 'oom-killed' },
  { facts: { exitCode: 0 }, fix: undefined },
  { facts: {}, fix: undefined },
];

for (const { facts, fix } of runs) {
  test(`${JSON.stringify(facts)} calls for ${fix ?? 'no suggestion'}`, () => {
    assert.equal(bestMatch(builtIn, { ...nothing, ...facts })?.name, fix);
  });
}

test('every built-in suggestion is called for by some run above, and fills only placeholders that exist', () => {
  const named = new Set(runs.map(({ fix }) => fix));
  for (const { name, suggestion } of builtInFixes) {
    assert.ok(named.has(name), name);
    const template = parseTemplate(suggestion);
    assert.deepEqual([unknownPlaceholders(template, suggestionPlaceholders), template.malformed], [[], []], name);
  }
});

test('built-in suggestions of infrastructure are chosen by whose fault it is, the others by a priority of their own below them', () => {
  const priorities = builtInFixes.flatMap(({ priority }) => priority ?? []);
  assert.deepEqual(
    priorities,
    [...new Set(priorities)].sort((a, b) => b - a),
  );
  assert.ok(Math.max(...priorities) < infrastructurePriority);
  for (const { name, causes, priority } of builtInFixes)
    assert.equal(causes === undefined, priority !== undefined, name);
});

const shown: FixFacts = {
  exitCode: 2,
  reasons: ['Error', 'BackoffLimitExceeded'],
  log: 'disk full',
  events: ['BackOff: back-off restarting'],
};

for (const { says, match, matched } of [
  { says: 'an empty match never applies', match: {}, matched: false },
  { says: 'an equal exit code', match: { exitCode: 2 }, matched: true },
  { says: 'another exit code', match: { exitCode: 3 }, matched: false },
  { says: 'the lower end of a range', match: { exitCodeRange: { min: 2, max: 9 } }, matched: true },
  { says: 'the upper end of a range', match: { exitCodeRange: { min: 0, max: 2 } }, matched: true },
  { says: 'a range beside it', match: { exitCodeRange: { min: 3, max: 9 } }, matched: false },
  { says: 'a reason without regard to case', match: { reason: 'error' }, matched: true },
  { says: 'a part of a reason is no reason', match: { reason: 'Err' }, matched: false },
  { says: 'the reason of the Job', match: { reason: 'BackoffLimitExceeded' }, matched: true },
  { says: 'an expression found in a reason', match: { reasonPattern: '^Back' }, matched: true },
  { says: 'an expression is case-sensitive', match: { reasonPattern: '^back' }, matched: false },
  { says: 'an expression found in the log', match: { logPattern: 'full$' }, matched: true },
  { says: 'an expression found in an event', match: { eventPattern: '^BackOff: back-off' }, matched: true },
  { says: 'all criteria must hold', match: { exitCode: 2, logPattern: 'disk', eventPattern: 'x' }, matched: false },
  { says: 'all criteria hold', match: { exitCode: 2, logPattern: 'disk', reason: 'Error' }, matched: true },
] as { says: string; match: FixMatch; matched: boolean }[]) {
  test(`match: ${says}`, () => assert.equal(meetsAll(compileMatch(match), shown), matched));
}

test('unknown facts meet no criterion', () => {
  for (const match of [
    { exitCode: 0 },
    { exitCodeRange: { min: 0, max: 255 } },
    { logPattern: '' },
    { eventPattern: '' },
  ]) {
    assert.equal(meetsAll(compileMatch(match), nothing), false, JSON.stringify(match));
  }
});

test('criteria are named in the order of the contract, given ones only', () => {
  const all: Required<FixMatch> = {
    eventPattern: 'a',
    logPattern: 'a',
    reasonPattern: 'a',
    reason: 'a',
    exitCodeRange: { min: 0, max: 1 },
    exitCode: 0,
  };
  assert.deepEqual(
    compileMatch(all).map(({ criterion }) => criterion),
    patternCriteria,
  );
  assert.deepEqual(
    compileMatch({ logPattern: 'a' }).map(({ criterion }) => criterion),
    ['logPattern'],
  );
});

test('an expression that is known to be good is compiled when there is a text to search', () => {
  const criteria = compileMatch({ logPattern: '(' }, true);
  assert.equal(meetsAll(criteria, nothing), false);
  assert.throws(() => meetsAll(criteria, { ...nothing, log: 'text' }), RegexError);
  assert.throws(() => compileMatch({ logPattern: '(' }), RegexError);
});

test('only the last 100 KiB of a log are searched', () => {
  const criteria = compileMatch({ logPattern: 'needle' });
  assert.equal(meetsAll(criteria, { ...nothing, log: `needle${'x'.repeat(102_395)}` }), false);
  assert.equal(meetsAll(criteria, { ...nothing, log: `needle${'x'.repeat(102_394)}` }), true);
});

const custom = (name: string, priority: number, match: FixMatch = { exitCode: 1 }): FixPattern => ({
  name,
  priority,
  match,
  suggestion: `of ${name}`,
});
const failed: FixFacts = { ...nothing, exitCode: 1 };

for (const { says, patterns, best } of [
  { says: 'a custom pattern wins by its priority', patterns: [custom('mine', 101)], best: 'of mine' },
  {
    says: 'a weaker one does not',
    patterns: [custom('mine', 11)],
    best: builtInFixes.find(({ name }) => name === 'exit-1')?.suggestion,
  },
  { says: 'of two equal ones the custom one comes first', patterns: [custom('zebra', 12)], best: 'of zebra' },
  { says: 'of two equal custom ones the first by name', patterns: [custom('b', 50), custom('a', 50)], best: 'of a' },
  { says: 'a custom pattern replaces the built-in of its name', patterns: [custom('exit-1', 1)], best: 'of exit-1' },
  {
    says: 'a replaced built-in is gone even when the custom one does not match',
    patterns: [custom('exit-1', 200, { exitCode: 9 })],
    best: undefined,
  },
]) {
  test(says, () => assert.equal(bestMatch(compileFixes(patterns), failed)?.suggestion, best));
}

test('an expression that cannot be used is an error that says so', () => {
  assert.throws(() => compileFixes([custom('bad', 101, { logPattern: '(a' })]), RegexError);
});

test('a suggestion is filled, closes over a value that is missing, and leaves unknown names as written', () => {
  const text = renderSuggestion('{{ .CronJob.Name }} on {{ .Node }}: {{ .Alert.Title }}', {
    'CronJob.Name': 'nightly',
  });
  assert.equal(text, 'nightly on: {{ .Alert.Title }}');
});
