import { fates as shared } from '../../cluster/contract/fates.ts';
import type { CronJobShape } from '../../cluster/kube-objects.ts';

/** A CronJob of the fleet, and what each run of it must look like once it is recorded. */
interface Member {
  readonly shape: CronJobShape;
  /** How a run ends by itself; undefined: it never does, something takes it away. */
  readonly ends?: {
    readonly status: 'success' | 'failed';
    readonly jobReason: string;
    /** All that may be recorded: more than one only where the cluster itself leaves it open. */
    readonly exitCodes: readonly (number | undefined)[];
    readonly reasons: readonly (string | undefined)[];
  };
  /** It goes on for long, and nothing is lost if no controller runs while it ends: its Job and its pods stay. */
  readonly long?: true;
}

const nothing = [undefined];

/** What the fates of the cluster's contract leave open: they tell of the cluster, not of a record. */
const more: Readonly<Record<string, { exitCodes: readonly (number | undefined)[]; reasons: readonly string[] }>> = {
  'image-pull': { exitCodes: nothing, reasons: ['ErrImagePull', 'ImagePullBackOff'] },
  'config-error': { exitCodes: nothing, reasons: ['CreateContainerConfigError'] },
  // Its container may be running by then, or not yet.
  evicted: { exitCodes: [137, undefined], reasons: ['Evicted'] },
  // The last life of the container may be cut short by the deletion of its pod.
  'restarts-exhausted': { exitCodes: [4, 143], reasons: ['Error'] },
};

/** Time to be played before the deadline, on a machine that has much to do at the full minute. */
function withTime(shape: CronJobShape): CronJobShape {
  return shape.spec?.['activeDeadlineSeconds'] === undefined
    ? shape
    : { ...shape, spec: { ...shape.spec, activeDeadlineSeconds: 8 } };
}

const fromContract = Object.entries(shared).map(([name, fate]): [string, Member] => {
  const open = more[name];
  return [
    name,
    {
      shape: withTime(fate.shape),
      ends: {
        status: fate.outcome,
        jobReason: fate.jobReason,
        exitCodes: open?.exitCodes ?? [fate.exitCode],
        reasons: open?.reasons ?? [fate.reason],
      },
    },
  ];
});

/** NUL, broken UTF-8, an escape sequence and a line that never ends: 5 MB of it, and the truth at the very end. */
const hostileLog = Buffer.concat([
  Buffer.from('\u001B[2J\u0000 wiped?\n'),
  Buffer.from([0xc3, 0x28, 0xf0, 0x9f, 0x98]),
  Buffer.from('€'.repeat(4_000)),
]);

const hangs = { outcome: 'hang' } as const;
const wellEnded = { status: 'success', jobReason: 'CompletionsReached', exitCodes: nothing, reasons: nothing } as const;

/** The CronJobs of one service, by name: all fates of a run that there are. Each runs every minute, but the paused ones. */
export const fleet: Readonly<Record<string, Member>> = {
  ...Object.fromEntries(fromContract),
  'no-success-history': { shape: { cron: { successfulJobsHistoryLimit: 0 } }, ends: wellEnded },
  long: { shape: { play: { outcome: 'success', seconds: '35' } }, ends: wellEnded, long: true },
  'long-failing': {
    shape: { play: { outcome: 'exit:7', seconds: '37' } },
    ends: {
      status: 'failed',
      jobReason: 'BackoffLimitExceeded',
      exitCodes: [7],
      reasons: ['Error'],
    },
    long: true,
  },
  'hostile-log': {
    shape: { play: { outcome: 'exit:1', 'log-base64': hostileLog.toString('base64'), 'log-repeat': '420' } },
    ends: { status: 'failed', jobReason: 'BackoffLimitExceeded', exitCodes: [1], reasons: ['Error'] },
  },
  replacing: { shape: { play: hangs, cron: { concurrencyPolicy: 'Replace' } } },
  // Longer than a slot: the next one is skipped, or starts late.
  forbidding: {
    shape: { play: { outcome: 'success', seconds: '70' }, cron: { concurrencyPolicy: 'Forbid' } },
    ends: wellEnded,
    long: true,
  },
  'deleted-by-hand': { shape: { play: hangs, cron: { concurrencyPolicy: 'Forbid' } } },
  recreated: { shape: { play: { outcome: 'success', seconds: '3' } }, ends: wellEnded },
  paused: { shape: { cron: { suspend: true } } },
  'by-hand': { shape: { cron: { suspend: true } }, ends: wellEnded },
};
