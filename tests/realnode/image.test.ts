import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { rmSync, statSync } from 'node:fs';
import { before, describe, test } from 'node:test';
import { buildImages, buildProductAgain, filesOf, type Images } from './images.ts';
import { buildMachine, testOfAll, whyNoRealNode } from './real-node.ts';

describe('the image of the Dockerfile', { skip: whyNoRealNode() ?? false }, () => {
  let images: Images;
  before(async () => {
    images = await buildImages();
    // In a build this runs long before the node's suites: they find what a machine is made of.
    await buildMachine();
  });

  test('the image is small, runs as no root, and carries a bill of materials with what Debian brings', () => {
    const { archive } = images.product;
    const { Config: config, Layers: layers } = JSON.parse(fromArchive(archive, 'manifest.json'))[0] as {
      Config: string;
      Layers: string[];
    };
    const { config: settings } = JSON.parse(fromArchive(archive, config)) as {
      config: { User: string; Entrypoint: string[] };
    };
    const heap = ['--max-semi-space-size=2', '--heap-growing-percent=30'];
    assert.deepEqual([settings.User, settings.Entrypoint], ['65532:65532', ['/usr/local/bin/node', ...heap]]);
    const bytes = statSync(archive).size;
    console.log(`the image has ${Math.round(bytes / 2 ** 20)} MiB`);
    assert.ok(bytes < 300 * 2 ** 20);
    const bill = JSON.parse(fromLayer(archive, layers.at(-1) ?? '', 'app/sbom.spdx.json')) as {
      packages: { name: string; licenseDeclared: string; externalRefs?: { referenceLocator: string }[] }[];
    };
    const debian = bill.packages.filter(({ externalRefs }) =>
      externalRefs?.[0]?.referenceLocator.startsWith('pkg:deb/debian/'),
    );
    const installed = fromLayer(archive, layers[0] ?? '', 'var/lib/dpkg/status')
      .split('\n\n')
      .filter((paragraph) => /^Status: .* installed$/m.test(paragraph))
      .map((paragraph) => /^Package: (.+)$/m.exec(paragraph)?.[1] ?? '');
    assert.ok(installed.length > 60, `${installed.length} packages of Debian`);
    assert.deepEqual(debian.map(({ name }) => name).sort(), installed.sort());
    assert.match(debian.find(({ name }) => name === 'libc6')?.licenseDeclared ?? '', /LGPL-2\.1/);
    assert.ok(bill.packages.some(({ name }) => name === 'better-sqlite3'));
  });

  testOfAll('a second build of the same tree gives the same paths, with the same content, mode and owner', async () => {
    const [first, again] = [await filesOf(images.product), await buildProductAgain()];
    const second = await filesOf(again);
    rmSync(again.archive);
    for (const path of ['app/controller.js', 'app/sbom.spdx.json', 'usr/local/bin/node', 'usr/lib/os-release'])
      assert.match(first.get(path) ?? 'nothing', /^f \d+ 0:0\s+[0-9a-f]{64}$/, path);
    assert.match(first.get('spool') ?? '', /^d 755 65532:65532/);
    const differences = [...new Set([...first.keys(), ...second.keys()])]
      .filter((path) => first.get(path) !== second.get(path))
      .map((path) => `${path}: ${first.get(path)}, then ${second.get(path)}`);
    console.log(`${first.size} paths of the image, ${differences.length} different after a second build`);
    assert.deepEqual(differences, []);
  });
});

function fromLayer(archive: string, layer: string, path: string): string {
  const command = ['-c', 'tar -xOf "$0" "$1" | tar -xO "$2"', archive, layer, path];
  return execFileSync('sh', command, { encoding: 'utf8', maxBuffer: 2 ** 26 });
}

function fromArchive(archive: string, name: string): string {
  return execFileSync('tar', ['-xOf', archive, name], { encoding: 'utf8' });
}
