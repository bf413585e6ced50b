import type { Question } from '@cronjob-monitor/apiserver/testing';
import type { Seed } from './seed.ts';

/** One question to the running server and what api.md says of its answer. */
export interface Row {
  /** As api.md writes it; several rows may be of one operation. */
  readonly operation: string;
  /** Its path with what was seeded, and a query. */
  readonly path: string;
  readonly question?: Question;
  readonly status: number;
  /** What the body says at least; for a refusal its code. */
  readonly says?: object;
  readonly code?: string;
}

const v1 = '/api/v1';
const one = `${v1}/cronjobs/{namespace}/{name}`;
const backup = `${v1}/cronjobs/prod/backup`;
const silence = { matcher: { cronjobs: ['etl'] }, duration: '1h', comment: 'x' };
const pattern = { name: 'oom', match: { exitCode: 137 }, suggestion: 'Raise the limit of {{ .Name }}.' };
const posted = (body?: object): Question => ({ method: 'POST', ...(body ? { body } : {}) });

/** What only reads: in any order, any number of times. */
export function readingRows(seed: Seed): readonly Row[] {
  const read = (operation: string, path: string, says: object, status = 200): Row => ({
    operation: `GET ${v1}${operation}`,
    path: `${v1}${path}`,
    status,
    says,
  });
  const prod = { namespace: 'prod', name: 'backup' };
  return [
    read('/stats', '/stats', { totalMonitors: 1, totalCronJobs: 2, activeAlerts: 1, summary: { critical: 1 } }),
    read('/stats', '/stats?namespace=data', { totalCronJobs: 0 }),
    read('/health', '/health', { status: 'degraded', storage: 'connected', leader: false, version: 'v0.1.0' }),
    read('/clusters', '/clusters', {
      items: [{ name: 'eu', home: true, live: false, activeAlerts: 1, problem: null }],
    }),
    read('/whoami', '/whoami', { mode: 'none', user: null, readOnly: false, can: { read: true } }),
    read('/whoami', '/whoami?namespace=prod', { namespace: 'prod' }),
    read('/openapi.json', '/openapi.json', { openapi: '3.1.0' }),
    read('/monitors', '/monitors', { items: [{ name: 'dr', cronJobCount: 2, channels: ['team-chat'] }] }),
    read('/monitors', '/monitors?phase=Active&limit=1', { pagination: { total: 1, limit: 1, hasMore: false } }),
    read('/monitors/{namespace}/{name}', '/monitors/prod/dr', {
      name: 'dr',
      channels: [{ exists: true, ready: true }],
    }),
    read('/cronjobs', '/cronjobs', { items: [prod, { name: 'etl' }], summary: { critical: 1, unknown: 1 } }),
    read('/cronjobs', '/cronjobs?status=critical&sort=-successRate', { items: [{ ...prod, status: 'critical' }] }),
    read('/cronjobs', '/cronjobs?recent=3&limit=1', { items: [{ recentRuns: [{}, {}] }], pagination: { total: 2 } }),
    read('/cronjobs/{namespace}/{name}', '/cronjobs/prod/backup', {
      ...prod,
      activeAlerts: [{ id: seed.alert }],
      metrics: { totalRuns: 2, failedRuns: 1, successRate: 50 },
    }),
    read('/cronjobs/{namespace}/{name}/executions', '/cronjobs/prod/backup/executions', {
      items: [{ jobName: 'backup-1', status: 'failed' }, {}, {}],
      pagination: { total: 3, limit: 20 },
    }),
    read('/cronjobs/{namespace}/{name}/executions', '/cronjobs/prod/backup/executions?trigger=manual&status=success', {
      items: [{ jobName: 'backup-2', trigger: 'manual', scheduledTime: null }],
    }),
    read('/cronjobs/{namespace}/{name}/executions/{jobName}', '/cronjobs/prod/backup/executions/backup-1', {
      exitCode: 137,
      logs: { container: 'main', text: 'at work\nKilled\n' },
    }),
    read(
      '/cronjobs/{namespace}/{name}/executions/{jobName}/logs',
      '/cronjobs/prod/backup/executions/backup-1/logs?source=stored&tailLines=1',
      { logs: 'Killed\n', lines: 1, truncated: true, source: 'stored' },
    ),
    read(
      '/cronjobs/{namespace}/{name}/executions/{jobName}/compare',
      '/cronjobs/prod/backup/executions/backup-1/compare?with=backup-2',
      { other: { jobName: 'backup-2' }, withheld: false },
    ),
    read('/logs/search', '/logs/search?q=killed&cronjob=backup', {
      items: [{ cronjob: prod, jobName: 'backup-1', number: 2, text: 'Killed', before: 'at work', after: null }],
      complete: true,
    }),
    read('/cronjobs/{namespace}/{name}/slots', '/cronjobs/prod/backup/slots?outcome=matched', { items: [{}, {}] }),
    read('/timeline', '/timeline?hours=1&limit=1', { bucketSeconds: 900, pagination: { total: 2 } }),
    read('/cronjobs/{namespace}/{name}/timeline', '/cronjobs/prod/backup/timeline?count=2', { next: [{}, {}] }),
    read('/incidents', '/incidents?limit=1', { items: [{ recentRuns: [] }], pagination: { limit: 1 } }),
    read('/overview', '/overview', {
      monitors: { total: 1 },
      tonight: { cronjobs: 2 },
      service: { storage: 'connected' },
    }),
    read('/tonight', '/tonight?namespace=prod&limit=1', { cronjobs: 2, atRisk: 0, calm: 2, items: [] }),
    read('/wall', '/wall?step=1h&sort=name', {
      stepSeconds: 3600,
      rows: [{ state: 'critical', texture: true }, { state: 'unknown' }],
    }),
    read('/grid', '/grid?hours=5', { items: [{ name: 'backup', cells: [{}, {}, {}] }, { name: 'etl' }] }),
    read('/sla', '/sla', {
      summary: { breached: 0, pending: 1, noData: 2, met: 1 },
      items: [{ subject: 'successRate', current: 50 }],
    }),
    read('/coverage', '/coverage?limit=3&types=jobFailed,deadManTriggered', {
      items: [{ state: 'off' }, { state: 'off' }],
    }),
    read('/cronjobs/{namespace}/{name}/route', '/cronjobs/prod/backup/route', { namespace: 'prod', name: 'backup' }),
    read('/sla', '/sla?verdict=noData&subject=maxDuration', { items: [{ cronjob: { name: 'etl' }, target: 7200 }] }),
    read('/sla/report', '/sla/report', { summary: { kept: 1 }, incidents: [{ cronjob: prod }], incidentsOmitted: 0 }),
    read('/advice', '/advice', { items: [{ code: 'OutOfMemory', cronjob: prod }], counts: { ignored: 0 } }),
    read('/series', '/series?days=2', { items: [{}, {}] }),
    read('/cronjobs/{namespace}/{name}/series', '/cronjobs/prod/backup/series?days=2', { items: [{}, {}] }),
    read('/alerts', '/alerts', { total: 1, bySeverity: { critical: 1, warning: 0 }, items: [{ id: seed.alert }] }),
    read('/alerts', '/alerts?severity=warning', { total: 0, items: [] }),
    read('/alerts/history', '/alerts/history', { items: [{ id: seed.endedAlert, state: 'resolved' }] }),
    read('/alerts/{id}', `/alerts/${seed.alert}`, {
      severitySource: 'override',
      logs: { text: 'at work\nKilled\n' },
      deliveries: [{}, {}],
      timeline: [{ kind: 'detected', message: 'Job backup-1 failed' }],
    }),
    read('/silences', '/silences', { items: [{ id: seed.silence, state: 'active', mutedNow: 1 }] }),
    read('/silences', '/silences?state=expired', { items: [{ id: seed.endedSilence }] }),
    read('/silences/{id}', `/silences/${seed.silence}`, { createdBy: 'ana', comment: 'storage move' }),
    read('/channels', '/channels', { items: [{ name: 'team-chat', dead: 1, monitorCount: 1 }], summary: { ready: 1 } }),
    read('/channels/{name}', '/channels/team-chat', { monitors: [{ name: 'dr' }], recentDeliveries: [{}, {}] }),
    read('/channels/{name}/rendered', '/channels/team-chat/rendered', { newest: null }),
    read('/channels/{name}/drills', '/channels/team-chat/drills', { items: [] }),
    read('/deliveries', '/deliveries?state=dead', { items: [{ id: seed.dead, lastError: { httpStatus: 422 } }] }),
    read('/deliveries', `/deliveries?alert=${seed.alert}`, { pagination: { total: 2, limit: 50 } }),
    read('/config', '/config', { 'log-level': 'info' }),
    read('/admin/storage-stats', '/admin/storage-stats', { executionCount: 3, alertCount: 2, deliveryCount: 2 }),
  ];
}

/** What changes something, in an order that makes sense. */
export function actingRows(seed: Seed): readonly Row[] {
  const acknowledge = {
    operation: `POST ${v1}/alerts/{id}/acknowledge`,
    path: `${v1}/alerts/${seed.alert}/acknowledge`,
  };
  const unacknowledge = { ...acknowledge, operation: `DELETE ${v1}/alerts/{id}/acknowledge` };
  const redrive = { operation: `POST ${v1}/deliveries/{id}/redrive`, path: `${v1}/deliveries/${seed.dead}/redrive` };
  const silenced = `${v1}/silences/${seed.silence}`;
  return [
    {
      operation: `POST ${one}/trigger`,
      path: `${backup}/trigger`,
      question: posted(),
      status: 200,
      says: { success: true },
    },
    {
      operation: `POST ${one}/suspend`,
      path: `${backup}/suspend`,
      question: posted(),
      status: 200,
      says: { suspended: true },
    },
    {
      operation: `POST ${one}/resume`,
      path: `${backup}/resume`,
      question: posted({}),
      status: 200,
      says: { suspended: false },
    },
    {
      ...acknowledge,
      question: posted({ note: 'seen', by: 'ana' }),
      status: 200,
      says: { message: 'Acknowledged', alert: { acknowledgement: { by: 'ana' } } },
    },
    { ...unacknowledge, question: { method: 'DELETE' }, status: 200, says: { alert: { acknowledgement: null } } },
    {
      operation: `POST ${v1}/bulk`,
      path: `${v1}/bulk`,
      question: posted({ action: 'endSilence', refs: [{ namespace: 'prod', name: 'backup' }] }),
      status: 200,
      says: { rows: [{ name: 'backup', outcome: 'unchanged' }] },
    },
    {
      operation: `POST ${v1}/silences`,
      path: `${v1}/silences?dryRun=true`,
      question: posted(silence),
      status: 200,
      says: { id: null, mutedNow: 0 },
    },
    {
      operation: `POST ${v1}/silences`,
      path: `${v1}/silences`,
      question: posted(silence),
      status: 201,
      says: { state: 'active' },
    },
    {
      operation: `PUT ${v1}/silences/{id}`,
      path: silenced,
      question: { method: 'PUT', body: { ...silence, comment: 'longer' } },
      status: 200,
      says: { comment: 'longer', createdBy: 'ana' },
    },
    {
      operation: `DELETE ${v1}/silences/{id}`,
      path: silenced,
      question: { method: 'DELETE' },
      status: 200,
      says: { state: 'expired' },
    },
    {
      operation: `PUT ${v1}/silences/{id}`,
      path: silenced,
      question: { method: 'PUT', body: silence },
      status: 409,
      code: 'CONFLICT',
    },
    {
      operation: `POST ${v1}/channels/{name}/test`,
      path: `${v1}/channels/team-chat/test`,
      question: posted(),
      status: 200,
      says: { success: false, category: 'noController' },
    },
    {
      operation: `POST ${v1}/channels/{name}/drill`,
      path: `${v1}/channels/team-chat/drill`,
      question: { method: 'POST' },
      status: 200,
      says: { channel: 'team-chat', outcome: 'waiting', ackedAt: null },
    },
    {
      operation: `POST ${v1}/drills/{id}/acknowledge`,
      path: `${v1}/drills/${seed.alert}/acknowledge`,
      question: posted({ key: '0'.repeat(32) }),
      status: 404,
      code: 'NOT_FOUND',
    },
    { ...redrive, question: posted(), status: 200, says: { changed: true, delivery: { state: 'ready' } } },
    { ...redrive, question: posted(), status: 200, says: { changed: false } },
    {
      operation: `POST ${v1}/monitors/preview`,
      path: `${v1}/monitors/preview`,
      question: posted({
        namespace: 'prod',
        spec: { deadManSwitch: { enabled: true, maxTimeSinceLastSuccess: '1h' } },
      }),
      status: 200,
      says: { valid: true, truncated: false },
    },
    {
      operation: `POST ${v1}/monitors/suggest`,
      path: `${v1}/monitors/suggest`,
      question: posted({ namespace: 'prod', name: 'dr' }),
      status: 200,
      says: {},
    },
    {
      operation: `POST ${v1}/monitors/suggest`,
      path: `${v1}/monitors/suggest`,
      question: posted({ namespace: 'prod', name: 'none' }),
      status: 404,
      code: 'NOT_FOUND',
    },
    {
      operation: `POST ${v1}/patterns/test`,
      path: `${v1}/patterns/test`,
      question: posted({ pattern, testContext: { exitCode: 137, cronjobName: 'backup' } }),
      status: 200,
      says: { matched: true, suggestion: 'Raise the limit of backup.' },
    },
    {
      operation: `POST ${v1}/admin/prune`,
      path: `${v1}/admin/prune`,
      question: posted({ olderThanDays: 1, dryRun: true }),
      status: 200,
      says: { dryRun: true, deletedCount: 0 },
    },
    {
      operation: `DELETE ${one}/history`,
      path: `${backup}/history`,
      question: { method: 'DELETE' },
      status: 200,
      says: { deletedCount: 3, completed: true },
    },
    {
      operation: `DELETE ${one}/history`,
      path: `${backup}/history`,
      question: { method: 'DELETE' },
      status: 200,
      says: { deletedCount: 0 },
    },
  ];
}

/** The table of errors of api.md section 2, as far as one request makes each. */
export function refusedRows(seed: Seed): readonly Row[] {
  const refuse = (status: number, code: string, path: string, question?: Question): Row => ({
    operation: code,
    path: path.startsWith('/') ? path : `${v1}/${path}`,
    ...(question ? { question } : {}),
    status,
    code,
  });
  const json = { 'Content-Type': 'application/json' };
  return [
    refuse(400, 'INVALID_REQUEST', 'cronjobs?limit=x'),
    refuse(400, 'INVALID_REQUEST', 'cronjobs?colour=red'),
    refuse(400, 'INVALID_REQUEST', 'cronjobs?offset=1'),
    refuse(400, 'INVALID_REQUEST', 'alerts/history?since=2026-11-21T00:00:00 01:00'.replace(' ', '%20')),
    refuse(400, 'INVALID_REQUEST', 'cronjobs/%zz/x'),
    refuse(400, 'INVALID_REQUEST', 'silences', posted({ ...silence, colour: 'red' })),
    refuse(400, 'INVALID_REQUEST', 'silences', { method: 'POST', body: '{', headers: json }),
    refuse(400, 'INVALID_REQUEST', 'silences', { method: 'POST', body: '[]', headers: json }),
    refuse(400, 'INVALID_REQUEST', `alerts/${seed.alert}/acknowledge`, posted({ note: 'x'.repeat(501) })),
    refuse(403, 'CROSS_SITE_REFUSED', 'silences', { ...posted(silence), headers: { 'Sec-Fetch-Site': 'cross-site' } }),
    refuse(404, 'NOT_FOUND', 'nothing'),
    refuse(404, 'NOT_FOUND', 'stats/'),
    refuse(404, 'NOT_FOUND', 'cronjobs/prod/never'),
    refuse(404, 'NOT_FOUND', 'monitors/prod/never'),
    refuse(404, 'NOT_FOUND', 'channels/never'),
    refuse(404, 'NOT_FOUND', 'alerts/never'),
    refuse(404, 'NOT_FOUND', 'silences/never'),
    refuse(404, 'NOT_FOUND', 'deliveries/never/redrive', posted()),
    refuse(404, 'NOT_FOUND', 'cronjobs/prod/backup/executions/never'),
    refuse(404, 'LOGS_UNAVAILABLE', 'cronjobs/prod/backup/executions/backup-3/logs?source=stored'),
    refuse(405, 'METHOD_NOT_ALLOWED', 'stats', { method: 'DELETE' }),
    refuse(409, 'ALERT_ENDED', `alerts/${seed.endedAlert}/acknowledge`, posted()),
    refuse(409, 'NOT_REDRIVABLE', `deliveries/${seed.sent}/redrive`, posted()),
    refuse(409, 'CONFLICT', `silences/${seed.endedSilence}`, { method: 'PUT', body: silence }),
    refuse(413, 'PAYLOAD_TOO_LARGE', 'silences', { method: 'POST', body: 'x'.repeat(1024 * 1024 + 1), headers: json }),
    refuse(415, 'UNSUPPORTED_MEDIA_TYPE', 'silences', {
      method: 'POST',
      body: 'x',
      headers: { 'Content-Type': 'text/plain' },
    }),
    refuse(421, 'HOST_NOT_ALLOWED', 'stats', { headers: { Host: 'elsewhere.example.org' } }),
  ];
}
