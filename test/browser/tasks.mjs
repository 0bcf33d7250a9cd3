// The tasks of the page of chromium.test.ts and firefox.test.ts: a test runs each export by its name. Most run in Node too, with the library of
// Node, so that the test can compare. The library is the first argument; the others, and the result, are plain values and Uint8Arrays.

const onWarning = () => {};

/** As in test/support/generated.ts: content with a prime period. */
function content(bytes, seed) {
  return Uint8Array.from({ length: bytes }, (_, i) => (i % 251) * 7 + seed * 31);
}

const FORMS = {
  File: (bytes, name) => new File([bytes], name),
  Blob: (bytes) => new Blob([bytes]),
  bytes: (bytes) => bytes,
  stream: (bytes) => new Blob([bytes]).stream(),
  // Its size is not known before its end.
  generator: async function* parts(bytes) {
    for (let at = 0; at < bytes.length; at += 5000) yield bytes.slice(at, at + 5000);
  },
};

/** The torrents of a generated tree in all versions, from content in one form or, `mixed`, in all. */
export async function createTree({ TorrentCreate }, { single, files, pieceLength }, form) {
  const made = {};
  for (const version of ['v1', 'v2', 'hybrid']) {
    const formOf = (i) => FORMS[form] ?? Object.values(FORMS)[i % Object.keys(FORMS).length];
    const sources = files.map(({ path, size, seed }, i) => ({ path, data: formOf(i)(content(size, seed), path) }));
    const name = single ? {} : { name: 'tree' };
    made[version] = (
      await new TorrentCreate({ ...name, sources, pieceLength }).generate({ version, onWarning })
    ).bencode();
  }
  return made;
}

/** The kernel of the default engine. */
export const kernel = ({ webEngine }) => webEngine().kernel;

// Files of the user

const NAMES_OF_INPUTS = { folder: '#folder', files: '#files' };
let dropped;

/** Files that the user chose, dropped, or gave as a folder. */
async function given(kind) {
  if (kind === 'dropped') return dropped;
  if (kind === 'directory') return (await navigator.storage.getDirectory()).getDirectoryHandle('album');
  return document.querySelector(NAMES_OF_INPUTS[kind]).files;
}

async function found({ filesFrom }, kind) {
  const files = await given(kind);
  return kind === 'dropped' ? files : filesFrom(files);
}

/** Waits for a drop. */
export function expectDrop({ filesFrom }) {
  addEventListener('dragover', (event) => event.preventDefault());
  dropped = new Promise((resolve) => {
    addEventListener('drop', (event) => {
      event.preventDefault();
      // Later, the DataTransfer is empty.
      resolve(filesFrom(event.dataTransfer));
    });
  });
}

/** Gives chosen files the paths that they have in a chosen folder. */
export async function setRelativePaths(_, kind, paths) {
  for (const [i, file] of [...(await given(kind))].entries())
    Object.defineProperty(file, 'webkitRelativePath', { value: paths[i] });
}

/** Writes the chosen folder into the private file system of the page. */
export async function writeDirectory(_, kind = 'folder') {
  const root = await navigator.storage.getDirectory();
  for (const file of await given(kind)) {
    let folder = await root.getDirectoryHandle('album', { create: true });
    const names = file.webkitRelativePath.split('/').slice(1);
    const name = names.pop();
    for (const one of names) folder = await folder.getDirectoryHandle(one, { create: true });
    const writer = await (await folder.getFileHandle(name, { create: true })).createWritable();
    await writer.write(file);
    await writer.close();
  }
}

export async function pathsOf(library, kind) {
  const { name, sources } = await found(library, kind);
  return { name, paths: sources.map(({ path }) => path).sort() };
}

/** Makes the torrent of files of the user. */
export async function createGiven(library, kind, version) {
  const { name, sources } = await found(library, kind);
  const draft = new library.TorrentCreate({ name, sources, pieceLength: 2 ** 14 });
  return (await draft.generate({ version })).bencode();
}

/** Verifies files of the user. */
export async function verifyGiven({ Torrent, verify }, kind, bytes, options = {}) {
  return verify(Torrent.fromBytes(bytes), await given(kind), options);
}

/** Verifies files of the user, with a torrent in hexadecimal. */
export function verifyHexed(library, kind, hex) {
  return verifyGiven(
    library,
    kind,
    Uint8Array.from(hex.match(/../g), (byte) => Number.parseInt(byte, 16)),
  );
}

// Progress and cancellation

/** Zeros that come only after `release` was called. */
function slowBlob(size) {
  let release;
  const released = new Promise((resolve) => {
    release = resolve;
  });
  class SlowBlob extends Blob {
    name = 'slow.bin';
    arrayBuffer() {
      return released.then(() => super.arrayBuffer());
    }
    slice(start, end) {
      const part = super.slice(start, end);
      return { arrayBuffer: () => released.then(() => part.arrayBuffer()) };
    }
  }
  return { blob: new SlowBlob([new Uint8Array(size)]), release };
}

const JOBS = {
  generate: ({ TorrentCreate }, blob, options) =>
    new TorrentCreate({ sources: [{ path: 'slow.bin', data: blob }] }).generate(options),
  verify: async ({ TorrentCreate, verify }, blob, options) => {
    const sources = [{ path: 'slow.bin', data: new Blob([blob]) }];
    return verify(await new TorrentCreate({ sources }).generate(), [blob], options);
  },
};

/** The reports of progress of a job, whose content comes only after `reports` of them. */
export async function progressOf(library, job, { size, reports }) {
  const { blob, release } = slowBlob(size);
  const seen = [];
  const onProgress = ({ bytes, totalBytes, file }) => {
    seen.push({ bytes, totalBytes, file });
    if (seen.length === reports) release();
  };
  await JOBS[job](library, blob, { progress: true, onProgress });
  return seen;
}

/** The error of a job whose content never comes, and that is cancelled before it starts or at its first report of progress. */
export function cancel(library, job, { early }) {
  const controller = new AbortController();
  const leave = () => controller.abort(new Error('the user left'));
  if (early) leave();
  return errorOf(() => JOBS[job](library, slowBlob(2 ** 20).blob, { signal: controller.signal, onProgress: leave }));
}

async function errorOf(work) {
  try {
    await work();
    return null;
  } catch ({ name, code, message, cause }) {
    return { name, code, message, cause: cause?.message };
  }
}

/** The error of a creation from files that were changed after they were chosen. */
export const createError = (library, kind) => errorOf(() => createGiven(library, kind, 'hybrid'));

/** The errors of calls that need a disk, and of wrong arguments. */
export async function refusals({ Torrent, TorrentCreate, filesFrom, verify }, bytes) {
  const torrent = Torrent.fromBytes(bytes);
  const sources = [{ path: 'a', data: new Blob(['x']) }];
  const calls = {
    'Torrent.read': () => Torrent.read('album.torrent'),
    'torrent.write': () => torrent.write('album.torrent'),
    pathRoot: () => new TorrentCreate({ pathRoot: '/album' }).generate(),
    cache: () =>
      new TorrentCreate({ sources: [{ path: 'a', data: new Blob([new Uint8Array(2 ** 21)]) }] }).generate({
        cache: 'auto',
      }),
    generateExt: () => new TorrentCreate({ sources }).generateExt(),
    'a path as files': () => filesFrom('/album'),
    'a list of other things': () => filesFrom([{ no: 'file' }]),
    'verify a number': () => verify(torrent, 1),
    'verify no torrent': () => verify({}, []),
  };
  const errors = {};
  for (const [name, call] of Object.entries(calls)) errors[name] = await errorOf(call);
  return errors;
}

// Torrents, links and bencode

/** Reads a torrent from a File. */
export async function readFile({ Torrent }, bytes) {
  const torrent = await Torrent.read(new File([bytes], 'given.torrent'));
  const { torrentVersion, infohashV1, infohashV2, nFiles, files, infoBytes } = torrent;
  return {
    ...{ torrentVersion, infohashV1, infohashV2, nFiles, infoBytes },
    files: files.slice(0, 100).map(({ path, length }) => [path, length]),
    size: files.reduce((sum, { length }) => sum + length, 0),
    magnet: torrent.magnet(),
    json: JSON.stringify(torrent).slice(0, 10_000),
    bytes: torrent.bencode(),
  };
}

/** The error of reading a File that is no torrent. */
export const readError = ({ Torrent }, text) => errorOf(() => Torrent.read(new File([text], 'given.torrent')));

/** Everything that is wrong with a torrent, in each profile. */
export function inspect({ Torrent }, bytes) {
  return ['default', 'strict', 'compat'].map((profile) => {
    const { version, infohash, issues } = Torrent.inspect(bytes, { context: { profile } });
    return { version, infohash, issues: issues.map((issue) => ({ ...issue })) };
  });
}

/** An edited torrent, and the keys that have changed. */
export function editTorrent({ Torrent, edit, differences }, bytes, changes) {
  const torrent = Torrent.fromBytes(bytes);
  const edited = edit(torrent, changes);
  return { bytes: edited.bencode(), changed: differences(torrent, edited).map(({ key }) => key) };
}

/** A magnet link that was decoded, and what it says. */
export function readMagnet({ parseMagnet, formatMagnet }, link) {
  const magnet = parseMagnet(link);
  return { link: formatMagnet(magnet), name: magnet.displayName, trackers: magnet.trackers, peers: magnet.peers };
}

/** Bencode that was decoded and encoded again, or the code of its error. */
export function readBencode({ decode, encode }, bytes) {
  try {
    return encode(decode(bytes).value);
  } catch ({ code, message }) {
    return `${code} ${message}`;
  }
}

/** The root of a Merkle tree over leaves. */
export function merkleRoot({ MerkleTree, MerkleTreeShape }, leaves) {
  const shape = new MerkleTreeShape({ fileSize: (leaves.length / 32) * 2 ** 14, pieceLength: 2 ** 15 });
  return new MerkleTree('a', leaves, shape).rootHash;
}

/** Shows the paths of a torrent as text. Returns how many elements that makes, and the text. */
export function showFiles({ Torrent }, bytes) {
  const list = document.createElement('ul');
  for (const { path } of Torrent.fromBytes(bytes).files) {
    const item = document.createElement('li');
    item.textContent = path;
    list.append(item);
  }
  document.body.append(list);
  return { elements: list.querySelectorAll('*').length, text: list.textContent };
}
