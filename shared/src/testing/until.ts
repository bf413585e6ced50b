/** Resolves once the condition holds, looking after every turn of the event loop; rejects when it still does not after `withinMs`. */
export async function until(holds: () => boolean, withinMs = 5000): Promise<void> {
  const startedAt = performance.now();
  while (!holds()) {
    if (performance.now() - startedAt > withinMs) throw new Error(`not within ${withinMs} ms: ${holds.toString()}`);
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
  }
}
