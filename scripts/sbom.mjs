// The bill of materials of the image, in SPDX 2.3: every package whose code is in it, with version and licence.
//   node scripts/sbom.mjs FILE STATUS DOCS   adds the packages of a Debian to FILE: its dpkg status, and its /usr/share/doc
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/** @typedef {{ type: 'npm' | 'deb' | 'generic', name: string, version: string, licence: string | undefined, architecture?: string }} Part */

/**
 * Writes the bill of a tree that is bundled from files of packages.
 *
 * @param {string} file
 * @param {{ product: { name: string, version: string, license: string }, sources: readonly string[], trees: readonly string[] }} what
 *   `sources`: absolute paths that were read for the bundles; `trees`: folders called node_modules that are in the image as they are.
 */
export function writeSbom(file, { product, sources, trees }) {
  const folders = new Set(sources.flatMap((path) => folderOfPackage(path) ?? []));
  for (const tree of trees) for (const folder of packagesBelow(tree)) folders.add(folder);
  const parts = [...folders].map(partOf);
  parts.push({ type: 'generic', name: 'node', version: process.versions.node, licence: 'MIT' });
  writeFileSync(file, toText(product, parts));
}

/** Adds what the base of the image brings. */
function addDebian(file, statusFile, docs) {
  const document = JSON.parse(readFileSync(file, 'utf8'));
  const [own, ...others] = document.packages;
  const product = { name: own.name, version: own.versionInfo, license: own.licenseDeclared };
  const known = others.map(({ name, versionInfo, licenseDeclared, externalRefs: [{ referenceLocator }] }) => ({
    type: /^pkg:(\w+)/.exec(referenceLocator)[1],
    name,
    version: versionInfo,
    licence: licenseDeclared,
  }));
  const debian = readFileSync(statusFile, 'utf8')
    .split('\n\n')
    .filter((paragraph) => /^Status: .* installed$/m.test(paragraph))
    .map((paragraph) => {
      const field = (name) => new RegExp(`^${name}: (.*)$`, 'm').exec(paragraph)?.[1] ?? '';
      const name = field('Package');
      return {
        type: 'deb',
        name,
        version: field('Version'),
        architecture: field('Architecture'),
        licence: licenceOf(docs, name),
      };
    });
  if (debian.length === 0) throw new Error(`${statusFile} names no installed package`);
  writeFileSync(file, toText(product, [...known, ...debian]));
}

/** The folder of the package that a file belongs to; undefined for a file of ours. */
function folderOfPackage(path) {
  return /^(.*\/node_modules\/(?:@[^/]+\/)?[^/@.][^/]*)\//.exec(path)?.[1];
}

function* packagesBelow(tree) {
  if (!existsSync(tree)) return;
  for (const name of readdirSync(tree)) {
    const names = name.startsWith('@') ? readdirSync(join(tree, name)).map((inner) => `${name}/${inner}`) : [name];
    for (const folder of names.map((one) => join(tree, one))) {
      if (!existsSync(join(folder, 'package.json'))) continue;
      yield folder;
      yield* packagesBelow(join(folder, 'node_modules'));
    }
  }
}

/** @returns {Part} */
function partOf(folder) {
  const { name, version, license, licenses } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const licence = license?.type ?? license ?? licenses?.map(({ type }) => type).join(' OR ') ?? licenceByText(folder);
  return { type: 'npm', name, version, licence };
}

/** A package without the field may have the text. */
function licenceByText(folder) {
  const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name));
  return file && /^\s*(?:The )?MIT License/i.test(readFileSync(join(folder, file), 'utf8')) ? 'MIT' : undefined;
}

/** Debian's names of licences that SPDX knows under another one. */
const spdxNames = {
  'Apache-2': 'Apache-2.0',
  Artistic: 'Artistic-1.0-Perl',
  'BSD-2-clause': 'BSD-2-Clause',
  'BSD-3-clause': 'BSD-3-Clause',
  Expat: 'MIT',
  'GPL-1+': 'GPL-1.0-or-later',
  'GPL-2': 'GPL-2.0-only',
  'GPL-2+': 'GPL-2.0-or-later',
  'GPL-3': 'GPL-3.0-only',
  'GPL-3+': 'GPL-3.0-or-later',
  'LGPL-2': 'LGPL-2.0-only',
  'LGPL-2+': 'LGPL-2.0-or-later',
  'LGPL-2.1': 'LGPL-2.1-only',
  'LGPL-2.1+': 'LGPL-2.1-or-later',
  'LGPL-3': 'LGPL-3.0-only',
  'LGPL-3+': 'LGPL-3.0-or-later',
  ISC: 'ISC',
  Zlib: 'Zlib',
  zlib: 'Zlib',
};

/** What Debian calls as SPDX does. */
const sameNames =
  /^(Apache-2\.0|Artistic-2\.0|BSD-[234]-Clause|BSL-1\.0|CC-BY-3\.0|CC0-1\.0|FSFAP|FSFULLR|GFDL-1\.[123]-or-later|ISC|MIT|Zlib|(LGPL-2\.[01]|A?GPL-[123]\.0|LGPL-3\.0)-(only|or-later))$/;

/**
 * The licences that Debian's copyright file names, all of which apply to some part: by its fields, or where it is free text by the common
 * licences that it refers to. Undefined where it has neither.
 */
function licenceOf(docs, name) {
  const file = join(docs, name, 'copyright');
  if (!existsSync(file)) return undefined;
  const text = readFileSync(file, 'utf8');
  const fields = [...text.matchAll(/^License:[ \t]+(\S.*)$/gm)].map(([, words]) => words);
  const common = [...text.matchAll(/\/common-licenses\/([\w.-]*\w)/g)].map(([, word]) => word);
  const words =
    fields.length === 0 ? common : fields.flatMap((one) => one.split(/,?\s+(?:and|or|and\/or|with\s.*)\s*|,\s+/));
  const single = words.map((word) => word.trim()).filter((word) => /^[A-Za-z][A-Za-z0-9.+-]*$/.test(word));
  const known = [...new Set(single.map(inSpdx))];
  return known.length === 0 ? undefined : known.sort(byText).join(' AND ');
}

function inSpdx(word) {
  if (sameNames.test(word)) return word;
  return spdxNames[word] ?? `LicenseRef-debian-${word.replaceAll('+', '-or-later')}`;
}

/** @param {readonly Part[]} parts In any order, some of them perhaps twice. */
function toText(product, parts) {
  const byKey = new Map(parts.map((part) => [`${part.type} ${part.name} ${part.version}`, part]));
  const sorted = [...byKey].sort(([a], [b]) => byText(a, b)).map(([, part]) => part);
  const packages = [
    { SPDXID: 'SPDXRef-image', ...described(product.name, product.version, product.license) },
    ...sorted.map((part, at) => ({
      SPDXID: `SPDXRef-${at + 1}`,
      ...described(part.name, part.version, part.licence),
      externalRefs: [{ referenceCategory: 'PACKAGE-MANAGER', referenceType: 'purl', referenceLocator: purlOf(part) }],
    })),
  ];
  const ofDebian = [
    ...new Set(packages.flatMap(({ licenseDeclared }) => licenseDeclared.match(/LicenseRef-debian-[\w.-]+/g) ?? [])),
  ];
  const body = {
    spdxVersion: 'SPDX-2.3',
    dataLicense: 'CC0-1.0',
    SPDXID: 'SPDXRef-DOCUMENT',
    name: `${product.name} ${product.version}`,
    packages,
    hasExtractedLicensingInfos: ofDebian.sort(byText).map((licenseId) => ({
      licenseId,
      name: licenseId.slice('LicenseRef-debian-'.length),
      extractedText: 'The text is in /usr/share/doc/PACKAGE/copyright of the image, for each package that names it.',
    })),
    relationships: [
      { spdxElementId: 'SPDXRef-DOCUMENT', relationshipType: 'DESCRIBES', relatedSpdxElement: 'SPDXRef-image' },
      ...packages.slice(1).map(({ SPDXID }) => ({
        spdxElementId: 'SPDXRef-image',
        relationshipType: 'CONTAINS',
        relatedSpdxElement: SPDXID,
      })),
    ],
  };
  // The same tree gives the same bill: its name follows from what is in it, its time from the one who builds.
  const hash = createHash('sha256').update(JSON.stringify(body)).digest('hex');
  const created = new Date(1_000 * Number(process.env.SOURCE_DATE_EPOCH ?? 0)).toISOString().replace('.000Z', 'Z');
  const head = {
    documentNamespace: `https://cronjob-monitor.io/spdx/${product.version}/${hash}`,
    creationInfo: { created, creators: ['Tool: cronjob-monitor-scripts/sbom.mjs'] },
  };
  return `${JSON.stringify({ ...body, ...head }, null, 1)}\n`;
}

const byText = (a, b) => (a < b ? -1 : 1);

function described(name, versionInfo, licence) {
  return {
    name,
    versionInfo,
    downloadLocation: 'NOASSERTION',
    filesAnalyzed: false,
    licenseConcluded: 'NOASSERTION',
    licenseDeclared: licence === undefined || /^SEE LICENSE|^UNLICENSED/i.test(licence) ? 'NOASSERTION' : licence,
    copyrightText: 'NOASSERTION',
  };
}

/** The address of a package, as scanners of weaknesses look it up. */
function purlOf({ type, name, version, architecture }) {
  const at = encodeURIComponent(version);
  if (type === 'deb') return `pkg:deb/debian/${name}@${at}?arch=${architecture}`;
  return `pkg:${type}/${name.replace('@', '%40')}@${at}`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [file, statusFile, docs] = process.argv.slice(2).map((path) => resolve(path));
  if (docs === undefined) {
    console.error('usage: node scripts/sbom.mjs FILE STATUS DOCS');
    process.exit(2);
  }
  addDebian(file, statusFile, docs);
}
