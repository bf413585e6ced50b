import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, test } from 'node:test';
import { listPlaces, readSpecSchema } from '@cronjob-monitor/shared/testing';
import { listFiles, projectFolder, readProjectFile } from './project-files.ts';
import { readSource } from './source-text.ts';

/** Pages, or sections of them, that follow from the sources, and who writes them. `config-table.test.ts` has configuration.md. */
const written = {
  'docs/resources.md': 'resources-page.mjs',
  'docs/metrics.md': 'metrics-page.mjs',
  'docs/alerts.md': 'alert-examples.mjs',
  'docs/channels.md': 'channel-examples.mjs',
};

describe('a page that follows from the sources', () => {
  for (const [page, script] of Object.entries(written)) {
    test(`${page} is what scripts/${script} makes of them`, () => {
      const { status, stdout, stderr } = spawnSync(process.execPath, [`scripts/pages/${script}`, '--check'], {
        cwd: projectFolder,
        encoding: 'utf8',
      });
      assert.equal(status, 0, stdout + stderr);
    });
  }
});

describe('docs/resources.md', () => {
  const cells = new Set(
    [...readProjectFile('docs/resources.md').matchAll(/^\| `([^`]+)` \|/gm)].map(([, cell]) => cell),
  );

  for (const plural of ['cronjobmonitors', 'alertchannels'] as const) {
    test(`has a row for every field of the spec of ${plural}`, () => {
      const places = listPlaces(readSpecSchema(plural));
      const paths = places.map(({ path }) => path.replace(/^spec\./, '').replaceAll('[0]', '[]'));
      const missing = paths.filter(
        // Blocks are headings, items of lists stand with their list, and a reference is one field.
        (path) => !cells.has(path) && path.includes('.') && !path.endsWith('[]') && !/Ref\.\w+$/.test(path),
      );
      assert.ok(paths.length > 20);
      assert.deepEqual(missing, []);
    });
  }
});

describe('docs/metrics.md', () => {
  const page = readProjectFile('docs/metrics.md');
  const rows = new Set(
    [...page.matchAll(/^\| `(\w+)` \| (?:counter|gauge|histogram|summary) \|/gm)].map(([, name]) => name),
  );
  const family = /^(cronjob_monitor|controller_runtime|workqueue|process|go)_\w+$/;

  test('has every metric that the sources spell', () => {
    const sources = listFiles('{controller,apiserver,shared}/src/**/*.ts').filter((path) => !path.endsWith('.test.ts'));
    const names = new Set(sources.flatMap((path) => readSource(readProjectFile(path)).strings));
    const spelled = [...names].filter((name) => family.test(name));
    assert.ok(spelled.length > 40);
    assert.deepEqual(
      spelled.filter((name) => !rows.has(name)),
      [],
    );
  });

  test('asks in its queries for metrics that it has', () => {
    const queries = [...page.matchAll(/```promql\n([^]*?)```/g)].map(([, query = '']) => query);
    assert.ok(queries.length >= 3);
    const asked = queries.flatMap(
      (query) => query.match(/\b(cronjob_monitor|controller_runtime|workqueue)_\w+/g) ?? [],
    );
    assert.deepEqual(
      asked.filter((name) => !rows.has(name.replace(/_(bucket|sum|count)$/, ''))),
      [],
    );
  });
});
