import type { ChannelTestResult } from '@cronjob-monitor/shared/contract';
import { testChannel } from '../../api/channels.ts';
import { named } from '../../api/named.ts';
import { testText } from '../../format/channels.ts';
import { toasts } from '../../kit/toast/toasts.svelte.ts';
import { live } from '../../state/live.svelte.ts';

/** The tests of this visit, by channel: under way, or with what came of it. */
export class Testing {
  #busy = $state.raw<ReadonlySet<string>>(new Set());
  #results = $state.raw<ReadonlyMap<string, ChannelTestResult>>(new Map());
  readonly #ask: typeof testChannel;

  constructor(ask: typeof testChannel = testChannel) {
    this.#ask = ask;
  }

  isBusy(channel: string): boolean {
    return this.#busy.has(channel);
  }

  resultOf(channel: string): ChannelTestResult | undefined {
    return this.#results.get(channel);
  }

  /** A second click while one is under way does nothing. */
  async test(channel: string): Promise<void> {
    if (this.isBusy(channel)) return;
    this.#busy = new Set([...this.#busy, channel]);
    try {
      const result = await named(`Could not test ${channel}`, () => this.#ask(channel));
      this.#results = new Map([...this.#results, [channel, result]]);
      toasts.say(`${channel}: ${testText(result)}`, { tone: result.success ? 'ok' : 'crit' });
    } catch (error) {
      toasts.say(error instanceof Error ? error.message : 'No answer', { tone: 'crit' });
    } finally {
      this.#busy = new Set([...this.#busy].filter((busy) => busy !== channel));
    }
    void live.reloadAll();
  }
}
