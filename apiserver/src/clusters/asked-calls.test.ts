import assert from 'node:assert/strict';
import { test } from 'node:test';
import { elsewhereAbilities } from '@cronjob-monitor/shared/contract';
import { routes } from '../routes/index.ts';

test('another cluster is asked for what the contract names, for lists of that and for logs, and for nothing that deletes', () => {
  const asked = routes.filter(({ elsewhere }) => elsewhere === true);
  const abilities = new Set(asked.map(({ ability }) => ability));
  assert.deepEqual(abilities, new Set(elsewhereAbilities));
  const methods = new Set(asked.map(({ method }) => method));
  assert.ok(!methods.has('GET'));
  const inParts = routes.filter(({ elsewhere }) => elsewhere === 'inParts');
  assert.deepEqual(new Set(inParts.map(({ id }) => id)), new Set(['actOnMany', 'getLogs']));
});

test('the name of an operation has room in the table of actions', () => {
  for (const { id, elsewhere } of routes) if (elsewhere) assert.ok(id.length <= 32, id);
});
