// Logs each job with pino: failures that need somebody as errors or warnings, and the rest for information.
//
//   npm install pino
//   node examples/pino.mjs
import { tracingChannel } from 'node:diagnostics_channel';
import { errorCategory, TorrentCreate } from 'metainfo';
import pino from 'pino';

/** A bug is an error, and a failure of the disk, the network or the load is a warning. Callers see all others. */
const LEVELS = { bug: 'error', io: 'warn', busy: 'warn' };

/** Logs all jobs from now on. */
function logJobs(logger) {
  const started = new WeakMap();
  tracingChannel('metainfo:job').subscribe({
    start(job) {
      started.set(job, performance.now());
    },
    asyncEnd(job) {
      const { operation, version, bytes, files, queueSeconds, error } = job;
      const seconds = (performance.now() - started.get(job)) / 1000;
      const facts = { operation, version, bytes, files, queueSeconds, seconds };
      if (!error) return logger.info(facts, 'job done');
      const category = errorCategory(error);
      logger[LEVELS[category] ?? 'info']({ ...facts, category, code: error.code, err: error }, 'job failed');
    },
  });
}

const logger = pino({ formatters: { level: (level) => ({ level }) } }, pino.destination({ sync: true }));
logJobs(logger);

await new TorrentCreate({ sources: [{ path: 'notes.txt', data: Buffer.from('some notes') }] }).generate();
await new TorrentCreate({ pathRoot: '/nowhere' }).generate().catch(() => null);
const broken = {
  size: 3,
  read: async () => {
    throw new Error('the bucket is gone');
  },
};
await new TorrentCreate({ sources: [{ path: 'film.mkv', data: broken }] }).generate().catch(() => null);
