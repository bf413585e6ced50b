import type { FaultProxy } from '../../servers/index.ts';

/** The COMMIT of a transaction that wrote a run stays on the way to the database, and with it all that follows on the way. */
interface HeldCommit {
  /** Resolves when one is held. */
  readonly held: Promise<void>;
  /** It may arrive, however late. */
  release(): void;
}

/** `onHeld` happens at the moment, before anything else can. */
export function holdCommit(proxy: FaultProxy, onHeld: () => void = () => {}): HeldCommit {
  const { promise, resolve } = Promise.withResolvers<void>();
  /** Connections whose transaction has written a run. */
  const writing = new Set<number>();
  proxy.inspect(({ direction, bytes, connection }) => {
    if (direction === 'toClient') return 'pass';
    const said = bytes.toString('latin1').toLowerCase();
    if (said.includes('insert into executions')) writing.add(connection);
    if (!/\bcommit\b/.test(said) || !writing.delete(connection)) return 'pass';
    proxy.inspect(undefined);
    proxy.disturb('toServer', { hold: true });
    onHeld();
    resolve();
    return 'pass';
  });
  return { held: promise, release: () => proxy.disturb('toServer', {}) };
}
