import type { Browser } from 'playwright-core';
import type { Pages } from './pages.ts';
export async function contradictionsDrawn(
  _b: Browser,
  _a: string,
  _p: Pages,
  _n: number,
): Promise<{ pages: number; found: string[] }> {
  return { pages: 0, found: [] };
}
