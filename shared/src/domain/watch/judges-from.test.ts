import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { instantOfWrite, isMadeAnew, judgesFromAt, labelledSince, madeAnewWithinMs } from './judges-from.ts';

const at = (text: string): number => Date.parse(`2026-11-24T${text}Z`);
const write = (text: string, ...fields: string[]) => ({ at: at(text), fields });

describe('from when on a monitor judges a CronJob', () => {
  it('is the latest of both creations and of the beginning of the selection', () => {
    const facts = { monitorCreatedAt: 3, cronJobCreatedAt: 5, selectedSinceAt: undefined };
    assert.equal(judgesFromAt(facts), 5);
    assert.equal(judgesFromAt({ ...facts, monitorCreatedAt: 7 }), 7);
    assert.equal(judgesFromAt({ ...facts, selectedSinceAt: 9 }), 9);
  });
});

describe('when fields of an object changed', () => {
  const live = { receivedAt: at('10:00:07.400'), unwatchedSinceAt: undefined };

  it('is the new write of their manager on a live watch, also when the news of it is late', () => {
    const writes = { before: [write('09:00:00', 'tier')], after: [write('09:58:00', 'tier')] };
    assert.equal(instantOfWrite(['tier'], writes, live), at('09:58:00'));
  });

  it('is the second of the receipt on a live watch when no new write names them', () => {
    const old = [write('09:00:00', 'tier')];
    assert.equal(instantOfWrite(['tier'], { before: old, after: old }, live), at('10:00:07'));
    const other = { before: old, after: [...old, write('09:59:00', 'team')] };
    assert.equal(instantOfWrite(['tier'], other, live), at('10:00:07'));
    assert.equal(instantOfWrite(['tier'], { before: [], after: [] }, live), at('10:00:07'));
  });

  it('is the write that lies in a gap, and else where the gap begins', () => {
    const gap = { receivedAt: at('10:00:00'), unwatchedSinceAt: at('09:30:00.500') };
    const before = [write('09:00:00', 'tier')];
    assert.equal(instantOfWrite(['tier'], { before, after: [write('09:45:00', 'tier')] }, gap), at('09:45:00'));
    assert.equal(instantOfWrite(['tier'], { before, after: before }, gap), at('09:30:00'));
  });

  it('is never later than its news', () => {
    const writes = { before: [], after: [write('11:00:00', 'tier')] };
    assert.equal(instantOfWrite(['tier'], writes, live), at('10:00:07'));
  });
});

describe('since when a CronJob that was not seen before has the labels of a selector', () => {
  const createdAt = at('10:00:00');
  const labelled = (text: string, isAlone = true) => ({ at: at(text), fields: ['tier', 'team'], isAlone });

  it('is the write of who owns nothing but labels, when that was after the creation', () => {
    assert.equal(labelledSince(['tier'], [labelled('10:20:00')], createdAt), at('10:20:00'));
    const team = { at: at('10:30:00'), fields: ['team'], isAlone: true };
    const tier = { at: at('10:20:00'), fields: ['tier'], isAlone: true };
    assert.equal(labelledSince(['tier', 'team'], [tier, team], createdAt), at('10:30:00'), 'the last of them');
  });
  it('is not known when it may have had them from its creation on', () => {
    assert.equal(labelledSince(['tier'], [labelled('10:00:00')], createdAt), undefined);
    assert.equal(labelledSince(['tier'], [labelled('10:20:00', false)], createdAt), undefined, 'a spec was written');
    const both = [labelled('10:00:00', false), labelled('10:20:00')];
    assert.equal(labelledSince(['tier'], both, createdAt), undefined, 'who made it owns the label too');
    assert.equal(labelledSince([], [labelled('10:20:00')], createdAt), undefined, 'no label is asked for');
  });
});

it('a monitor goes on when its name comes back within ten minutes, and when it went unseen', () => {
  assert.equal(isMadeAnew(1_000 + madeAnewWithinMs, 1_000), true);
  assert.equal(isMadeAnew(1_001 + madeAnewWithinMs, 1_000), false);
  assert.equal(isMadeAnew(99 * madeAnewWithinMs, undefined), true);
});
