import type { Browser } from 'playwright-core';
import type { Health } from '@cronjob-monitor/shared/contract';
import type { SymptomCause } from '@cronjob-monitor/shared/domain';
import type { Bench } from '../../faults/harness/bench.ts';
import type { MonitorProcess } from '../../servers/index.ts';
import { openPage } from '../ui/fixtures/browser.ts';

/** What health answers, whatever its status. */
export async function askHealth(
  service: MonitorProcess,
): Promise<{ readonly status: number; readonly health: Health }> {
  const answer = await fetch(`${service.api}/api/v1/health`);
  return { status: answer.status, health: (await answer.json()) as Health };
}

const definition = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' };

/** `cronjob_monitor_symptom` is as high for this cause, and 0 for every other one but the schema that no leader has made yet. */
export async function untilOnlyCause(service: MonitorProcess, cause: SymptomCause, height: 1 | 2): Promise<void> {
  const heightOf = async (labels = {}) => (await service.metric('cronjob_monitor_symptom', labels)) ?? NaN;
  let told: readonly number[] = [];
  await service.until(
    () => `the metric says ${cause}: ${told.join()}`,
    async () => {
      told = [await heightOf({ cause }), (await heightOf()) - (await heightOf({ cause: 'schemaDiffers' }))];
      return told.every((value) => value === height);
    },
  );
}

export function removeDefinitions({ sim }: Bench): void {
  for (const { metadata } of sim.objects.list(definition)) sim.objects.remove({ ...definition, name: metadata.name });
}

/** Opens the first page until a banner says it; the text of that banner. */
export async function untilShown(
  browser: Browser,
  service: MonitorProcess,
  sentence: Pick<RegExp, 'test'>,
): Promise<string> {
  await using opened = await openPage(browser);
  let texts: string[] = [];
  await service.until(
    () => `the page says it: ${JSON.stringify(texts)}`,
    async () => {
      await opened.page.goto(`${service.api}/`).catch(() => {}); // not listening yet
      await opened.page.waitForTimeout(1_000);
      texts = await opened.page
        .locator('.banner')
        .allInnerTexts()
        .catch(() => []); // it is being loaded
      return texts.some((text) => sentence.test(text));
    },
    90_000,
  );
  return texts.find((text) => sentence.test(text)) ?? '';
}

/** The page says it as readiness and health do, as a sentence. */
export async function untilShownAs(browser: Browser, service: MonitorProcess, problem: string): Promise<void> {
  const sentence = problem.slice(0, 1).toUpperCase() + problem.slice(1);
  await untilShown(browser, service, { test: (text) => text.startsWith(`${sentence}.`) });
}
