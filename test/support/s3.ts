/** Starts s3rver, a local server that speaks the protocol of S3 and checks signatures, behind a proxy that makes the faults of a test. */
import { once } from 'node:events';
import { createServer, request as forward, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import S3rver from '@20minutes/s3rver';
import type { S3Options } from '../../src/sources/s3-file.ts';
import { temporaryFolder } from './tree.ts';

/** A request that reaches the proxy. */
export interface ProxiedRequest {
  request: IncomingMessage;
  response: ServerResponse;
  /** The number of requests before this one. */
  index: number;
  /** Forwards the request, and changes the answer: `cut` ends the connection after so many bytes of its body. */
  pass(changes?: { cut?: number }): Promise<void>;
}

export interface S3Server {
  /** The URL of the proxy. */
  endpoint: string;
  /** The options of the library. */
  options: S3Options;
  /** The variables of the environment for the command. */
  env: Record<string, string>;
  /** The methods and URLs of all requests. */
  requests: string[];
  /** Makes the faults; null forwards every request. */
  handle: ((exchange: ProxiedRequest) => unknown) | null;
  /** Writes an object past the proxy. */
  upload(key: string, bytes: Uint8Array): Promise<void>;
}

/** The only keys that s3rver knows. */
const KEY = 'S3RVER';

/** Starts a server with the bucket `jobs`. */
export async function s3Server(t: Pick<TestContext, 'after'>): Promise<S3Server> {
  const directory = await temporaryFolder(t as TestContext);
  const configureBuckets = [{ name: 'jobs', configs: [] }];
  const server = new S3rver({ address: '127.0.0.1', port: 0, directory, silent: true, configureBuckets });
  const { port } = await server.run();
  const busy = new Map<string, Promise<unknown>>();
  const proxy = createServer((request, response) => {
    const index = s3.requests.push(`${request.method} ${request.url}`) - 1;
    response.on('error', () => {});
    const pass = async ({ cut = Infinity } = {}) => {
      const url = request.url as string;
      // s3rver writes files in place: requests for one object wait for each other, as a PUT of S3 is atomic.
      const before = busy.get(url);
      let resolve = () => {};
      const ended = new Promise<void>((done) => {
        resolve = done;
      });
      busy.set(url, ended);
      await before;
      const { method } = request;
      const headers = { ...request.headers };
      // s3rver takes the range of the first byte for the whole object.
      const isFirst = headers.range === 'bytes=0-0';
      if (isFirst) headers.range = 'bytes=0-1';
      const passed = forward({ host: '127.0.0.1', port, path: url, method, headers }, async (answer) => {
        const range = answer.headers['content-range']?.replace('0-1', '0-0');
        // It has no first byte of an empty object, and sends its length all the same. Amazon refuses the range.
        if (isFirst && range?.endsWith('/0')) {
          answer.destroy();
          response.writeHead(416).end('<Error><Code>InvalidRange</Code><ActualObjectSize>0</ActualObjectSize></Error>');
          return resolve();
        }
        const first = { 'content-range': range, 'content-length': '1' };
        response.writeHead(answer.statusCode as number, { ...answer.headers, ...(isFirst && range && first) });
        let left = isFirst && range ? 1 : cut;
        try {
          for await (const chunk of answer) {
            response.write((chunk as Buffer).subarray(0, Math.max(0, left)));
            left -= (chunk as Buffer).length;
            if (left < 0 && !isFirst) response.destroy();
          }
        } catch {
          response.destroy();
        }
        response.end();
        return resolve();
      });
      passed.on('error', () => response.destroy());
      passed.on('close', () => resolve());
      request.pipe(passed);
      await ended;
    };
    if (s3.handle) s3.handle({ request, response, index, pass });
    else void pass();
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  t.after(async () => {
    proxy.closeAllConnections();
    proxy.close();
    await server.close();
  });
  const endpoint = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const s3: S3Server = {
    endpoint,
    options: { endpoint, region: 'us-east-1', credentials: { accessKeyId: KEY, secretAccessKey: KEY } },
    env: { AWS_ENDPOINT_URL: endpoint, AWS_ACCESS_KEY_ID: KEY, AWS_SECRET_ACCESS_KEY: KEY },
    requests: [],
    handle: null,
    upload: async (key, bytes) => {
      const { AwsClient } = await import('aws4fetch');
      const client = new AwsClient({ accessKeyId: KEY, secretAccessKey: KEY, service: 's3', region: 'us-east-1' });
      const { ok } = await client.fetch(`http://127.0.0.1:${port}/jobs/${key}`, {
        method: 'PUT',
        body: bytes as never,
      });
      if (!ok) throw new Error(`cannot upload ${key}`);
    },
  };
  return s3;
}
