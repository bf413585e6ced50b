import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse as parseYaml } from 'yaml';
import { apiRequest, type ApiAddress, type ApiAnswer } from './api-request.ts';

const crdFolder = join(import.meta.dirname, '../../charts/cronjob-monitor/crds');
const crdPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** Brings both CustomResourceDefinitions of the chart up to date, and returns when their paths answer. */
export async function applyCrds(address: ApiAddress): Promise<void> {
  const resources = readdirSync(crdFolder)
    .filter((file) => file.endsWith('.yaml'))
    .map((file) => parseYaml(readFileSync(join(crdFolder, file), 'utf8')));
  for (const body of resources) {
    const name = String(body.metadata.name);
    const answer = await createOrReplace(address, name, body);
    if (answer.status >= 300) throw new Error(`${name}: ${answer.body.message ?? answer.body}`);
    await untilServed(address, `/apis/${body.spec.group}/${body.spec.versions[0].name}/${body.spec.names.plural}`);
  }
}

async function createOrReplace(address: ApiAddress, name: string, body: { metadata: object }): Promise<ApiAnswer> {
  const created = await apiRequest(address, 'POST', crdPath, { body });
  if (created.status !== 409) return created;
  const { resourceVersion } = (await apiRequest(address, 'GET', `${crdPath}/${name}`)).body.metadata;
  const next = { ...body, metadata: { ...body.metadata, resourceVersion } };
  return apiRequest(address, 'PUT', `${crdPath}/${name}`, { body: next });
}

async function untilServed(address: ApiAddress, path: string): Promise<void> {
  for (let tries = 0; tries < 400; tries++) {
    if ((await apiRequest(address, 'GET', `${path}?limit=1`)).status === 200) return;
    await sleep(50);
  }
  throw new Error(`${path} is not served`);
}
