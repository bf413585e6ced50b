import { runCommand } from '@cronjob-monitor/controller/testing';
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decodeChannelSpec, decodeMonitorSpec } from '@cronjob-monitor/shared/kube';
import { monitorDefaults } from '@cronjob-monitor/shared/testing';
import { parse as parseYaml } from 'yaml';
import { refusedChannels, refusedMonitors, refusedName } from '../cluster/crd-examples.ts';
import { listFiles, readProjectFile } from './project-files.ts';

interface Schema {
  readonly 'x-kubernetes-validations'?: readonly { readonly message: string }[];
}

/** What the API server says of the rules that the schema of a kind has beside its types. */
function rulesOf(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const { 'x-kubernetes-validations': own = [] } = schema as Schema;
  return [...own.map(({ message }) => message), ...Object.values(schema).flatMap(rulesOf)];
}

const metadata = { name: refusedName };
for (const { kind, refused, problemsOf } of [
  {
    kind: 'alertchannels',
    refused: refusedChannels,
    problemsOf: (spec: object) => decodeChannelSpec({ metadata, spec }).problems,
  },
  {
    kind: 'cronjobmonitors',
    refused: refusedMonitors,
    problemsOf: (spec: object) => {
      const decoded = decodeMonitorSpec({ metadata, spec }, { ...monitorDefaults, storeLogs: true });
      return decoded.ok ? decoded.problems : [];
    },
  },
]) {
  test(`whatever the API server refuses of ${kind} by a rule, the service refuses in the same words`, () => {
    const crd = parseYaml(readProjectFile(`charts/cronjob-monitor/crds/${kind}.yaml`)) as unknown;
    const said = new Set(
      refused.flatMap(({ spec }) => problemsOf(spec).flatMap(({ path, message }) => [message, `${path} ${message}`])),
    );
    const rules = rulesOf(crd);
    assert.ok(rules.length > 5);
    assert.deepEqual(
      [...new Set(rules)].filter((rule) => !said.has(rule)),
      [],
    );
  });
}

/** A piece of YAML that a reader may copy. */
interface Example {
  /** `docs/recipes.md:17` */
  readonly place: string;
  readonly yaml: string;
}

/** YAML of fenced blocks that hold one of our kinds: whole blocks of YAML, and what commands read between `<<EOF` and `EOF`. */
function findExamples(page: string, text: string): Example[] {
  return [...text.matchAll(/^```(\w*)\n([^]*?)^```$/gm)].flatMap(({ 1: language, 2: block = '', index }) => {
    const documents =
      language === 'yaml' ? [block] : [...block.matchAll(/<<'?EOF'?\n([^]*?)^EOF$/gm)].map((one) => one[1]);
    const place = `${page}:${text.slice(0, index).split('\n').length}`;
    return documents
      .filter((yaml) => yaml !== undefined)
      .filter((yaml) => /^kind: (CronJobMonitor|AlertChannel)$/m.test(yaml))
      .map((yaml) => ({ place, yaml }));
  });
}

const lint = (yaml: string) => runCommand(['lint', '-'], { input: yaml });

const pages = listFiles('{README.md,docs/**/*.md}');
const examples = pages.flatMap((page) => findExamples(page, readProjectFile(page)));

describe('examples of monitors and channels in the documentation', () => {
  test('are found', () => {
    const withExamples = new Set(examples.map(({ place }) => place.split(':')[0]));
    for (const page of ['README.md', 'docs/resources.md', 'docs/recipes.md', 'docs/channels.md']) {
      assert.ok(withExamples.has(page), page);
    }
    assert.ok(examples.length >= 15);
  });

  for (const { place, yaml } of examples) {
    test(`${place} can be applied, and the lint has nothing to say`, async () => {
      const { status, out, error } = await lint(yaml);
      assert.equal(status, 0, out + error);
      assert.match(out, /nothing to say\n$/);
    });
  }

  test('with a field that does not exist, or a value that is out of bounds, are found wanting', async () => {
    const page = (spec: string) =>
      `# A page\n\n\`\`\`yaml\napiVersion: cronjob-monitor.io/v1alpha1\nkind: CronJobMonitor\nmetadata: {name: a}\nspec: ${spec}\n\`\`\`\n`;
    for (const [spec, status] of [
      ['{}', 0],
      ['{jobFailed: {treshold: 2}}', 1],
      ['{sla: {windowDays: 0}}', 1],
    ] as const) {
      const [example, ...more] = findExamples('a.md', page(spec));
      assert.ok(example);
      assert.deepEqual([example.place, more], ['a.md:3', []]);
      assert.equal((await lint(example.yaml)).status, status, spec);
    }
  });

  test('are read out of commands, and other kinds are passed over', () => {
    const command =
      '```\nkubectl apply -f - <<EOF\nkind: AlertChannel\nspec: {}\nEOF\n```\n\n```yaml\nkind: ClusterRole\n```\n';
    assert.deepEqual(findExamples('a.md', command), [{ place: 'a.md:1', yaml: 'kind: AlertChannel\nspec: {}\n' }]);
  });
});
