import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isGroupName } from '../../contract/index.ts';
import { groupNameOf, groupUidOf, type GroupedJob } from './job-group.ts';

const nameOf = (job: Partial<GroupedJob>): string =>
  groupNameOf({ name: 'migrate', generateName: undefined, label: undefined, controller: undefined, ...job });

const controller = { kind: 'JobSet', name: 'train' };
const cases: readonly (readonly [says: string, job: Partial<GroupedJob>, name: string])[] = [
  ['its label, whatever else it has', { label: 'release', generateName: 'x-', controller }, '~release'],
  ['an empty label is none', { label: '', name: 'migrate-1' }, '~migrate'],
  ['kind and name of its controller', { generateName: 'train-workers-', controller }, '~jobset-train'],
  ['what its name is generated from, without the hyphen', { name: 'load-x7k2p', generateName: 'load-' }, '~load'],
  ['a generateName that ends in no hyphen', { name: 'loadx7k2p', generateName: 'load' }, '~load'],
  ['its name', { name: 'migrate' }, '~migrate'],
  ['its name without a number', { name: 'migrate-20261124' }, '~migrate'],
  ['its name without five letters of Kubernetes', { name: 'migrate-x7k2p' }, '~migrate'],
  ['five letters that Kubernetes does not use are a word', { name: 'load-early' }, '~load-early'],
  ['four letters are a word', { name: 'load-bcdf' }, '~load-bcdf'],
  ['one suffix alone is taken away', { name: 'migrate-v2-17-x7k2p' }, '~migrate-v2-17'],
  ['dots of a name stay', { name: 'db.migrate-3' }, '~db.migrate'],
];

for (const [says, job, name] of cases) {
  test(`the group of a Job: ${says}`, () => assert.equal(nameOf(job), name));
}

test('no CronJob can have the name of a group', () => {
  assert.equal(isGroupName(nameOf({})), true);
  assert.equal(isGroupName('migrate'), false);
  assert.doesNotMatch(nameOf({}), /^[a-z0-9]/);
});

test('names that are too long for a row are cut, and stay two groups where they differ at their end', () => {
  const long = { kind: 'JobSet', name: 'a'.repeat(253) };
  const [one, other] = [nameOf({ controller: long }), nameOf({ controller: { ...long, name: `${'a'.repeat(252)}b` } })];
  assert.equal(one.length, 253);
  assert.notEqual(one, other);
});

test('the UID of a group is that of its namespace and name, in the form of a UUID', () => {
  assert.match(groupUidOf('prod', '~migrate'), /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  assert.equal(groupUidOf('prod', '~migrate'), groupUidOf('prod', '~migrate'));
  assert.notEqual(groupUidOf('prod', '~migrate'), groupUidOf('test', '~migrate'));
  assert.notEqual(groupUidOf('prod', '~migrate'), groupUidOf('prod', '~load'));
});
