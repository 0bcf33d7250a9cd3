// Uploads a file, or standard input, to an S3-compatible store in parts and hashes it at the same time: the content is read once, and
// three parts are in memory. Then it stores the torrent beside it. Needs the package aws4fetch, which signs requests.
//
//   AWS_ACCESS_KEY_ID=... AWS_SECRET_ACCESS_KEY=... node examples/s3-upload.mjs film.mkv https://s3.eu-central-1.amazonaws.com/bucket
import { createReadStream } from 'node:fs';
import path from 'node:path';
import { AwsClient } from 'aws4fetch';
import { create } from 'metainfo';

const [file, bucket] = process.argv.slice(2);
const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, AWS_REGION: region } = process.env;
const s3 = new AwsClient({ accessKeyId, secretAccessKey, region, service: 's3' });
/** Bytes of a part: S3 takes from 5 MiB to 5 GiB, and 10,000 parts. */
const PART = 8 * 2 ** 20;
const PARTS_AT_ONCE = 2;

async function send(key, method, { body, signal, query = '' } = {}) {
  const url = `${bucket}/${encodeURIComponent(key)}${query}`;
  const response = await s3.fetch(url, { method, body, signal });
  if (response.ok) return response;
  throw new Error(`${method} ${key}: the store answers with status ${response.status}`);
}

/** Yields the chunks of a stream as they are, while they are uploaded. An upload that fails leaves nothing in the store. */
async function* uploaded(stream, key, signal) {
  const started = await (await send(key, 'POST', { query: '?uploads', signal })).text();
  const id = encodeURIComponent(/<UploadId>(.*)<\/UploadId>/.exec(started)[1]);
  const tags = [];
  const running = new Set();
  const put = (body) => {
    const index = tags.push('') - 1;
    const job = send(key, 'PUT', { body, signal, query: `?partNumber=${index + 1}&uploadId=${id}` })
      .then(({ headers }) => {
        tags[index] = headers.get('etag');
      })
      .finally(() => running.delete(job));
    // It is thrown where the parts are awaited.
    job.catch(() => {});
    running.add(job);
  };
  let isComplete = false;
  try {
    let waiting = [];
    let size = 0;
    for await (const chunk of stream) {
      waiting.push(chunk);
      size += chunk.length;
      yield chunk;
      if (size < PART) continue;
      if (running.size === PARTS_AT_ONCE) await Promise.race(running);
      put(Buffer.concat(waiting));
      [waiting, size] = [[], 0];
    }
    // An upload through busboy or @fastify/multipart ends like this at its size limit.
    if (stream.truncated) throw new Error(`${key}: the upload is too large`);
    if (size > 0 || tags.length === 0) put(Buffer.concat(waiting));
    await Promise.all(running);
    const parts = tags.map((tag, i) => `<Part><PartNumber>${i + 1}</PartNumber><ETag>${tag}</ETag></Part>`);
    const body = `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`;
    // The store may answer with 200 and an error.
    const answer = await (await send(key, 'POST', { body, signal, query: `?uploadId=${id}` })).text();
    if (!answer.includes('<CompleteMultipartUploadResult')) throw new Error(`${key}: ${answer}`);
    isComplete = true;
  } finally {
    if (!isComplete) await send(key, 'DELETE', { query: `?uploadId=${id}` });
  }
}

const stop = new AbortController();
process.once('SIGINT', () => stop.abort()).once('SIGTERM', () => stop.abort());
const { signal } = stop;
const name = path.basename(file);
const stream = file === '-' ? process.stdin : createReadStream(file);
const key = file === '-' ? 'upload' : name;
const torrent = await create([{ path: key, data: uploaded(stream, key, signal) }], { pieceLength: 2 ** 20, signal });
await send(`${key}.torrent`, 'PUT', { body: torrent.bencode() });
console.log(`${key}: ${torrent.totalSize} bytes, infohash v2 ${torrent.infohashV2}`);
