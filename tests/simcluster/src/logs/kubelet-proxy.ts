import { request as askOverTls } from 'node:https';
import { badRequest, ApiError, failure } from '../http/api-error.ts';
import { endWith, startResponse, writeTo, type ServerResponseLike } from '../http/connection.ts';
import { at, fieldsOf, listOf, textOf } from '../json.ts';
import type { KubeObject } from '../storage/kube-object.ts';

/** Address of a kubelet outside this process. */
interface Kubelet {
  readonly host: string;
  readonly port: number;
}

interface LogPlace {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  readonly query: URLSearchParams;
}

/** The kubelet that a node names in its status; undefined: its pods are played here. */
export function kubeletOf(node: KubeObject): Kubelet | undefined {
  const port = at(node, 'status', 'daemonEndpoints', 'kubeletEndpoint', 'Port');
  const addresses = listOf(at(node, 'status', 'addresses')).map(fieldsOf);
  const preferred = ['InternalIP', 'ExternalIP', 'Hostname'];
  const address = preferred
    .map((type) => addresses.find((one) => one['type'] === type))
    .find((one) => one !== undefined);
  if (typeof port !== 'number' || port === 0 || address === undefined) return undefined;
  return { host: textOf(address['address']), port };
}

/** Passes a log through from a node's own kubelet. Rejects with `ApiError` before the first byte. */
export async function askKubelet(kubelet: Kubelet, place: LogPlace, response: ServerResponseLike): Promise<void> {
  const query = new URLSearchParams(place.query);
  query.delete('container');
  const queryText = query.size === 0 ? '' : `?${query.toString()}`;
  const path = `/containerLogs/${place.namespace}/${place.pod}/${place.container}${queryText}`;
  const url = `https://${kubelet.host}:${kubelet.port}${path}`;
  await new Promise<void>((resolve, reject) => {
    const asked = askOverTls(url, { rejectUnauthorized: false }, (answer) => {
      const chunks: Buffer[] = [];
      const good = answer.statusCode === 200;
      if (good) {
        const type = answer.headers['content-type'];
        startResponse(response, 200, {
          'cache-control': 'no-cache, private',
          ...(type === undefined ? {} : { 'content-type': type }),
        });
      }
      answer.on('data', (chunk: Buffer) => {
        if (good) writeTo(response, chunk);
        else chunks.push(chunk);
      });
      answer.on('end', () => {
        if (good) {
          endWith(response);
          resolve();
        } else reject(kubeletError(answer.statusCode ?? 500, Buffer.concat(chunks).toString()));
      });
      answer.on('error', reject);
    });
    response.on('close', () => asked.destroy());
    asked.on('error', (error: Error & { code?: string }) => reject(unreachable(url, kubelet, error)));
    asked.end();
  });
}

function kubeletError(code: number, text: string): ApiError {
  const message = text.trim();
  if (code === 400) return badRequest(message);
  return new ApiError(
    code,
    failure({ code, message, reason: code === 404 ? 'NotFound' : 'InternalError', details: {} }),
  );
}

/** 500 without a reason, in Go's words. */
function unreachable(url: string, { host, port }: Kubelet, error: Error & { code?: string }): ApiError {
  const cause = error.code === 'ECONNREFUSED' ? 'connect: connection refused' : error.message;
  const message = `Get ${JSON.stringify(url)}: dial tcp ${host}:${port}: ${cause}`;
  return new ApiError(500, failure({ code: 500, message }));
}
