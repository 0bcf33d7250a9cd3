// Runs the recipes of docs/guides/schedulers.md with local executors of the same contract: what a scheduler starts, which failures it
// tries again, and where it stops. Airflow and Temporal are packages of a few lines here; commands and torrents are real.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { transformSync } from 'esbuild';

const AIRFLOW = {
  '__init__.py': '',
  'exceptions.py': `class AirflowException(Exception): pass
class AirflowFailException(AirflowException): pass
`,
  'decorators.py': `import os, subprocess
from airflow.exceptions import AirflowException, AirflowFailException

class Run:
    def __init__(self, calls, retries):
        self.calls, self.retries = calls, retries
    def __rshift__(self, other):
        for run in (self, other):
            for call in run.calls:
                run.start(call)
    def start(self, call):
        for attempt in range(self.retries + 1):
            try:
                return call()
            except AirflowFailException:
                raise
            except AirflowException:
                if attempt == self.retries:
                    raise
                subprocess.run(["sh", "-c", os.environ["ON_RETRY"]])

class Task:
    def __init__(self, function, retries):
        self.function, self.retries = function, retries
    def __call__(self):
        return Run([self.function], self.retries)
    def expand(self, **lists):
        [(name, values)] = lists.items()
        return Run([lambda value=value: self.function(**{name: value}) for value in values], self.retries)

def task(function=None, retries=0, retry_delay=None):
    return Task(function, retries) if function else lambda named: Task(named, retries)

def dag(schedule):
    return lambda function: function
`,
};

const TEMPORAL = {
  activity: `export class ApplicationFailure extends Error {
    static nonRetryable(message, type) { return Object.assign(new ApplicationFailure(message), { type, nonRetryable: true }); }
  }
  export const cancellationSignal = () => new AbortController().signal;
  export const heartbeat = () => {};`,
  workflow: `import { execFileSync } from 'node:child_process';
  import * as activities from '../../../activities.mjs';
  // All parts start at once, on a full disk: the first that fails makes room, and none that starts afterwards may fail.
  let hasRoom = false;
  const retried = (call, attempts) => async (...args) => {
    for (let attempt = 1; ; attempt += 1) {
      const hadRoom = hasRoom;
      try {
        return await call(...args);
      } catch (error) {
        if (error.nonRetryable || hadRoom || attempt === attempts) throw error;
        if (!hasRoom) execFileSync('sh', ['-c', process.env.ON_RETRY]);
        hasRoom = true;
      }
    }
  };
  export const proxyActivities = ({ retry }) =>
    Object.fromEntries(Object.entries(activities).map(([name, call]) => [name, retried(call, retry.maximumAttempts)]));`,
};

/** Runs each recipe: first with a disk that is full until the first retry, then with content that changed. */
export async function testSchedulers({ step, run, planned, requirePlanned, runImage, parseYaml, bin, modules, page }) {
  const files = Object.fromEntries(
    [...page.matchAll(/^cat > (\S+) <<'EOF'\n([\s\S]*?)^EOF$/gm)].map(([, ...file]) => file),
  );
  const file = (name) => files[name] ?? fail(`docs/guides/schedulers.md has no ${name}`);

  /** Runs a container until it succeeds; `isFinal` tells whether its exit code ends the attempts. */
  function contained(folder, args, { attempts, isFinal, onRetry, variables }) {
    for (let attempt = 1; ; attempt += 1) {
      const { status, stderr } = runImage(args, { '/shared': folder }, variables);
      if (status === 0) return;
      if (isFinal(status) || attempt === attempts) fail(`stopped with exit code ${status}: ${stderr}`);
      execFileSync('sh', ['-c', onRetry]);
    }
  }

  const schedulers = {
    'Argo Workflows': (folder, onRetry) => {
      const { spec } = parseYaml(file('argo.yaml'), { merge: true });
      const templates = Object.fromEntries(spec.templates.map((template) => [template.name, template]));
      for (const [{ template, withSequence }] of templates[spec.entrypoint].steps) {
        const { container, retryStrategy } = templates[template];
        for (let index = 0; index < Number(withSequence?.count ?? 1); index += 1) {
          const args = container.args.map((arg) => arg.replace('{{inputs.parameters.index}}', index));
          const final = /^lastRetry\.exitCode not in (\[.*\])$/.exec(
            retryStrategy?.expression ?? 'lastRetry.exitCode not in []',
          )[1];
          const isFinal = (code) => JSON.parse(final).includes(String(code));
          contained(folder, args, { attempts: 1 + (retryStrategy?.limit ?? 0), isFinal, onRetry });
        }
      }
    },
    'AWS Batch': (folder, onRetry) => {
      const { retryStrategy, containerProperties } = JSON.parse(file('batch-job-definition.json'));
      // The first rule that fits counts. A container that ends by itself has a reason too.
      const isFinal = (code) =>
        retryStrategy.evaluateOnExit.find(({ onExitCode }) => onExitCode === undefined || onExitCode === String(code))
          .action === 'EXIT';
      for (let index = 0; index < 3; index += 1) {
        const variables = { AWS_BATCH_JOB_ARRAY_INDEX: index };
        contained(folder, containerProperties.command, {
          attempts: retryStrategy.attempts,
          isFinal,
          onRetry,
          variables,
        });
      }
      const join = ['join', '/shared/plan.json', '--parts', '/shared/parts', '--root', '/shared/film.mkv'];
      contained(folder, [...join, '-o', '/shared/film.torrent', '--force'], { attempts: 1, isFinal, onRetry });
    },
    Airflow: (folder, onRetry) => {
      mkdirSync(path.join(folder, 'airflow'), { recursive: true });
      for (const [name, text] of Object.entries(AIRFLOW)) writeFileSync(path.join(folder, 'airflow', name), text);
      writeFileSync(path.join(folder, 'torrent_dag.py'), file('torrent_dag.py'));
      const env = { ...process.env, PATH: `${bin}:${process.env.PATH}`, ON_RETRY: onRetry };
      run('python3', ['-m', 'py_compile', 'torrent_dag.py'], { cwd: folder });
      run('python3', ['torrent_dag.py'], { cwd: folder, env });
    },
    Temporal: (folder, onRetry) => {
      for (const [name, text] of Object.entries(TEMPORAL)) {
        const place = path.join(folder, 'node_modules/@temporalio', name);
        mkdirSync(place, { recursive: true });
        writeFileSync(path.join(place, 'package.json'), '{ "type": "module", "exports": "./index.js" }');
        writeFileSync(path.join(place, 'index.js'), text);
      }
      const link = path.join(folder, 'node_modules/metainfo');
      if (!existsSync(link)) symlinkSync(path.join(modules, 'metainfo'), link);
      for (const name of ['activities', 'workflow'])
        writeFileSync(path.join(folder, `${name}.mjs`), transformSync(file(`${name}.mts`), { loader: 'ts' }).code);
      const program = `import { torrent } from './workflow.mjs'; await torrent('plan.json', 3, 'film.torrent');`;
      const env = { ...process.env, METAINFO_ENGINE: 'native', ON_RETRY: onRetry };
      run(process.execPath, ['--input-type=module', '--eval', program], { cwd: folder, env });
    },
  };

  for (const [name, schedule] of Object.entries(schedulers)) {
    await step(`the recipe for ${name}: a full disk is tried again, content that changed is not`, () => {
      const folder = planned(name.toLowerCase().replace(' ', '-'));
      const [parts, log] = ['parts', 'retries'].map((inner) => path.join(folder, inner));
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4k,mode=777', 'tmpfs', parts]);
      const onRetry = `echo again >>'${log}'; mount -o remount,size=1m '${parts}'`;
      try {
        execFileSync('sh', ['-c', `! head -c 8192 /dev/zero >'${parts}/full' 2>/dev/null`]);
        schedule(folder, onRetry);
      } finally {
        execFileSync('sh', ['-c', `umount '${parts}' 2>/dev/null || true`]);
      }
      if (readFileSync(log, 'utf8') !== 'again\n')
        fail(`it was tried again ${readFileSync(log, 'utf8').length / 6} times`);
      const made = requirePlanned(folder);
      rmSync(log);
      cpSync(path.join(folder, 'plan.json'), path.join(folder, 'film.mkv'));
      let stopped = '';
      try {
        schedule(folder, onRetry);
      } catch ({ message }) {
        stopped = message;
      }
      if (!/ERR_FILE_CHANGED/.test(stopped) || existsSync(log)) fail(`it was not stopped at once: ${stopped}`);
      return made;
    });
  }
}

function fail(message) {
  throw new Error(message);
}
