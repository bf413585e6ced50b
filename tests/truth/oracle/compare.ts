import type { Ledger } from './ledger.ts';
import type { TrueSlot } from './player.ts';
import type { Scenario } from './scenarios.ts';

/** One slot of which the ledger said something else than what became of it. */
export interface Difference {
  readonly uid: string;
  readonly at: string;
  readonly fate: string;
  readonly said: string;
}

const second = 1_000;
/** No verdict waits longer: the largest tolerance, or ten minutes of the starting deadline. */
const longestWaitMs = 15 * 60 * second;
/** The controller acts within a second, Jobs carry whole seconds: what lies closer together may go either way. */
const closeMs = 5 * second;
/** Longer than any interval of the scenarios: a disturbance may shift the slot after it. */
const recoveryMs = 8 * 3_600 * second;
/** The shortest tolerance: a run that comes sooner was never missing. */
const shortestToleranceMs = 30 * second;

/** What the ledger got wrong, of the slots whose verdict was due before the end of the scenario. */
export function differencesOf(
  slots: readonly TrueSlot[],
  ledger: Ledger,
  scenario: Pick<Scenario, 'until' | 'steps'>,
): { readonly judged: number; readonly differences: Difference[] } {
  const differences: Difference[] = [];
  const until = Date.parse(scenario.until);
  let judged = 0;
  for (const [index, slot] of slots.entries()) {
    const at = Date.parse(slot.at);
    const known = ledger.find(slot.uid);
    if (!known || at + longestWaitMs > until || at > known.evaluatedThroughAt) continue;
    const edits = editsOf(known.name, scenario);
    const expected = [
      ...expectedOf(slot, edits),
      ...(mayBePassedOver(slot, slots[index - 1], edits) ? ['nothing'] : []),
    ];
    const said = saidOf(known, at);
    const createdAt = Date.parse(slot.createdAt ?? '');
    const wasEarly = known.takenBack.has(at) && slot.fate === 'ran' && createdAt - at < shortestToleranceMs;
    judged += 1;
    if (expected.includes(said) && !wasEarly) continue;
    const word = wasEarly ? `${known.takenBack.get(at)?.outcome}, too early` : said;
    differences.push({ uid: slot.uid, at: slot.at, fate: `${slot.fate}: ${expected.join(' or ')}`, said: word });
  }
  return { judged, differences };
}

/** Intervals that are called missed at a time when the controllers were there, nothing was refused and nothing was edited. */
export function falseMissesOf(
  ledger: { missedIntervals(): Iterable<{ readonly uid: string; readonly at: number }> },
  { steps }: Scenario,
): Difference[] {
  const disturbances = steps.map(({ at }) => Date.parse(at));
  const awaySpans = steps.flatMap((step, index) => {
    if (step.do !== 'controllerDown' && step.do !== 'rejectJobs') return [];
    const back = step.do === 'controllerDown' ? 'controllerUp' : 'acceptJobs';
    const until = steps.slice(index).find((later) => later.do === back)?.at;
    return [{ from: Date.parse(step.at), to: until === undefined ? Infinity : Date.parse(until) }];
  });
  const isDisturbed = (at: number): boolean =>
    awaySpans.some(({ from, to }) => at > from - recoveryMs && at < to + recoveryMs) ||
    disturbances.some((one) => Math.abs(one - at) < recoveryMs);
  return [...ledger.missedIntervals()]
    .filter(({ at }) => !isDisturbed(at))
    .map(({ uid, at }) => ({ uid, at: new Date(at).toISOString(), fate: 'an interval, undisturbed', said: 'missed' }));
}

function saidOf(known: NonNullable<ReturnType<Ledger['find']>>, at: number): string {
  return known.said.get(at)?.outcome ?? (known.answered.has(at) ? 'ran' : 'nothing');
}

function editsOf(name: string, { steps }: Pick<Scenario, 'steps'>): number[] {
  return steps.filter((step) => step.do === 'apply' && step.name === name).map(({ at }) => Date.parse(at));
}

/**
 * The controller steps on from the last slot that it started, and the list of slots from the edit. Where the clocks change between the two, a step may
 * lead elsewhere: from the Sunday before the change @weekly in Lord Howe passes over the next one.
 */
function mayBePassedOver(slot: TrueSlot, before: TrueSlot | undefined, edits: readonly number[]): boolean {
  if (before === undefined || before.uid !== slot.uid || slot.nextAt === undefined) return false;
  const [beforeAt, at, nextAt] = [Date.parse(before.at), Date.parse(slot.at), Date.parse(slot.nextAt)];
  return at - beforeAt !== nextAt - at && edits.some((editedAt) => beforeAt < editedAt && editedAt < at);
}

/**
 * The outcomes that the facts allow: one, but where two instants lie so close together that either may come first, and where the spec was
 * edited while the slot was forbidden. The controller then catches up with the newest slot of the new schedule, which no list of slots has.
 */
function expectedOf(slot: TrueSlot, edits: readonly number[]): string[] {
  if (slot.fate === 'ran') return ['ran'];
  if (slot.fate === 'suspended') return ['suspended'];
  if (slot.fate === 'nothing') return ['missed'];
  const at = Date.parse(slot.at);
  const deadlineAt = slot.deadlineSeconds === undefined ? Infinity : at + slot.deadlineSeconds * second;
  const nextAt = slot.nextAt === undefined ? Infinity : Date.parse(slot.nextAt);
  const freeAt = slot.blockedUntil === undefined ? Infinity : Date.parse(slot.blockedUntil);
  const endAt = Math.min(nextAt, freeAt);
  if (deadlineAt < endAt - closeMs) return ['skippedDeadline'];
  const isEdited = edits.some((editedAt) => at < editedAt && editedAt < freeAt);
  const behind =
    nextAt < freeAt - closeMs ? ['skippedForbid'] : freeAt < nextAt - longestWaitMs && !isEdited ? ['missed'] : [];
  const either = behind.length > 0 ? behind : ['skippedForbid', 'missed'];
  return deadlineAt < endAt + closeMs ? ['skippedDeadline', ...either] : either;
}
