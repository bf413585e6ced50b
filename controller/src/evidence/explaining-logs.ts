import type { Evidence, ExitCause, PodFacts } from '@cronjob-monitor/shared/domain';

/** Of the logs of a run those that explain its end. */
interface ExplainingLogs {
  /** Of the container that failed; undefined: none was read. One with a text before one that only says why there is none. */
  readonly main: Evidence | undefined;
  /** Of the init containers of the same pod that have a text, in their order. */
  readonly init: readonly Evidence[];
}

/** `pieces`: what was taken of the run, oldest first. */
export function explainingLogs(
  cause: Pick<ExitCause, 'pod' | 'container'>,
  pieces: readonly Evidence[],
  pods: readonly PodFacts[],
): ExplainingLogs {
  const logs = pieces.filter(({ kind }) => kind === 'logs');
  const own = logs.find(({ name }) => name === `${cause.pod?.name}/${cause.container}`);
  const regular = logs.filter(({ name }) => !isInit(name, pods));
  const told = (some: readonly Evidence[]): Evidence | undefined => some.findLast(({ body }) => body !== undefined);
  const main = own?.body === undefined ? (told(regular) ?? told(logs) ?? own ?? logs.at(-1)) : own;
  if (main === undefined) return { main, init: [] };
  const pod = pods.find(({ name }) => name === podOf(main.name));
  const init = (pod?.containers ?? []).flatMap((container) => {
    const name = `${pod?.name}/${container.name}`;
    const log = container.init && name !== main.name ? logs.find((one) => one.name === name) : undefined;
    return log?.body === undefined ? [] : [log];
  });
  return { main, init };
}

function isInit(name: string, pods: readonly PodFacts[]): boolean {
  const pod = pods.find((one) => one.name === podOf(name));
  return pod?.containers.some((container) => container.init && `${pod.name}/${container.name}` === name) ?? false;
}

/** Logs are kept under `pod/container`. */
function podOf(name: string): string {
  return name.split('/', 1)[0] ?? name;
}
