import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { severities, undoneWorkTypes } from '../../contract/index.ts';
import {
  ancestorsOf,
  cycleThrough,
  dependencyHold,
  holdingParent,
  readDependsOn,
  toNamedRef,
  type Dependencies,
  type DependencyFacts,
  type ParentAlert,
} from './dependency.ts';
import { minuteMs, hourMs } from '../duration.ts';

const now = Date.UTC(2026, 10, 24, 1, 10);

const graph = (edges: Readonly<Record<string, string>>): Dependencies =>
  new Map(Object.entries(edges).map(([child, parents]) => [child, parents.split(' ')]));

test('an annotation names CronJobs of its namespace and of others, each once and twenty at most', () => {
  assert.deepEqual(readDependsOn('load, prod/extract load\tx'), { names: ['load', 'prod/extract', 'x'], refused: [] });
  assert.deepEqual(readDependsOn('Load, a/b/c, ok'), { names: ['ok'], refused: ['Load', 'a/b/c'] });
  const many = Array.from({ length: 22 }, (_, index) => `n${index}`);
  assert.deepEqual(readDependsOn(many.join(',')).refused, ['n20', 'n21']);
  assert.deepEqual(readDependsOn(undefined), { names: [], refused: [] });
  assert.deepEqual(toNamedRef('load', 'prod'), { namespace: 'prod', name: 'load' });
  assert.deepEqual(toNamedRef('etl/load', 'prod'), { namespace: 'etl', name: 'load' });
});

test('parents are looked for five steps away, the nearest first, and an edge on a cycle is none', () => {
  const chain = graph({ g: 'f', f: 'e', e: 'd', d: 'c', c: 'b', b: 'a' });
  assert.deepEqual(ancestorsOf(chain, 'g'), ['f', 'e', 'd', 'c', 'b'], 'a is six steps away');
  assert.deepEqual(ancestorsOf(chain, 'a'), []);
  const ring = graph({ a: 'b', b: 'c', c: 'a d', x: 'a' });
  assert.deepEqual(ancestorsOf(ring, 'a'), []);
  assert.deepEqual(ancestorsOf(ring, 'c'), ['d'], 'only what leads out of the ring counts');
  assert.deepEqual(ancestorsOf(ring, 'x'), ['a'], 'who waits for one of the ring is in no ring');
  assert.deepEqual(cycleThrough(ring, 'a', 'b'), ['a', 'b', 'c', 'a']);
  assert.equal(cycleThrough(ring, 'c', 'd'), undefined);
});

const told: ParentAlert = { id: 'p', type: 'jobFailed', severity: 'warning', toldAt: now - minuteMs };
const child = { type: 'jobFailed', subject: undefined, severity: 'warning' } as const;

test('only what was told, is as bad or worse, and says that work was not done holds a message back', () => {
  assert.equal(holdingParent(child, [told]), told);
  assert.equal(holdingParent(child, [{ ...told, toldAt: undefined }]), undefined);
  assert.equal(holdingParent({ ...child, severity: 'critical' }, [told]), undefined);
  const critical = { ...told, id: 'q', severity: 'critical' } as const;
  assert.equal(holdingParent({ ...child, severity: 'critical' }, [told, critical]), critical);
  assert.equal(holdingParent(child, [{ ...told, type: 'slaBreached' }]), undefined);
  assert.equal(holdingParent({ ...child, type: 'jobSuspended' }, [told]), undefined, 'a person suspended it');
  assert.equal(holdingParent({ ...child, type: 'absent', subject: 'disappeared' }, [told]), undefined);
});

const facts: DependencyFacts = { parents: [told], held: undefined, recoveryMs: 10 * minuteMs, ranAt: now };

test('a message waits while a parent holds it, then for the next run or the recovery, and no longer than a day', () => {
  assert.deepEqual(dependencyHold(child, facts, now), { reason: 'dependsOn', untilAt: undefined, ref: 'p' });
  assert.equal(dependencyHold(child, { ...facts, parents: [] }, now), undefined, 'nothing held it before');
  const later = now + hourMs;
  const held = { sinceAt: now, releasedAt: later, untilAt: undefined };
  const well = { ...facts, parents: [], held };
  const left = { reason: 'dependsOn', untilAt: later + 10 * minuteMs, ref: undefined } as const;
  assert.deepEqual(dependencyHold(child, well, later + 1), left);
  assert.deepEqual(
    dependencyHold(child, { ...well, held: { ...held, untilAt: left.untilAt } }, later + minuteMs),
    left,
  );
  assert.equal(dependencyHold(child, { ...well, ranAt: later + 1 }, later + minuteMs), undefined, 'it has run since');
  assert.equal(dependencyHold(child, well, later + 10 * minuteMs), undefined);
  const unnoticed = { ...well, held: { ...held, releasedAt: undefined } };
  assert.deepEqual(dependencyHold(child, unnoticed, later), left, 'its severity is too low by now');
  assert.equal(dependencyHold(child, { ...well, parents: [told] }, later + minuteMs)?.ref, 'p', 'it failed anew');
  const lasting = { ...facts, held: { ...held, releasedAt: undefined } };
  assert.equal(dependencyHold(child, lasting, now + 24 * hourMs - 1)?.ref, 'p');
  assert.equal(dependencyHold(child, lasting, now + 24 * hourMs), undefined);
});

test('of random graphs nothing is held without a parent on a way of five steps whose alert was told', () => {
  const size = 12;
  const node = fc.nat({ max: size - 1 }).map(String);
  const alert = fc.record({
    type: fc.constantFrom(...undoneWorkTypes),
    severity: fc.constantFrom(...severities),
    isTold: fc.boolean(),
  });
  const cases = fc.record({
    edges: fc.array(fc.tuple(node, node), { maxLength: 30 }),
    alerts: fc.dictionary(node, alert),
    child: node,
    severity: fc.constantFrom(...severities),
  });
  let heldCases = 0;
  fc.assert(
    fc.property(cases, ({ edges, alerts, child: name, severity }) => {
      const dependencies = new Map<string, string[]>();
      for (const [from, to] of edges) dependencies.set(from, [...(dependencies.get(from) ?? []), to]);
      const parents = ancestorsOf(dependencies, name).flatMap((parent): ParentAlert[] => {
        const found = alerts[parent];
        return found ? [{ ...found, id: parent, toldAt: found.isTold ? now : undefined }] : [];
      });
      const hold = dependencyHold({ ...child, severity }, { ...facts, parents }, now);
      const waysTo = waysWithin(edges, name, 5);
      const mayHold = [...waysTo].some((parent) => {
        const found = alerts[parent];
        return found?.isTold === true && (found.severity === 'critical' || severity === 'warning');
      });
      assert.equal(hold !== undefined, mayHold);
      if (hold) {
        heldCases++;
        assert.equal(alerts[hold.ref ?? '']?.isTold, true);
      }
    }),
    { numRuns: 2_000 },
  );
  assert.ok(heldCases > 50, `${heldCases} were held`); // 125 on average
});

/** By matrices: who is reached by so many steps over edges whose ends do not reach each other. */
function waysWithin(edges: readonly (readonly [string, string])[], from: string, steps: number): Set<string> {
  const reaches = new Map<string, Set<string>>();
  const names = new Set(edges.flat());
  for (const name of names) reaches.set(name, new Set([name]));
  for (let round = 0; round < names.size; round++)
    for (const [a, b] of edges) for (const far of reaches.get(b) ?? []) reaches.get(a)?.add(far);
  const counting = edges.filter(([a, b]) => reaches.get(b)?.has(a) !== true);
  let level = new Set([from]);
  const found = new Set<string>();
  for (let step = 0; step < steps; step++) {
    level = new Set(counting.flatMap(([a, b]) => (level.has(a) ? [b] : [])));
    for (const name of level) found.add(name);
  }
  return found;
}
