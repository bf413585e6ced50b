import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aJob, slotAt } from '../../testing/index.ts';
import type { JobFacts } from '../objects/job.ts';
import { canonicalJobName, originOf, slotOf, type SlotClaim } from './origin.ts';

const claim = (jobName: string, changes: Partial<SlotClaim> = {}): SlotClaim => ({
  jobUid: `uid-${jobName}`,
  jobName,
  slotAt,
  createdAt: slotAt,
  ...changes,
});
const canonical = canonicalJobName('report', slotAt);
const named = (name: string): Partial<JobFacts> => ({ name, slotAt: undefined });

/** [what, changes of the Job, slot] */
const slots: [string, Partial<JobFacts>, number | undefined][] = [
  ['the annotation', { slotAt, name: 'anything' }, slotAt],
  ['the annotation before the name', { slotAt: slotAt - 60_000, name: canonical }, slotAt - 60_000],
  ['a slot with seconds, of an interval schedule', { slotAt: slotAt + 17_000 }, slotAt + 17_000],
  ['the name, where the controller writes no annotation yet', named(canonical), slotAt],
  ['no slot: another name', named('report-by-hand'), undefined],
  ['no slot: the name of another CronJob', named('other-29920793'), undefined],
  ['no slot: unix seconds are no minutes', named('report-1795243800'), undefined],
  ['no slot: a number far in the past', named('report-5'), undefined],
  ['no slot: a manual Job, whatever its name', { ...named(canonical), manual: true }, undefined],
];

for (const [title, changes, slot] of slots) {
  test(`the slot of a Job: ${title}`, () => {
    assert.equal(slotOf(aJob({ createdAt: slotAt, ...changes })), slot);
  });
}

/** [title, changes of the Job, what else names the slot, trigger, owns the slot] */
const rows: [string, Partial<JobFacts>, SlotClaim[], string, boolean][] = [
  ['the only one for its slot is scheduled', {}, [], 'scheduled', true],
  ['a copy of a scheduled Job is a rerun', { name: 'copy' }, [claim(canonical)], 'rerun', false],
  [
    'the canonical name owns the slot, even if it is younger',
    {},
    [claim('copy', { createdAt: slotAt - 1 })],
    'scheduled',
    true,
  ],
  [
    'of two copies the older one owns the slot',
    { name: 'copy-2', createdAt: slotAt + 9 },
    [claim('copy-1')],
    'rerun',
    false,
  ],
  ['its own claim is no rival', {}, [claim(canonical, { jobUid: `job-${slotAt / 60_000}` })], 'scheduled', true],
  [
    'a claim on another slot is no rival',
    { name: 'copy' },
    [claim(canonical, { slotAt: slotAt - 60_000 })],
    'scheduled',
    true,
  ],
  ['started by hand', { ...named('by-hand'), manual: true }, [], 'manual', false],
  ['started by hand, with the annotation of a slot', { name: 'x', manual: true }, [claim(canonical)], 'rerun', false],
  ['owned, and no slot to be found', named('by-a-tool'), [], 'unmatched', false],
];

for (const [title, changes, others, trigger, owns] of rows) {
  test(`the origin of a run: ${title}`, () => {
    assert.deepEqual(originOf(aJob(changes), others), { trigger, scheduledAt: owns ? slotAt : undefined });
  });
}
