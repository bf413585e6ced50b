import { FakeClock, RecordingLogger } from '@cronjob-monitor/shared/testing';
import { runCommandLine, type ExitStatus, type World } from '../commands/index.ts';

/** What a command said and how it ended. */
export interface Said {
  readonly status: ExitStatus;
  readonly out: string;
  readonly error: string;
}

/** Runs a command as a shell would; the clock stands at `now` unless the world brings one. */
export async function runCommand(
  argv: readonly string[],
  { input = '', ...world }: Partial<Omit<World, 'input' | 'argv'>> & { readonly input?: string } = {},
): Promise<Said> {
  const said = { out: '', error: '' };
  const status = await runCommandLine({
    argv,
    environment: {},
    out: (text) => void (said.out += text),
    error: (text) => void (said.error += text),
    input: async function* () {
      yield Buffer.from(input);
    },
    clock: new FakeClock(Date.UTC(2026, 10, 21, 8)),
    logger: new RecordingLogger(),
    ...world,
  });
  return { status, ...said };
}
