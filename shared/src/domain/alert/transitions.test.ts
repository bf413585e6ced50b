import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextAlertState, type AlertEvent, type AlertStateOrNone } from './transitions.ts';

const holds = (more: Partial<{ delayed: boolean; muted: boolean }> = {}): AlertEvent => ({
  kind: 'holds',
  delayed: false,
  muted: false,
  ...more,
});
const quiet: AlertEvent = { kind: 'quiet' };
const gone: AlertEvent = { kind: 'gone' };

interface Move {
  says: string;
  from: AlertStateOrNone;
  event: AlertEvent;
  to: AlertStateOrNone;
  wasTold?: boolean;
}

const moves: Move[] = [
  { says: 'a failure with alertDelay waits', from: 'none', event: holds({ delayed: true }), to: 'pending' },
  { says: 'a failure without alertDelay is told', from: 'none', event: holds(), to: 'active' },
  { says: 'a failure in a window is held back', from: 'none', event: holds({ muted: true }), to: 'suppressed' },
  {
    says: 'the delay comes before the window',
    from: 'none',
    event: holds({ delayed: true, muted: true }),
    to: 'pending',
  },
  { says: 'the Job succeeds within alertDelay: never sent', from: 'pending', event: quiet, to: 'cancelled' },
  { says: 'alertDelay runs on', from: 'pending', event: holds({ delayed: true }), to: 'pending' },
  { says: 'alertDelay is over and it still holds', from: 'pending', event: holds(), to: 'active' },
  { says: 'alertDelay is over inside a window', from: 'pending', event: holds({ muted: true }), to: 'suppressed' },
  { says: 'the CronJob goes while the delay runs', from: 'pending', event: gone, to: 'cancelled' },
  {
    says: 'a re-opened alert clears within its delay: it had been told',
    from: 'pending',
    event: quiet,
    to: 'resolved',
    wasTold: true,
  },
  { says: 'the window ends over something that still holds', from: 'suppressed', event: holds(), to: 'active' },
  { says: 'the window goes on', from: 'suppressed', event: holds({ muted: true }), to: 'suppressed' },
  { says: 'it clears inside the window: never sent', from: 'suppressed', event: quiet, to: 'cancelled' },
  {
    says: 'a window that opens over an active alert leaves it active',
    from: 'active',
    event: holds({ muted: true }),
    to: 'active',
  },
  { says: 'a further failure', from: 'active', event: holds(), to: 'active' },
  { says: 'the condition clears', from: 'active', event: quiet, to: 'resolved' },
  { says: 'the monitor is deleted', from: 'active', event: gone, to: 'expired' },
  { says: 'a resolved alert returns', from: 'resolved', event: holds(), to: 'active' },
  { says: 'an expired alert returns with a delay', from: 'expired', event: holds({ delayed: true }), to: 'pending' },
  { says: 'quiet again after the end', from: 'resolved', event: quiet, to: 'resolved' },
];

for (const { says, from, event, to, wasTold } of moves) {
  test(`${from} to ${to}: ${says}`, () => assert.equal(nextAlertState(from, event, wasTold), to));
}

test('quiet is no birth', () => assert.equal(nextAlertState('none', quiet), 'none'));
