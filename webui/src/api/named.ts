import { ApiError } from './client.ts';

/** Does something, and names the object when it fails: `Could not suspend prod/etl: you may not patch cronjobs in prod`. */
export async function named<T>(what: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    const why =
      error instanceof ApiError
        ? error.message.charAt(0).toLowerCase() + error.message.slice(1)
        : 'the server does not answer';
    throw new Error(`${what}: ${why}`, { cause: error });
  }
}
