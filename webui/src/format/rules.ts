import { type SettingField, type SettingInForce, type Json } from '@cronjob-monitor/shared/contract';
import { limitText } from './duration.ts';
import { factText, plural, targetText } from './figures.ts';
import { block, flag, number, text } from './monitor-spec.ts';

/** One rule of a monitor: its name, what it says, and whether that is set, the default, or off. */
interface RuleLine {
  readonly name: string;
  readonly says: string;
  readonly from: 'set' | 'default' | 'off';
}

type Teller = (spec: Json) => RuleLine;
const off = (name: string, says = 'off'): RuleLine => ({ name, says, from: 'off' });

/** Every rule, in the order of their weight; what is absent is written as off or as its default. */
export function ruleLines(spec: unknown): RuleLine[] {
  const whole = block({ spec }, 'spec') ?? {};
  return tellers.map((tell) => tell(whole));
}

const tellers: readonly Teller[] = [
  (spec) => {
    const name = 'Expected CronJobs';
    const rule = block(spec, 'expects');
    if (!rule) return off(name);
    const names = Array.isArray(rule['names']) ? rule['names'].length : 0;
    const parts = [
      ...(names > 0 ? [plural(names, 'name')] : []),
      ...(flag(rule, 'seen', false) ? ['every one that succeeded'] : []),
    ];
    return { name, says: `${parts.join(', and ')}; gone for ${limitText(text(rule, 'grace') ?? '10m')}`, from: 'set' };
  },
  ({ dependsOn }) => {
    const name = 'Depends on';
    return Array.isArray(dependsOn) && dependsOn.length > 0
      ? { name, says: dependsOn.join(', '), from: 'set' }
      : off(name, 'none');
  },
  (spec) => {
    const name = "Dead-man's switch";
    const rule = block(spec, 'deadManSwitch');
    if (!rule || !flag(rule, 'enabled', true)) return off(name);
    const limit = text(rule, 'maxTimeSinceLastSuccess');
    const from = flag(rule, 'fromCreation', true) ? '' : '; only after a first success';
    if (limit !== undefined) return { name, says: `no success for ${limitText(limit)}${from}`, from: 'set' };
    const auto = block(rule, 'autoFromSchedule');
    if (!auto || !flag(auto, 'enabled', true)) return off(name, 'off: it has no limit');
    const runs = plural(number(auto, 'missedScheduleThreshold') ?? 1, 'expected run');
    const buffer = limitText(text(auto, 'buffer') ?? '1h');
    return { name, says: `no success for ${runs} of the schedule and ${buffer}${from}`, from: 'set' };
  },
  (spec) => {
    const name = 'Failed runs';
    const rule = block(spec, 'jobFailed');
    if (!flag(rule, 'enabled', true)) return off(name);
    const threshold = number(rule, 'failureThreshold') ?? 1;
    const recovery = number(rule, 'recoveryThreshold') ?? 1;
    const share = block(rule, 'failuresOfLast');
    const shareText = share
      ? `, or ${number(share, 'failures') ?? '?'} of the last ${number(share, 'runs') ?? '?'}`
      : '';
    const back = recovery === 1 ? '' : `; resolved by ${recovery} successes in a row`;
    const isDefault = threshold === 1 && recovery === 1 && !share;
    return { name, says: `${threshold} in a row${shareText}${back}`, from: isDefault ? 'default' : 'set' };
  },
  (spec) => {
    const name = 'Missed runs';
    const rule = block(spec, 'missedSchedule');
    if (!flag(rule, 'enabled', true)) return off(name);
    const threshold = number(rule, 'threshold') ?? 1;
    const grace = text(rule, 'grace') ?? '2m';
    const skips = number(rule, 'skipWarnAfter');
    const skipText = skips === undefined ? '' : `; ${skips} skipped in a row`;
    const isDefault = threshold === 1 && grace === '2m' && skips === undefined;
    return {
      name,
      says: `${threshold} in a row, ${limitText(grace)} late${skipText}`,
      from: isDefault ? 'default' : 'set',
    };
  },
  (spec) => {
    const name = 'Success rate';
    const sla = slaOf(spec);
    if (!sla) return off(name);
    const target = targetText(number(sla, 'minSuccessRate') ?? 95);
    const days = plural(number(sla, 'windowDays') ?? 7, 'day');
    const least = number(sla, 'minRuns') ?? 1;
    const missed = flag(sla, 'countMissed', false) ? '; missed runs count as failed' : '';
    return { name, says: `${target} over ${days}, from ${plural(least, 'run')} on${missed}`, from: 'set' };
  },
  (spec) => {
    const name = 'Duration';
    const sla = slaOf(spec);
    const most = text(sla, 'maxDuration');
    const least = text(sla, 'minDuration');
    if (!sla || (most === undefined && least === undefined)) return off(name);
    const parts = [most && `at most ${limitText(most)}`, least && `at least ${limitText(least)}`];
    return { name, says: parts.filter(Boolean).join('; '), from: 'set' };
  },
  (spec) => {
    const name = 'Finish by';
    const finish = block(slaOf(spec), 'finishBy');
    const time = text(finish, 'time');
    if (time === undefined) return off(name);
    return { name, says: `${time} ${text(finish, 'timezone') ?? "in the CronJob's zone"}`, from: 'set' };
  },
  (spec) => {
    const name = 'Output';
    const given = block(spec, 'output');
    const assertions = Array.isArray(given?.['assertions']) ? (given['assertions'] as readonly unknown[]) : [];
    const says = assertions.map((assertion) => assertionText(block({ assertion }, 'assertion') ?? {}));
    return says.length === 0 ? off(name) : { name, says: says.join('; '), from: 'set' };
  },
  (spec) => {
    const name = 'Regression';
    const sla = slaOf(spec);
    const threshold = number(sla, 'durationRegressionThreshold') ?? 50;
    const days = number(sla, 'durationBaselineWindowDays') ?? 14;
    if (!sla || threshold === 0) return off(name);
    const isDefault = threshold === 50 && days === 14;
    return {
      name,
      says: `${targetText(threshold)} above the p95 of ${plural(days, 'day')}`,
      from: isDefault ? 'default' : 'set',
    };
  },
  (spec) => {
    const name = 'Stuck';
    const rule = block(spec, 'stuckJobs');
    if (!flag(rule, 'enabled', true)) return off(name);
    const notStarted = text(rule, 'notStartedAfter') ?? '10m';
    const hopeless = text(rule, 'hopelessAfter') ?? '2m';
    const ending = text(rule, 'terminatingAfter') ?? '10m';
    const running = text(rule, 'overrunningAfter');
    const runningText = running === undefined ? 'running 5 × p99' : `running ${limitText(running)}`;
    const isDefault = notStarted === '10m' && hopeless === '2m' && ending === '10m' && running === undefined;
    return {
      name,
      says: `not started ${limitText(notStarted)}, in vain ${limitText(hopeless)}, ending ${limitText(ending)}, ${runningText}`,
      from: isDefault ? 'default' : 'set',
    };
  },
  (spec) => {
    const name = 'Suspended';
    const rule = block(spec, 'suspendedHandling');
    const after = text(rule, 'alertIfSuspendedFor');
    const pause = flag(rule, 'pauseMonitoring', true);
    const rest = pause ? 'monitoring pauses while suspended' : 'monitored while suspended';
    if (after === undefined) return off(name, `off; ${rest}`);
    return { name, says: `for ${limitText(after)}; ${rest}`, from: 'set' };
  },
];

/** `sla.enabled: false` switches off all of it, regression too. */
function slaOf(spec: Json): Json | undefined {
  const sla = block(spec, 'sla');
  return sla && flag(sla, 'enabled', true) ? sla : undefined;
}

/** `rows at least 1, required` */
function assertionText(assertion: Json): string {
  const [min, max] = [number(assertion, 'min'), number(assertion, 'max')];
  const drop = block(assertion, 'dropBelow');
  const parts = [
    min === undefined ? undefined : `at least ${factText(min)}`,
    max === undefined ? undefined : `at most ${factText(max)}`,
    drop && `at least ${targetText(number(drop, 'percent') ?? 0)} of the median of ${number(drop, 'runs') ?? 14}`,
    flag(assertion, 'required', false) ? 'required' : undefined,
  ];
  return `${text(assertion, 'fact') ?? 'a fact'} ${parts.filter((part) => part !== undefined).join(', ')}`;
}

/** The names of the settings for which owners speak, on pages. */
export const ownSettingNames: Readonly<Record<SettingField, string>> = {
  'missedSchedule.grace': 'Grace',
  'sla.maxDuration': 'Longest run',
  'sla.finishBy': 'Finished by',
  'alerting.severityOverrides': 'Severity',
  'alerting.routes': 'Also told',
  muteUntil: 'Muted until',
  ignore: 'Left out',
  owner: 'Owner',
};

/** What owners say, without what the page shows anyway. */
export function ownSettings(settings: readonly SettingInForce[]): SettingInForce[] {
  return settings.filter(({ field, source }) => field !== 'owner' && (source === 'CronJob' || source === 'Namespace'));
}
