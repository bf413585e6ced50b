import { isApiserver, settingOf, type ConfigView } from './config-view.ts';
import { configKeys, rowOf } from './keys.ts';
import { describeSetting } from './source.ts';
import { isLoopback } from './value-checks.ts';

/** What is allowed and should be known, a sentence each. */
export function findWarnings(view: ConfigView): string[] {
  return [...openToAll(view), ...reservedInUse(view)];
}

function openToAll({ values, entryPoint, settings }: ConfigView): string[] {
  const host = values['api.host'];
  if (!isApiserver(entryPoint) || values['ui.enabled'] === false) return [];
  if (values['auth.mode'] !== 'none' || host === undefined || isLoopback(host)) return [];
  const mode = describeSetting('auth.mode', settingOf({ settings }, 'auth.mode'));
  return [`${mode}: whoever reaches port ${values['ui.port']} of ${host} may see and do everything`];
}

function reservedInUse(view: ConfigView): string[] {
  return configKeys
    .filter((key) => rowOf(key).reserved && settingOf(view, key).source.from !== 'default')
    .map((key) => {
      const effect = key.startsWith('webhook.') ? 'no webhook is served yet' : 'nothing is remediated';
      return `${describeSetting(key, settingOf(view, key))} is reserved: ${effect}`;
    });
}
