import type { CalendarRule, CronRule } from './cron-text.ts';
import { offsetOfZone } from './zone-offset.ts';

const minuteMs = 60_000;
const hourMs = 3_600_000;
const dayMs = 86_400_000;

/** How many calendar years are looked through before a rule counts as one that is never due. */
const yearsAhead = 5;

/**
 * The first instant later than `after` at which the rule is due; undefined: there is none. Found by walking over local
 * time: whole days, hours and minutes that do not fit are stepped over, nothing is computed backwards from the rule.
 */
export function nextDue(rule: CronRule, zone: string, after: number): number | undefined {
  if (rule.kind === 'interval') return Math.floor(after / 1_000) * 1_000 + rule.everyMs;
  const found = remembered(rule, rule.zone ?? zone);
  const known = found.find((one) => one.after === after);
  if (known !== undefined) return known.next;
  const next = scan(rule, rule.zone ?? zone, after);
  found.unshift({ after, next });
  if (found.length > rememberedAnswers) found.pop();
  return next;
}

interface Answer {
  readonly after: number;
  readonly next: number | undefined;
}

/** The same few questions are asked again and again while the Job of a slot runs. */
const rememberedAnswers = 6;
const answers = new WeakMap<CalendarRule, Map<string, Answer[]>>();

function remembered(rule: CalendarRule, zone: string): Answer[] {
  let byZone = answers.get(rule);
  if (byZone === undefined) {
    byZone = new Map();
    answers.set(rule, byZone);
  }
  let found = byZone.get(zone);
  if (found === undefined) {
    found = [];
    byZone.set(zone, found);
  }
  return found;
}

function scan(rule: CalendarRule, zone: string, after: number): number | undefined {
  const offsetAt = offsetOfZone(zone);
  let at = Math.floor(after / minuteMs) * minuteMs + minuteMs;
  const lastYear = new Date(at + offsetAt(at)).getUTCFullYear() + yearsAhead;
  for (;;) {
    const offset = offsetAt(at);
    const local = at + offset;
    const date = new Date(local);
    if (date.getUTCFullYear() > lastYear) return undefined;
    const sinceMidnight = mod(local, dayMs);
    if (!dayFits(rule, date)) {
      const toMidnight = dayMs - sinceMidnight;
      // On a day with a change of the clock midnight may be nearer or farther: go on by the hour.
      at += offsetAt(at + toMidnight) === offset ? toMidnight : Math.min(toMidnight, hourMs - mod(local, hourMs));
    } else if (!rule.hours.has(date.getUTCHours())) {
      at += hourMs - mod(local, hourMs);
    } else if (!rule.minutes.has(date.getUTCMinutes())) {
      at += minuteMs;
    } else {
      return at;
    }
  }
}

function dayFits(rule: CalendarRule, date: Date): boolean {
  if (!rule.months.has(date.getUTCMonth() + 1)) return false;
  const ofMonth = rule.daysOfMonth.has(date.getUTCDate());
  const ofWeek = rule.daysOfWeek.has(date.getUTCDay());
  return rule.bothDaysMustFit ? ofMonth && ofWeek : ofMonth || ofWeek;
}

function mod(value: number, divisor: number): number {
  return ((value % divisor) + divisor) % divisor;
}
