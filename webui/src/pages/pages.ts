import type { Component } from 'svelte';
import type { PageName } from '../router.svelte.ts';

/** A page reads its address from the router; another address of the same kind makes another page. */
type Load = () => Promise<{ default: Component<Record<string, never>> }>;

/** Each page is a file of its own, brought when it is visited. */
export const pages: Readonly<Record<PageName | 'unknown', Load>> = {
  dashboard: () => import('./dashboard/Page.svelte'),
  cronjobs: () => import('./cronjobs/Page.svelte'),
  cronjob: () => import('./cronjob/Page.svelte'),
  run: () => import('./run/Page.svelte'),
  monitors: () => import('./monitors/Page.svelte'),
  monitor: () => import('./monitor/Page.svelte'),
  settings: () => import('./settings/Page.svelte'),
  alerts: () => import('./alerts/Page.svelte'),
  alert: () => import('./alert/Page.svelte'),
  silences: () => import('./silences/Page.svelte'),
  channels: () => import('./channels/Page.svelte'),
  channel: () => import('./channel/Page.svelte'),
  drill: () => import('./drill/Page.svelte'),
  wall: () => import('./wall/Page.svelte'),
  advice: () => import('./advice/Page.svelte'),
  coverage: () => import('./coverage/Page.svelte'),
  slaReport: () => import('./sla-report/Page.svelte'),
  sla: () => import('./sla/Page.svelte'),
  search: () => import('./search/Page.svelte'),
  clusters: () => import('./clusters/Page.svelte'),
  unknown: () => import('./unknown/Page.svelte'),
};
