// Runs what servers get, as far as one machine can: the image, the systemd unit, the manifests, the executables, the GitHub Action
// and the recipes for schedulers. Each makes torrents, whose infohashes must be those of the library in this process. Needs root,
// prebuilds/ (npm run prebuilds), and the Debian packages buildah, mmdebstrap, qemu-user-static, redis-server, strace and systemd.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { TorrentCreate } from '../dist/index.js';
import { buildExecutable } from './executable.mjs';
import { fail, root } from './setup.mjs';
import { testSchedulers } from './test-schedulers.mjs';

if (process.getuid() !== 0) fail('test-deploy needs root: it makes images and changes root folders.');
const scratch = mkdtempSync(path.join(tmpdir(), 'metainfo-deploy-'));
chmodSync(scratch, 0o755);
process.on('exit', () => {
  const mounts = readFileSync('/proc/self/mounts', 'utf8').split('\n');
  const own = mounts.map((line) => line.split(' ')[1]).filter((place) => place?.startsWith(scratch));
  for (const place of own.reverse()) spawnSync('umount', [place]);
  rmSync(scratch, { recursive: true, force: true });
});
const at = (...names) => path.join(scratch, ...names);
const MOST_MS = 300_000;
/** The user of the image. */
const USER = 65532;
const read = (file) => readFileSync(path.join(root, file), 'utf8');
const env = { PATH: process.env.PATH, HOME: scratch, METAINFO_ENGINE: 'native' };

let failed = 0;
async function step(name, work) {
  const [started, cpu] = [performance.now(), cpuSeconds()];
  try {
    const said = await work();
    const seconds = `${((performance.now() - started) / 1000).toFixed(1)} s, ${(cpuSeconds() - cpu).toFixed(1)} s of processor time`;
    process.stdout.write(`ok: ${name}${said ? ` (${said})` : ''}, ${seconds}\n`);
  } catch (error) {
    failed += 1;
    process.stdout.write(`FAILED: ${name}\n${error.stack}\n`);
  }
}

/** The processor time of this process and of the children that have ended. */
function cpuSeconds() {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1].split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / 100;
}

/** Runs a command to its end and returns its standard output. */
function run(command, args, { status = 0, ...options } = {}) {
  const more = { env, encoding: 'utf8', timeout: MOST_MS, maxBuffer: 2 ** 26, ...options };
  const result = spawnSync(command, args, more);
  if (result.status === status) return result.stdout;
  const said = `${result.stdout ?? ''}${result.stderr ?? ''}${result.error ?? ''}`;
  throw new Error(
    `${command} ${args.join(' ')}: exit code ${result.status ?? result.signal} instead of ${status}\n${said}`,
  );
}
const npm = (args, cwd) =>
  run('npm', [...args, '--no-audit', '--no-fund', '--loglevel=error'], { cwd, env: process.env });

/** Installs packages in a folder of their own, without their scripts. */
function installed(...names) {
  const folder = mkdtempSync(at('tool-'));
  // Others than root run what is in it.
  chmodSync(folder, 0o755);
  npm(['install', '--ignore-scripts', '--prefix', folder, ...names], folder);
  return path.join(folder, 'node_modules');
}

/**
 * A command line for a folder as the root folder: read-only but for `binds`, with /proc and three devices, as a user who is not root.
 * It starts as one process, which gets the signals.
 */
function inRoot(folder, argv, binds = {}) {
  for (const place of ['proc', 'dev', ...Object.keys(binds)]) mkdirSync(path.join(folder, place), { recursive: true });
  const mounts = Object.entries(binds).map(([place, from]) => `mount --rbind '${from}' "$1${place}"`);
  const script = [
    ...['set -e', 'mount --bind "$1" "$1"', 'mount -t proc proc "$1/proc"', 'mount -t tmpfs tmpfs "$1/dev"', ...mounts],
    'for device in null urandom zero; do touch "$1/dev/$device"; mount --bind "/dev/$device" "$1/dev/$device"; done',
    'mount -o remount,bind,ro "$1"',
    `folder=$1; shift; exec chroot --userspec=${USER}:${USER} "$folder" "$@"`,
  ];
  return ['unshare', '--mount', 'sh', '-c', script.join('\n'), 'sh', folder, ...argv];
}

const AS_USER = ['setpriv', `--reuid=${USER}`, `--regid=${USER}`, '--clear-groups', '--no-new-privs'];
/** A folder that the user of the image can write. */
function shared(name) {
  mkdirSync(at(name));
  chownSync(at(name), USER, USER);
  return at(name);
}

const infohash = (json) => JSON.parse(json).infohash.v2;
const film = createHash('shake256', { outputLength: 3_000_000 }).update('film').digest();
const content = shared('content');
cpSync(path.join(root, 'examples/album'), path.join(content, 'album'), { recursive: true });
writeFileSync(path.join(content, 'film.mkv'), film);
const draftOf = (name) => new TorrentCreate({ pathRoot: path.join(content, name) });
const expected = {};
for (const name of ['album', 'film.mkv']) expected[name] = (await draftOf(name).generate({ threads: null })).infohashV2;
function requireInfohash(name, found) {
  if (found !== expected[name]) throw new Error(`${name} has infohash ${expected[name]}, not ${found}`);
  return found;
}

const packed = (...more) =>
  JSON.parse(npm(['pack', '--ignore-scripts', '--json', '--pack-destination', scratch, ...more], root))[0].filename;
const [packedLibrary, packedQueues] = [packed(), packed('--workspace', 'metainfo-bullmq')];
const tarball = at(packedLibrary);
const hostFolder = installed(tarball, at(packedQueues), 'aws4fetch@1');
const MAIN = path.join(hostFolder, 'metainfo/dist/cli/main.cjs');
/** Folders for PATH that have `metainfo` from the package, or from the executable. */
mkdirSync(at('node-bin'));
writeFileSync(at('node-bin/metainfo'), `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`, { mode: 0o755 });

const port = await new Promise((resolve) => {
  const server = createServer().listen(0, '127.0.0.1', () => {
    const { port: free } = server.address();
    server.close(() => resolve(free));
  });
});
const QUEUE_URL = `redis://127.0.0.1:${port}`;
const redis = spawn('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--save', ''], { stdio: 'ignore' });
process.on('exit', () => redis.kill());

async function until(what, isTrue) {
  const end = performance.now() + MOST_MS / 3;
  while (!(await isTrue())) {
    if (performance.now() > end) throw new Error(`this never came true: ${what}`);
    await sleep(50);
  }
}
const redisCli = (...args) => spawnSync('redis-cli', ['-p', String(port), ...args], { encoding: 'utf8' }).stdout.trim();
/** The number of jobs in some keys of queues: lists, or sorted sets of jobs with a priority. */
const waitingIn = (keys) =>
  keys
    .map((key) => Number(redisCli(key.endsWith(':prioritized') ? 'zcard' : 'llen', key)))
    .reduce((sum, count) => sum + count, 0);

/** Starts a command, and resolves `ended` with its exit code and output. */
function start([command, ...args], options = {}) {
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'], ...options });
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr']) child[name].setEncoding('utf8').on('data', (text) => (said[name] += text));
  const ended = new Promise((resolve, reject) => {
    child.once('error', reject).once('close', (code, signal) => resolve({ code: code ?? signal, ...said }));
  });
  return { child, said, ended };
}

/**
 * Queues a torrent, starts a worker after its parts wait, compares the infohash, and stops the worker by SIGTERM.
 *
 * @param waiting Called while the parts wait.
 * @param running Called while the worker runs.
 */
async function workThrough(worker, place, { waiting = () => {}, running = () => {}, stopSeconds }) {
  const output = path.join(place, 'media/film.torrent');
  const args = ['create', path.join(place, 'media/film.mkv'), '-o', output, '--force', '--json', '--queue', QUEUE_URL];
  const roots = ['--root', `media=${path.join(place, 'media')}`, '--store', path.join(place, 'store')];
  const producer = start([...AS_USER, process.execPath, MAIN, ...args, ...roots, '--part-size', '1MiB']);
  let isOver = false;
  producer.ended.then(() => {
    isOver = true;
  });
  await until('three parts wait', () => {
    if (isOver) throw new Error(`${producer.said.stdout}${producer.said.stderr}`);
    const keys = ['wait', 'prioritized'].map((state) => `metainfo:metainfo-parts-media:${state}`);
    return waitingIn(keys) === 3;
  });
  await waiting();
  const { child, ended, said } = start(worker.argv, { env: { ...env, ...worker.env } });
  try {
    const { code, stdout, stderr } = await producer.ended;
    if (code !== 0) throw new Error(`${stdout}${stderr}${said.stderr}`);
    await running();
    child.kill('SIGTERM');
    const started = performance.now();
    const end = await ended;
    if (end.code !== 0) throw new Error(`the worker ended with ${end.code}: ${end.stdout}${end.stderr}`);
    if (performance.now() - started > stopSeconds * 1000) throw new Error('the worker ended too late');
    return requireInfohash('film.mkv', infohash(stdout));
  } finally {
    child.kill('SIGKILL');
    producer.child.kill('SIGKILL');
  }
}

/** A folder with what workers share: `media` and `store`. */
function sharedFolder(name) {
  const folder = shared(name);
  for (const inner of ['media', 'store', 'tmp']) shared(path.join(name, inner));
  cpSync(path.join(content, 'film.mkv'), path.join(folder, 'media/film.mkv'));
  return folder;
}

/** Where the libraries of each CPU are on this machine (x64), and where a program looks for them. */
const ARCHES = {
  x64: {
    oci: 'amd64',
    from: '/lib/x86_64-linux-gnu',
    to: 'lib/x86_64-linux-gnu',
    loader: 'lib64/ld-linux-x86-64.so.2',
  },
  arm64: { oci: 'arm64', from: '/usr/aarch64-linux-gnu/lib', to: 'lib', loader: 'lib/ld-linux-aarch64.so.1' },
};
const LIBC = ['libc.so.6', 'libm.so.6', 'libdl.so.2', 'libpthread.so.0'];
const qemu = run('sh', ['-c', 'command -v qemu-aarch64-static']).trim();
/** Lets this machine run programs of another CPU in a root folder: the words before such a program. */
function emulator(folder, arch) {
  if (arch === process.arch) return [];
  cpSync(qemu, path.join(folder, 'qemu'));
  return ['/qemu'];
}

const executables = {};
for (const [arch, { loader, from, to }] of Object.entries(ARCHES)) {
  await step(`the executable for linux-${arch}, in a root folder with nothing but libc`, async () => {
    const out = await buildExecutable(at('executables'), arch);
    executables[arch] = path.join(out, 'metainfo');
    const folder = at(`libc-${arch}`);
    for (const name of LIBC) cpSync(path.join(from, name), path.join(folder, to, name), { dereference: true });
    cpSync(path.join(from, path.basename(loader)), path.join(folder, loader), { dereference: true });
    cpSync(executables[arch], path.join(folder, 'metainfo'));
    const words = [...emulator(folder, arch), '/metainfo'];
    const inside = (args, binds, options) => {
      const [command, ...rest] = inRoot(folder, [...words, ...args], { '/data': content, ...binds });
      return spawnSync(command, rest, { env, encoding: 'utf8', timeout: MOST_MS, ...options });
    };
    const create = ['create', '/data/album', '-o', `/data/${arch}.torrent`, '--force', '--json'];
    // Bun unpacks the addon there.
    const temporary = { '/tmp': shared(`tmp-${arch}`) };
    const { stdout, stderr } = inside(create, temporary);
    if (!stdout) throw new Error(stderr);
    const made = requireInfohash('album', infohash(stdout));
    if (arch === process.arch) {
      writeFileSync(path.join(folder, '.env'), 'METAINFO_ENGINE=unknown\n');
      const init = inside(['config', '--init', '--config', '/tmp/example.toml'], temporary);
      if (init.status !== 0) throw new Error(init.stderr);
      const { status, stdout: advice } = inside(create, {});
      if (status !== 1 || !advice.includes('set TMPDIR')) throw new Error(`exit code ${status}: ${advice}`);
    }
    return `${made}, ${Math.round(statSync(executables[arch]).size / 1e6)} MB`;
  });
}

/** Buildah with a store of its own, without a container runtime. */
const buildah = (...args) =>
  run('buildah', ['--root', at('images'), '--runroot', at('images-run'), ...args], {
    env: { ...env, BUILDAH_ISOLATION: 'chroot' },
  }).trim();

/** Makes a base image for both CPUs from Debian's packages and npm, in place of the one in a registry. */
function baseImage() {
  // The mirror that apt uses, on Debian. $(...) is part of apt's format.
  const targets = run('apt-get', ['indextargets', '--format', '$(REPO_URI)', 'Component: main', 'Origin: Debian']);
  const mirror = targets.split('\n')[0] || 'http://deb.debian.org/debian';
  const npmFolder = path.join(installed('npm@10'), 'npm');
  const certificates = '/etc/ssl/certs/ca-certificates.crt';
  const registry = npm(['config', 'get', 'registry'], scratch).trim();
  writeFileSync(path.join(npmFolder, 'npmrc'), [`registry=${registry}`, `cafile=${certificates}`, ''].join('\n'));
  for (const { oci } of Object.values(ARCHES)) {
    const base = at(`base-${oci}`);
    const packages = '--include=base-files,coreutils,dash,nodejs';
    run('mmdebstrap', ['--quiet', '--variant=extract', `--arch=${oci}`, packages, 'trixie', base, mirror]);
    cpSync(npmFolder, path.join(base, 'usr/local/lib/npm'), { recursive: true, verbatimSymlinks: true });
    mkdirSync(path.join(base, 'usr/local/bin'), { recursive: true });
    symlinkSync('../lib/npm/bin/npm-cli.js', path.join(base, 'usr/local/bin/npm'));
    cpSync(certificates, path.join(base, certificates), { dereference: true });
    const container = buildah('from', '--arch', oci, 'scratch');
    buildah('add', '--quiet', container, base, '/');
    buildah('commit', '--quiet', '--rm', '--manifest', 'localhost/node', container);
    rmSync(base, { recursive: true });
  }
}

/** The root folders of the images, by CPU, and what the image says about running it. */
const images = {};
let config;
await step('the image, built for amd64 and arm64 from the packed package', () => {
  baseImage();
  mkdirSync(at('context'));
  for (const name of [packedLibrary, packedQueues]) cpSync(at(name), at('context', name));
  const { devDependencies } = JSON.parse(read('package.json'));
  for (const [, name, range] of read('deploy/Containerfile').matchAll(/ ([\w-]+)@(\^[\d.]+)/g))
    if ((devDependencies[name] ?? range) !== range)
      throw new Error(`the Containerfile has ${name}@${range}, and package.json another one`);
  for (const [arch, { oci }] of Object.entries(ARCHES)) {
    const args = [
      'NODE_IMAGE=localhost/node',
      `METAINFO=/context/${packedLibrary}`,
      `METAINFO_BULLMQ=/context/${packedQueues}`,
      `BUILDPLATFORM=linux/${ARCHES[process.arch].oci}`,
    ];
    const id = at(`image-${oci}`);
    const options = ['--pull-never', '--format=docker', '--layers', `--platform=linux/${oci}`, `--iidfile=${id}`];
    const containerfile = ['--file', path.join(root, 'deploy/Containerfile'), at('context')];
    buildah('build', ...options, ...args.flatMap((arg) => ['--build-arg', arg]), ...containerfile);
    const image = readFileSync(id, 'utf8');
    images[arch] = buildah('mount', buildah('from', '--pull-never', '--arch', oci, image));
    if (arch === process.arch) ({ config } = JSON.parse(buildah('inspect', '--type', 'image', image)).Docker);
  }
  const { User, Entrypoint, Healthcheck } = config;
  if (User !== `${USER}:${USER}` || Entrypoint.join() !== 'metainfo' || !Healthcheck)
    throw new Error(JSON.stringify(config));
  return `${run('du', ['-sm', images[process.arch]]).split('\t')[0]} MB`;
});

/** The command line for a command in the image, with the environment of the image alone. */
const inImage = (command, binds, variables = {}) => {
  const own = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  return inRoot(
    images[process.arch],
    ['/usr/bin/env', '-i', 'METAINFO_ENGINE=native', ...config.Env, ...own, ...command],
    binds,
  );
};
/** Runs the image with arguments, as a container runtime does, and gives the exit code. */
function runImage(args, binds, variables) {
  const [command, ...rest] = inImage([...config.Entrypoint, ...args], binds, variables);
  return spawnSync(command, rest, { env, encoding: 'utf8', timeout: MOST_MS });
}

await step('the image makes a torrent, not as root, with a read-only root folder', () => {
  const { stdout, stderr } = runImage(['create', '/data/album', '-o', '/data/image.torrent', '--force', '--json'], {
    '/data': content,
  });
  if (!stdout) throw new Error(stderr);
  const attempt = `try { require('fs').writeFileSync('/opt/x', '') } catch ({ code }) { console.log(process.getuid(), code) }`;
  const [command, ...rest] = inImage(['node', '-e', attempt], {});
  const said = run(command, rest).trim();
  if (said !== `${USER} EROFS`) throw new Error(`instead of a read-only file system for a user: ${said}`);
  return requireInfohash('album', infohash(stdout));
});

await step('the image for arm64, under qemu', () => {
  const main = '/opt/metainfo/node_modules/metainfo/dist/cli/main.cjs';
  const args = ['create', '/data/album', '-o', '/data/arm64.torrent', '--force', '--json'];
  const words = [...emulator(images.arm64, 'arm64'), '/usr/bin/node', main, ...args];
  const [command, ...rest] = inRoot(images.arm64, words, { '/data': content });
  return requireInfohash('album', infohash(run(command, rest)));
});

const modules = installed('kubernetes-models@5', '@kubernetes-models/keda@2', 'yaml@2');
const yaml = (await import(path.join(modules, 'yaml/dist/index.js'))).default;
/** The documents of deploy/kubernetes.yaml, by kind. */
const manifests = {};
await step('deploy/kubernetes.yaml fits the schemas of Kubernetes and KEDA', () => {
  for (const document of yaml.parseAllDocuments(read('deploy/kubernetes.yaml'))) {
    if (document.errors.length > 0) throw document.errors[0];
    const manifest = document.toJS();
    manifests[manifest.kind] = manifest;
  }
  const classes = {
    Job: 'kubernetes-models/batch/v1/Job',
    Deployment: 'kubernetes-models/apps/v1/Deployment',
    ScaledObject: '@kubernetes-models/keda/keda.sh/v1alpha1/ScaledObject',
  };
  if (Object.keys(manifests).join() !== Object.keys(classes).join()) throw new Error(Object.keys(manifests).join());
  const folder = path.dirname(modules);
  const lines = Object.entries(classes).flatMap(([kind, from]) => [
    `import { ${kind}, type I${kind} } from '${from}';`,
    // A literal, so that TypeScript refuses unknown fields, which the schemas ignore.
    `const of${kind}: I${kind} = ${JSON.stringify(manifests[kind])};`,
    `new ${kind}(of${kind}).validate();`,
  ]);
  const compile = (text, status) => {
    writeFileSync(path.join(folder, 'manifests.mts'), text);
    const options = ['--module', 'nodenext', '--target', 'es2022', '--strict', '--skipLibCheck', 'manifests.mts'];
    run(process.execPath, [path.join(root, 'node_modules/typescript/bin/tsc'), ...options], { cwd: folder, status });
  };
  compile(lines.join('\n'), 0);
  run(process.execPath, ['manifests.mjs'], { cwd: folder });
  // The check notices an unknown field.
  compile(lines.join('\n').replace('"podFailurePolicy"', '"podFailPolicy"'), 2);
});

/** The container of a manifest, and its volumes as folders below `place`. */
function containerOf(kind, place) {
  const { containers } = manifests[kind].spec.template.spec;
  const [{ args, volumeMounts }] = containers;
  return {
    args,
    binds: Object.fromEntries(volumeMounts.map(({ mountPath, name }) => [mountPath, path.join(place, name)])),
  };
}

/** A folder with a plan of `film.mkv` in three parts, for schedulers: the volume /shared. */
function planned(name) {
  const folder = shared(name);
  cpSync(path.join(content, 'film.mkv'), path.join(folder, 'film.mkv'));
  const args = ['plan', 'film.mkv', '-o', 'plan.json', '--part-size', '1MiB', '-l', '16KiB'];
  run(process.execPath, [MAIN, ...args], { cwd: folder });
  shared(path.join(name, 'parts'));
  return folder;
}
const plannedInfohash = (
  await new TorrentCreate({ pathRoot: path.join(content, 'film.mkv'), pieceLength: 16_384 }).generate({ threads: null })
).infohashV2;
/** Compares the torrent in a planned folder. */
function requirePlanned(folder) {
  const shown = JSON.parse(run(process.execPath, [MAIN, 'show', path.join(folder, 'film.torrent'), '--json']));
  if (JSON.stringify(shown).includes(plannedInfohash)) return plannedInfohash;
  throw new Error(`not ${plannedInfohash}: ${JSON.stringify(shown.infohash)}`);
}

await step('the Job of deploy/kubernetes.yaml, each index in the image; its policy knows the exit codes', () => {
  const place = at('job');
  mkdirSync(place);
  planned('job/shared');
  mkdirSync(at('job/media'));
  cpSync(path.join(content, 'film.mkv'), at('job/media/film.mkv'), { preserveTimestamps: true });
  const { args, binds } = containerOf('Job', place);
  // A copy has another ctime, and the plan is of one file.
  run(process.execPath, [
    MAIN,
    'plan',
    at('job/media/film.mkv'),
    '-o',
    at('job/shared/plan.json'),
    '--part-size',
    '1MiB',
    '-l',
    '16KiB',
    '--force',
  ]);
  const { completions, podFailurePolicy } = manifests.Job.spec;
  const codes = [];
  for (let index = 0; index < completions; index += 1)
    codes.push(runImage(args, binds, { JOB_COMPLETION_INDEX: index }).status);
  if (codes.join() !== '0,0,0') throw new Error(`exit codes ${codes}`);
  const joined = runImage(
    [
      'join',
      '/shared/plan.json',
      '--parts',
      '/shared/parts',
      '--root',
      '/media/film.mkv',
      '-o',
      '/shared/film.torrent',
    ],
    binds,
  );
  if (joined.status !== 0) throw new Error(joined.stderr);
  const actionOf = (code) =>
    podFailurePolicy.rules.find(({ onExitCodes }) => onExitCodes?.values.includes(code))?.action;
  writeFileSync(at('job/media/film.mkv'), 'changed');
  rmSync(at('job/shared/parts'), { recursive: true });
  shared('job/shared/parts');
  const { status } = runImage(args, binds, { JOB_COMPLETION_INDEX: 0 });
  if (actionOf(status) !== 'FailJob' || actionOf(75) !== 'Count') throw new Error(`exit code ${status}`);
  return requirePlanned(at('job/shared'));
});

await step(
  'the Deployment of deploy/kubernetes.yaml: a worker in the image, its probes, its health check, and the list of KEDA',
  async () => {
    const place = sharedFolder('deployment');
    mkdirSync(at('deployment/shared'));
    run('mv', [at('deployment/store'), at('deployment/shared/store')]);
    symlinkSync('shared/store', at('deployment/store'));
    const { args, binds } = containerOf('Deployment', place);
    const { terminationGracePeriodSeconds: stopSeconds, containers } = manifests.Deployment.spec.template.spec;
    const argv = inImage([...config.Entrypoint, ...args], binds, { QUEUE_URL });
    const keys = manifests.ScaledObject.spec.triggers.map(({ metadata }) => metadata.listName);
    const waiting = () => {
      if (waitingIn(keys) !== 3) throw new Error(`not all parts wait in ${keys}: ${redisCli('keys', '*')}`);
    };
    const running = async () => {
      const [{ ports, readinessProbe, livenessProbe }] = containers;
      for (const { httpGet } of [readinessProbe, livenessProbe]) {
        const { status } = await fetch(`http://127.0.0.1:${ports[0].containerPort}${httpGet.path}`);
        if (status !== 200) throw new Error(`${httpGet.path}: ${status}`);
      }
      const [command, ...rest] = inImage(config.Healthcheck.Test.slice(1), {});
      run(command, rest);
    };
    const made = await workThrough({ argv, env: {} }, place, { waiting, running, stopSeconds });
    const [command, ...rest] = inImage(config.Healthcheck.Test.slice(1), {});
    run(command, rest, { status: 1 });
    return made;
  },
);

const UNIT = 'metainfo-worker@.service';
/** The values of a key of the unit. */
const unitValues = (key) =>
  [...read(`deploy/${UNIT}`).matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, value]) => value);
const seconds = (text) => Number(/^(\d+)s$/.exec(text)[1]);

await step('the unit: systemd-analyze verify and security', () => {
  mkdirSync(at('units'));
  const unit = at('units', UNIT.replace('@', '@media'));
  cpSync(path.join(root, 'deploy', UNIT), unit);
  // Systemd looks for the command in its own folders.
  const script = 'mount --bind "$1" /usr/local/bin; shift; exec systemd-analyze "$@"';
  const analyze = (...args) => run('unshare', ['--mount', 'sh', '-ec', script, 'sh', at('node-bin'), ...args]);
  analyze('verify', '--man=no', unit);
  const exposure = /Overall exposure level[^:]*: (\S+)/.exec(
    analyze('security', '--offline=true', '--threshold=20', unit),
  );
  return `exposure ${exposure[1]} of 10`;
});

/** Runs ExecStart of the unit with its EnvironmentFile and user; `metainfo` is the first one in `bin`. */
async function runUnit(name, bin, before = []) {
  const place = sharedFolder(name);
  const file = `QUEUE_URL=${QUEUE_URL}\nWORKER_OPTIONS=--root media=${place}/media --store ${place}/store --threads 2\n`;
  const variables = Object.fromEntries(
    file
      .trim()
      .split('\n')
      .map((line) => /^(\w+)=(.*)$/.exec(line).slice(1)),
  );
  // Systemd splits the value of $NAME at spaces.
  const words = unitValues('ExecStart')[0]
    .split(' ')
    .flatMap((word) => (word === '$WORKER_OPTIONS' ? variables.WORKER_OPTIONS.split(' ') : [word]));
  const worker = { ...variables, PATH: `${bin}:${env.PATH}`, TMPDIR: path.join(place, 'tmp') };
  return workThrough({ argv: [...before, ...AS_USER, ...words], env: worker }, place, {
    stopSeconds: seconds(unitValues('TimeoutStopSec')[0]),
  });
}
await step('the unit: its ExecStart on Node, with the system calls that it allows', async () => {
  const trace = at('system-calls');
  const made = await runUnit('unit-node', at('node-bin'), [
    'strace',
    '--follow-forks',
    '--quiet=all',
    '--output',
    trace,
    '--daemonize',
  ]);
  const filters = run('systemd-analyze', ['syscall-filter']).split(/^(?=@)/m);
  const groups = new Map(
    filters.map((text) => [
      text.split('\n')[0].trim(),
      text
        .split('\n')
        .slice(1)
        .map((line) => line.trim())
        .filter((line) => /^[@a-z]/.test(line)),
    ]),
  );
  const callsOf = (name) => (name.startsWith('@') ? groups.get(name).flatMap(callsOf) : [name]);
  const allowed = new Set([...unitValues('SystemCallFilter')[0].split(' ').flatMap(callsOf), ...callsOf('@default')]);
  const lines = [...readFileSync(trace, 'utf8').matchAll(/^\d+ +(\w+)\(/gm)];
  const used = new Set(lines.map(([, call]) => call));
  const denied = [...used].filter((call) => !allowed.has(call));
  if (used.size < 30 || denied.length > 0) throw new Error(`of ${used.size} system calls, denied: ${denied}`);
  return `${made}, ${used.size} system calls`;
});
await step('the unit: its ExecStart with the executable', () =>
  runUnit('unit-executable', path.dirname(executables.x64)),
);

await step('action.yml: its steps as a shell, with a stub for gh', () => {
  const text = read('action.yml');
  if (text.split('\n').length > 21) throw new Error('more than 20 lines');
  const script = text.slice(text.indexOf('run: |\n') + 7).replace(/^ {8}/gm, '');
  const [release, uploaded, bin] = [content, at('uploaded'), at('gh-bin')];
  for (const folder of [uploaded, bin]) mkdirSync(folder);
  mkdirSync(at('assets'));
  for (const name of ['a.bin', 'b-1.0.tar.gz', 'old.torrent'])
    cpSync(path.join(release, 'film.mkv'), at('assets', name));
  const gh = `#!/bin/sh
case "$1 $2 $3" in
  "release download v1.0") while [ "$1" != --dir ]; do shift; done; cp "${at('assets')}"/* "$2" ;;
  "release upload v1.0") while [ "$1" != -- ]; do shift; done; shift; cp "$@" "${uploaded}" ;;
  *) echo "unexpected: $*" >&2; exit 1 ;;
esac\n`;
  writeFileSync(path.join(bin, 'gh'), gh, { mode: 0o755 });
  const variables = {
    TAG: 'v1.0',
    OPTIONS: '--tracker https://tracker.example/announce -k v2',
    VERSION: `file:${tarball}`,
    GH_TOKEN: 'x',
  };
  for (const name of Object.keys(variables))
    if (!text.includes(`${name}: "\${{ `)) throw new Error(`the action does not set ${name}`);
  const github = { GITHUB_SERVER_URL: 'https://github.com', GITHUB_REPOSITORY: 'owner/name' };
  // As GitHub runs `shell: bash`.
  run('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', script], {
    env: { ...process.env, ...variables, ...github, PATH: `${bin}:${env.PATH}` },
  });
  const names = readdirSync(uploaded).sort().join();
  if (names !== 'a.bin.torrent,b-1.0.tar.gz.torrent') throw new Error(names);
  const shown = run(process.execPath, [MAIN, 'show', path.join(uploaded, 'a.bin.torrent'), '--json']);
  for (const part of ['https://github.com/owner/name/releases/download/v1.0/a.bin', 'https://tracker.example/announce'])
    if (!shown.includes(part)) throw new Error(shown);
});

await testSchedulers({
  ...{ step, run, planned, requirePlanned, runImage, parseYaml: yaml.parse },
  ...{ bin: at('node-bin'), modules: hostFolder, page: read('docs/guides/schedulers.md') },
});
redis.kill();
process.stdout.write(`${cpuSeconds().toFixed(0)} s of processor time in all\n`);
process.exitCode = failed > 0 ? 1 : 0;
