import type { AuthMode } from '@cronjob-monitor/shared/contract';
import type { Authentication } from './authentication.ts';
import { noAuthentication } from './none.ts';
import { proxyAuthentication, type ProxySettings } from './proxy.ts';
import { createReviews, type ReviewDeps } from './review-cache.ts';
import type { ReviewedDeps } from './reviewed.ts';
import { tokenAuthentication } from './token.ts';

/** `auth.*` of the configuration. */
export interface AuthSettings {
  readonly mode: AuthMode;
  readonly audiences: readonly string[];
  readonly tokenMs: number;
  readonly allowMs: number;
  readonly denyMs: number;
  readonly proxy: ProxySettings;
}

export type AuthDeps = Pick<ReviewDeps, 'cluster' | 'clock' | 'logger' | 'count'> &
  Pick<ReviewedDeps, 'listNamespaces'>;

/** Makes the authentication of a mode. */
export function createAuthentication(settings: AuthSettings, deps: AuthDeps): Authentication {
  const { mode } = settings;
  if (mode === 'none') return noAuthentication();
  const reviews = createReviews({ ...settings, ...deps });
  const reviewed = { reviews, listNamespaces: deps.listNamespaces };
  return mode === 'token' ? tokenAuthentication(reviewed) : proxyAuthentication(settings.proxy, reviewed);
}
