// Goes through every flow of the page /inspect in Chromium: site/check.mjs calls it. It compares what the page shows with what the library
// gives in Node.
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import axe from 'axe-core';
import { edit, encode, Torrent, TorrentCreate } from '../dist/index.js';
import { root } from '../scripts/setup.mjs';
import { checkWorker, workersAreReady } from './check-inspect-worker.mjs';

/** Bytes of all files of the page, each compressed. */
const MOST_BYTES = 150_000;
const FILES = 100_000;
const TRACKER = 'udp://tracker.example:6969/announce';
const SCREENS = { screen: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } };
const PHONE = { viewport: SCREENS.phone, isMobile: true, hasTouch: true };

/** Names that must stay texts, and nothing more. */
const HOSTILE = [
  '<img src=x onerror=document.title="hacked">.txt',
  '<script>document.title="hacked"</script>',
  'photo\u202egpj.exe',
  '"><svg onload=document.title="hacked">',
  '__proto__',
  'nul\0l\nine',
];

const HOSTILE_TORRENT = {
  comment: '<b>bold</b>\u202e',
  info: {
    files: [...HOSTILE.map((one) => ({ length: 10, path: ['<i>folder</i>', one] })), { length: 4, path: ['..', 'up'] }],
    name: 'hostile \u202e<b>name</b>',
    'piece length': 2 ** 14,
    pieces: new Uint8Array(20),
    x_cross: '<b>mark</b>',
  },
  publisher: 'P\u202e',
};

function manyFiles() {
  const files = Array.from({ length: FILES }, (_, i) => ({ length: 1, path: [`file ${i + 1}`] }));
  const pieces = new Uint8Array(20 * Math.ceil(FILES / 2 ** 14));
  return { info: { files, name: 'many', 'piece length': 2 ** 14, pieces } };
}

/** Emoji of several with joiners between them, and a joiner that hides in a name. */
const [FAMILY, HEART, HIDDEN] = [
  '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}',
  '\u2764\ufe0f\u200d\u{1f525}',
  'a\u200db\u200e',
];

/** A torrent with all that a torrent may say about its files. */
const DETAILS = {
  info: {
    files: [
      { attr: 'x', length: 1, path: ['run.sh'] },
      { attr: 'l', length: 0, path: ['start'], 'symlink path': ['bin', 'run.sh'] },
      { attr: 'hx', length: 1, path: ['.hidden'] },
      { length: 1, mood: 'calm', path: [`${FAMILY} ${HEART} ${HIDDEN}`] },
    ],
    name: 'details',
    'piece length': 2 ** 14,
    pieces: new Uint8Array(20),
    similar: [new Uint8Array(20).fill(0xab)],
  },
  nodes: [['2001:db8::2', 6881]],
};

/** Makes the files of all flows in a folder. */
async function makeFiles(folder) {
  const file = (name) => path.join(folder, name);
  const write = (name, bytes) => writeFileSync(file(name), bytes);
  const copy = (from, to) => cpSync(from, file(to), { recursive: true });
  copy(path.join(root, 'examples/album'), 'album');
  copy(file('album'), 'broken');
  const wav = readFileSync(file('broken/01 fifth.wav'));
  wav[20_000] ^= 1;
  write('broken/01 fifth.wav', wav);
  rmSync(file('broken/notes/readme.txt'));
  write('broken/more.txt', 'more');
  write('large.bin', new Uint8Array(64 * 2 ** 20));
  copy(file('album'), 'downloads/music/album');
  write('downloads/film.mkv', new Uint8Array(1000).fill(1));
  write('downloads/other.mkv', new Uint8Array(1000).fill(2));
  mkdirSync(file('pictures'));
  for (const name of ['one.png', 'Thumbs.db']) write(`pictures/${name}`, name);
  write('diary', 'd4:info: this is how a text may begin');
  const fields = { comment: 'Live in 1973', trackers: [[TRACKER]], createdBy: null };
  const torrent = await new TorrentCreate({ pathRoot: file('album'), ...fields }).generate({ version: 'hybrid' });
  await torrent.write(file('album.torrent'));
  copy(file('album.torrent'), 'album-copy');
  await edit(torrent, { private: true }).write(file('private.torrent'));
  await (await new TorrentCreate({ pathRoot: file('downloads/film.mkv') }).generate()).write(file('film.torrent'));
  const pictures = ['one.png', 'Thumbs.db'].map((name) => ({ path: name, data: Buffer.from(name) }));
  await (await new TorrentCreate({ name: 'pictures', sources: pictures }).generate()).write(file('pictures.torrent'));
  for (const [name, content] of Object.entries({ hostile: HOSTILE_TORRENT, details: DETAILS, many: manyFiles() }))
    write(`${name}.torrent`, encode(content));
  write('no.torrent', new Uint8Array(4));
  return { folder, torrent, file };
}

async function dragTo(page, x, y, data) {
  const session = await page.context().newCDPSession(page);
  for (const type of ['dragEnter', 'dragOver', 'drop'])
    await session.send('Input.dispatchDragEvent', { type, x, y, data: { dragOperationsMask: 1, ...data } });
  await session.detach();
}

/** Drops files or folders of the disk on the page, as a user does. */
const drop = (page, ...files) => dragTo(page, 200, 200, { items: [], files });

/** Drops text on a place of the page. */
async function dropText(page, text, place) {
  const { x, y, width, height } = await place.boundingBox();
  await dragTo(page, x + width / 2, y + height / 2, { items: [{ mimeType: 'text/plain', data: text }] });
}

/** Whether the page would ask before it is left. */
const asks = (page) => page.evaluate(() => !window.dispatchEvent(new Event('beforeunload', { cancelable: true })));

/** Streams of files wait while the page has no chunks left: so jobs can be looked at while they run. */
function holdStreams() {
  const { stream } = Blob.prototype;
  globalThis.chunksLeft = Number.POSITIVE_INFINITY;
  Blob.prototype.stream = function held() {
    const transform = async (chunk, controller) => {
      while (globalThis.chunksLeft <= 0) await new Promise((resolve) => setTimeout(resolve, 5));
      globalThis.chunksLeft -= 1;
      controller.enqueue(chunk);
    };
    return stream.call(this).pipeThrough(new TransformStream({ transform }));
  };
}

const bytesOf = (torrent) => new Uint8Array(torrent.bencode());

async function heading(page, text) {
  await page.getByRole('heading', { level: 1, name: text }).waitFor();
}

/** The file that a button downloads. @param press Presses the button; undefined for a click. */
async function downloaded(page, name, press = () => page.getByRole('button', { name }).click()) {
  const [file] = await Promise.all([page.waitForEvent('download'), press(name)]);
  return { name: file.suggestedFilename(), bytes: new Uint8Array(readFileSync(await file.path())) };
}

/** The flows by name. Each begins with the page just opened. */
const FLOWS = {
  async torrent({ page, files, check }) {
    await check('start');
    await drop(page, files.file('album.torrent'));
    await heading(page, 'album');
    const text = await page.locator('main').innerText();
    const { infohashV1, infohashV2 } = files.torrent;
    for (const part of [infohashV1, infohashV2, files.torrent.magnet(), 'Live in 1973', TRACKER, '01 fifth.wav'])
      assert.ok(text.includes(part), `no ${part}`);
    const row = (name) => page.getByRole('list', { name, exact: true }).locator('li');
    assert.match((await row('files').allInnerTexts()).join(' '), /01 fifth\.wav.*pad file.*02 third\.wav/s);
    assert.equal(await row('v1 pieces').count(), 4);
    assert.equal(await row('piece layers').count(), 2);
    assert.match(await row('pieces roots').first().innerText(), /root\s[0-9a-f]{16}/);
    await page.getByRole('button', { name: 'Copy magnet link' }).click();
    await page.getByText('Copied').waitFor();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), files.torrent.magnet());
    await check('torrent');
  },

  async magnet({ page, files, check }) {
    const input = page.getByLabel('Or paste a magnet link');
    await input.fill('magnet:?xt=urn:btih:123');
    await input.press('Enter');
    await page.getByRole('alert').waitFor();
    assert.match(await page.getByRole('alert').getByRole('link').first().getAttribute('href'), /errors\.html#magnet/);
    await input.fill(files.torrent.magnet());
    await input.press('Enter');
    await heading(page, 'Magnet link');
    const text = await page.locator('main').innerText();
    for (const part of [files.torrent.infohashV1, files.torrent.infohashV2, TRACKER, 'album', '39.2 KiB'])
      assert.ok(text.includes(part), `no ${part}`);
    await check('magnet');
    for (const hash of [files.torrent.infohashV1.toUpperCase(), ` ${files.torrent.infohashV2} `]) {
      await page.getByRole('link', { name: 'Start over' }).click();
      assert.equal(await input.inputValue(), '');
      await input.fill(hash);
      await page.getByRole('button', { name: 'Open the link' }).click();
      await heading(page, 'Magnet link');
      await page.getByText(hash.trim().toLowerCase(), { exact: true }).waitFor();
    }
    await drop(page, files.file('private.torrent'));
    await page.getByText('The torrent is private, but its magnet link may have a passkey').waitFor();
  },

  async hostile({ page, files, check }) {
    await drop(page, files.file('no.torrent'));
    await page.getByRole('alert').getByText('ERR_BENCODE').waitFor();
    await drop(page, files.file('hostile.torrent'));
    await heading(page, 'hostile \\u202e<b>name</b>');
    const text = await page.locator('main').innerText();
    for (const part of [
      'Only the profile compat',
      '<script>',
      'photo\\u202egpj.exe',
      'nul\\x00l\\x0aine',
      '__proto__',
      '..',
      'publisher: "P\\u202e"',
      'info.x_cross: "<b>mark</b>"',
    ])
      assert.ok(text.includes(part), `no ${part}`);
    assert.ok(!/[\u202e\0]/.test(text), 'a control character is shown as it is');
    assert.doesNotMatch(text, /--[a-z]/, 'an option of the command is named');
    assert.equal(await page.locator('main :is(img, script, svg, b b)').count(), 0);
    const issue = page.getByRole('listitem').filter({ has: page.getByRole('link', { name: 'unsafe_path' }) });
    assert.match(
      await issue.first().innerText(),
      /^default: error strict: error compat: warning unsafe_path info › files › .* › byte \d+\n/,
    );
    await check('hostile');
  },

  async details({ page, files, check }) {
    await drop(page, files.file('details.torrent'));
    await heading(page, 'details');
    const text = await page.locator('main').innerText();
    for (const part of ['[2001:db8::2]:6881', 'info.files.3.mood: "calm"', 'ab'.repeat(20)])
      assert.ok(text.includes(part), `no ${part}`);
    const rows = await page.getByRole('treeitem').allInnerTexts();
    assert.deepEqual(
      rows.map((row) => row.split('\n')[0]),
      ['run.sh executable', 'start → bin/run.sh', '.hidden hidden, executable', `${FAMILY} ${HEART} a\\u200db\\u200e`],
    );
    await page.getByRole('treeitem').nth(1).click();
    await page.getByText('start: 0 bytes, → bin/run.sh').waitFor();
    await check('details');
  },

  async bytes({ page, files }) {
    await drop(page, files.file('album-copy'));
    await heading(page, 'album');
    await page.goBack();
    await drop(page, files.file('diary'));
    await heading(page, 'Create a torrent of 1 file');
  },

  async examples({ page, check }) {
    await page.getByRole('button', { name: 'Open an example torrent' }).click();
    await heading(page, 'Example album');
    assert.match(await page.locator('main').innerText(), /\nissues\nnone\n/);
    assert.equal(await asks(page), false);
    await check('example');
    await page.goBack();
    await page.getByRole('button', { name: 'Open an example magnet link' }).click();
    await heading(page, 'Magnet link');
    await page.getByText('[2001:db8::1]:6881', { exact: true }).waitFor();
  },

  async 'text in a field'({ page, files }) {
    const input = page.getByLabel('Or paste a magnet link');
    await dropText(page, 'some text', input);
    await page.waitForFunction(() => document.querySelector('input:not([type])').value === 'some text');
    assert.equal(await page.getByRole('alert').count(), 0);
    await dropText(page, files.torrent.magnet(), page.getByText('Nothing leaves this device'));
    await heading(page, 'Magnet link');
  },

  async 'no site data'({ page, files }) {
    await page.addInitScript(() => {
      const blocked = () => {
        throw new DOMException('Access is denied for this document.', 'SecurityError');
      };
      Object.defineProperty(window, 'localStorage', { get: blocked });
    });
    await page.reload();
    await drop(page, files.file('album.torrent'));
    await heading(page, 'album');
  },

  async back({ page, files }) {
    await page.getByLabel('Or paste a magnet link').fill(files.torrent.magnet());
    await page.keyboard.press('Enter');
    await heading(page, 'Magnet link');
    await drop(page, files.file('album.torrent'));
    await page.getByLabel('Comment').fill('a draft');
    await page.getByRole('treeitem', { name: 'notes' }).click();
    await page.goBack();
    await heading(page, 'Magnet link');
    await page.goBack();
    await heading(page, 'Look into a torrent');
    await page.goForward();
    await page.goForward();
    await heading(page, 'album');
    assert.equal(await page.getByLabel('Comment').inputValue(), 'a draft');
    assert.equal(await page.getByRole('treeitem').count(), 3);
    await page.evaluate(() => scrollTo(0, 200));
    await page.getByRole('link', { name: 'Start over' }).dispatchEvent('click');
    await heading(page, 'Look into a torrent');
    await page.goBack();
    await heading(page, 'album');
    await page.waitForFunction(() => scrollY === 200);
    // Another view takes the place of those that were ahead.
    await page.goBack();
    await drop(page, files.file('film.torrent'));
    await heading(page, 'film.mkv');
    await page.goBack();
    await heading(page, 'Magnet link');
    await page.goForward();
    await heading(page, 'film.mkv');
    // After a reload, the views before it are gone.
    await page.reload();
    await heading(page, 'Look into a torrent');
    await drop(page, files.file('album.torrent'));
    await heading(page, 'album');
    await page.goBack();
    await heading(page, 'Look into a torrent');
    await page.goBack();
    await heading(page, 'Look into a torrent');
  },

  async leaving({ page, files }) {
    assert.equal(await asks(page), false);
    await drop(page, files.file('album.torrent'));
    await heading(page, 'album');
    assert.equal(await asks(page), false);
    const comment = page.getByLabel('Comment');
    await comment.fill('other');
    assert.equal(await asks(page), true);
    // It asks from each view, and the browser does.
    await page.goBack();
    await heading(page, 'Look into a torrent');
    const [dialog] = await Promise.all([page.waitForEvent('dialog'), page.close({ runBeforeUnload: true })]);
    assert.equal(dialog.type(), 'beforeunload');
    await dialog.dismiss();
    await page.goForward();
    await comment.fill('Live in 1973');
    assert.equal(await asks(page), false);
    await comment.fill('other');
    await downloaded(page, 'Download the edited torrent');
    assert.equal(await asks(page), false);
    await comment.fill('given up');
    await page.goBack();
    assert.equal(await asks(page), true);
    await drop(page, files.file('album'));
    // No way leads back to the edited torrent.
    await heading(page, 'Create a torrent of 4 files');
    assert.equal(await asks(page), false);
    await page.locator('button:enabled', { hasText: 'Create' }).click();
    await heading(page, 'album');
    assert.equal(await asks(page), true);
    await downloaded(page, 'Download the torrent');
    assert.equal(await asks(page), false);
  },

  async edit({ page, files }) {
    const { torrent } = files;
    await drop(page, files.file('album.torrent'));
    const section = page.locator('section', { has: page.getByRole('heading', { name: 'Edit' }) });
    await section.getByLabel('Comment').fill('second edition');
    await section.getByLabel(/^Trackers/).fill(`${TRACKER}\n\nhttps://b.example/announce`);
    assert.equal(await section.getByText(`${torrent.infohashV1} (the same)`).count(), 1);
    const changes = { comment: 'second edition', trackers: [[TRACKER], ['https://b.example/announce']] };
    const first = await downloaded(page, 'Download the edited torrent');
    assert.equal(first.name, 'album.torrent');
    assert.deepEqual(first.bytes, bytesOf(edit(torrent, changes)));
    await section.getByLabel(/^Source/).fill('ABC');
    const edited = edit(torrent, { ...changes, source: 'ABC' });
    assert.equal(await section.getByText(torrent.infohashV1, { exact: true }).count(), 1);
    assert.equal(await section.getByText(edited.infohashV1, { exact: true }).count(), 1);
    assert.deepEqual((await downloaded(page, 'Download the edited torrent')).bytes, bytesOf(edited));
    await section.getByLabel(/^Trackers/).fill('nonsense');
    await section.getByRole('link', { name: /url/ }).first().waitFor();
  },

  async create({ page, files, check }) {
    for (const version of ['v1', 'v2', 'hybrid']) {
      await page.goto(page.url());
      await page.locator('input[type=file]').last().setInputFiles(files.file('album'));
      await heading(page, 'Create a torrent of 4 files');
      await page.getByLabel('Version').selectOption(version);
      await page.getByLabel('Piece length').selectOption({ label: '32 KiB' });
      await page.getByLabel('Comment').fill('made here');
      await page.getByLabel('Source').fill('ABC');
      await page.getByLabel('Webseeds').fill('https://a.example/\nhttps://b.example/\n');
      const padding = page.getByLabel('Pad files');
      assert.equal(await padding.count(), version === 'v1' ? 1 : 0);
      if (version === 'v1') await padding.check();
      await page.getByText('of 32 KiB').waitFor();
      if (version === 'hybrid') await check('create');
      await page.locator('button:enabled', { hasText: 'Create' }).click();
      await heading(page, 'album');
      const draft = new TorrentCreate({
        pathRoot: files.file('album'),
        comment: 'made here',
        urlList: ['https://a.example/', 'https://b.example/'],
        info: { pieceLength: 2 ** 15, source: 'ABC' },
      });
      const torrent = await draft.generate({ version, padding: true });
      assert.deepEqual((await downloaded(page, 'Download the torrent')).bytes, bytesOf(torrent));
    }
  },

  async cancel({ page, files, check }) {
    await drop(page, files.file('large.bin'));
    await heading(page, 'Create a torrent of 1 file');
    const create = page.locator('button:enabled', { hasText: 'Create' });
    await create.waitFor();
    await page.evaluate(() => {
      globalThis.chunksLeft = 16;
    });
    await create.click();
    await page.getByText(/ of 64 MiB · .*\/s · .* left/).waitFor();
    await check('progress');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.evaluate(() => {
      globalThis.chunksLeft = Number.POSITIVE_INFINITY;
    });
    await page.getByRole('status').getByText('Cancelled').waitFor();
    // To leave cancels too.
    await page.evaluate(() => {
      globalThis.chunksLeft = 16;
    });
    await create.click();
    await page.getByText(/ of 64 MiB · .*\/s · .* left/).waitFor();
    await page.goBack();
    await page.evaluate(() => {
      globalThis.chunksLeft = Number.POSITIVE_INFINITY;
    });
    await heading(page, 'Look into a torrent');
    await page.goForward();
    await page.getByRole('status').getByText('Cancelled').waitFor();
    await create.click();
    await heading(page, 'large.bin');
  },

  async verify({ page, files, check }) {
    await drop(page, files.file('album.torrent'), files.file('album'));
    await page.getByText('Complete: 39.2 KiB of 39.2 KiB are good').waitFor();
    await drop(page, files.file('broken'));
    await page.getByText('Not complete:').waitFor();
    const text = await page.locator('main').innerText();
    for (const part of ['2 of 4', 'bad pieces\n1\n3', '01 fifth.wav: partial', 'notes/readme.txt: missing', 'more.txt'])
      assert.ok(text.includes(part), `no ${part}`);
    assert.deepEqual(
      await page
        .getByRole('list', { name: 'v1 pieces' })
        .locator('li')
        .evaluateAll((all) => all.map((one) => one.className)),
      ['good', 'bad', 'good', 'bad'],
    );
    await check('verify');
    await drop(page, files.file('downloads'));
    await page.getByText('Complete: 39.2 KiB of 39.2 KiB are good').waitFor();
    assert.match(await page.locator('main').innerText(), /found in\nmusic\/album\/\ngood pieces/);
    await drop(page, files.file('album/notes/readme.txt'));
    await page.getByText('Not complete: 44 B of 39.2 KiB are good').waitFor();
    assert.doesNotMatch(await page.locator('main').innerText(), /extra files/);
    await drop(page, files.file('pictures.torrent'), files.file('pictures'));
    await page.getByText('Complete: 16 B of 16 B are good').waitFor();
    await drop(page, files.file('film.torrent'), files.file('downloads'));
    await page.getByText('Complete: 1000 B of 1000 B are good').waitFor();
    await drop(page, files.file('downloads/film.mkv'));
    await page.getByText('Complete: 1000 B of 1000 B are good').waitFor();
  },

  async many({ page, files, check }) {
    await drop(page, files.file('many.torrent'));
    const tree = page.getByRole('tree');
    await tree.getByText('file 1', { exact: true }).waitFor();
    assert.ok((await page.getByRole('treeitem').count()) < 60);
    await tree.evaluate((box) => box.scrollTo(0, box.scrollHeight / 2));
    await tree.getByText('file 50000', { exact: true }).waitFor();
    await tree.focus();
    await page.keyboard.press('End');
    await tree.getByText(`file ${FILES}`, { exact: true }).waitFor();
    assert.equal(await tree.getAttribute('aria-activedescendant'), `row-${FILES - 1}`);
    assert.ok((await page.getByRole('treeitem').count()) < 60);
    await check('many');
    await page.goBack();
    await heading(page, 'Look into a torrent');
    await page.goForward();
    assert.ok(await tree.getByText(`file ${FILES}`, { exact: true }).isVisible());
    assert.ok(await tree.evaluate((box) => box.scrollTop > 1000));
  },

  async keyboard({ page, files }) {
    // It is listened for before Enter is pressed, because Chromium has to learn of it first.
    let chosen = [];
    page.on('filechooser', (chooser) => chooser.setFiles(chosen));
    const tabTo = async (role, options = {}) => {
      const target = await page.getByRole(role, options).first().elementHandle();
      for (let i = 0; i < 100; i += 1) {
        if (await target.evaluate((one) => one === document.activeElement)) return;
        await page.keyboard.press('Tab');
      }
      assert.fail(`Tab does not reach ${role} ${options.name}`);
    };
    const press = async (name, role = 'button') => {
      await tabTo(role, { name, exact: true });
      await page.keyboard.press('Enter');
    };
    const choose = (...names) => {
      chosen = names.map(files.file);
      return press('Choose files');
    };
    const download = async (name) => Torrent.fromBytes((await downloaded(page, name, press)).bytes);
    await choose('album.torrent');
    await heading(page, 'album');
    assert.equal(await page.evaluate(() => document.activeElement.tagName), 'H1');
    await tabTo('tree');
    await page.keyboard.press('End');
    await page.getByText('notes/readme.txt: 44 bytes').waitFor();
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    assert.equal(await page.getByRole('treeitem').count(), 3);
    await choose('album/01 fifth.wav', 'album/02 third.wav', 'album/notes/readme.txt');
    await page.getByText('Complete: 39.2 KiB').waitFor();
    await tabTo('textbox', { name: 'Comment' });
    await page.keyboard.press('End');
    await page.keyboard.type('!');
    assert.equal((await download('Download the edited torrent')).comment, 'Live in 1973!');
    await press('Start over', 'link');
    await heading(page, 'Look into a torrent');
    await choose('album/notes/readme.txt');
    await heading(page, 'Create a torrent of 1 file');
    await tabTo('combobox', { name: 'Version' });
    await page.keyboard.type('v1');
    await tabTo('checkbox', { name: 'Pad files, so that each file starts a piece' });
    await page.keyboard.press('Space');
    await tabTo('textbox', { name: 'Source' });
    await page.keyboard.type('KEYS');
    await press('Create');
    await page.getByRole('button', { name: 'Download the torrent' }).waitFor();
    const made = await download('Download the torrent');
    assert.deepEqual([made.torrentVersion, made.info.source], ['v1', 'KEYS']);
    await press('Start over', 'link');
    await press('Open an example torrent');
    await heading(page, 'Example album');
    await press('Start over', 'link');
    await tabTo('textbox', { name: 'Or paste a magnet link or an infohash' });
    await page.keyboard.type(files.torrent.infohashV1);
    await page.keyboard.press('Enter');
    await heading(page, 'Magnet link');
    await press('Copy magnet link');
    await page.getByText('Copied').waitFor();
  },

  async phone({ page, files, check }) {
    const tap = (name, role = 'button') => page.getByRole(role, { name, exact: true }).first().tap();
    const choose = async (...names) => {
      const [chooser] = await Promise.all([page.waitForEvent('filechooser'), tap('Choose files')]);
      await chooser.setFiles(names.map(files.file));
    };
    const download = async (name) => Torrent.fromBytes((await downloaded(page, name, tap)).bytes);
    await choose('album.torrent');
    await heading(page, 'album');
    await page.getByRole('treeitem', { name: 'notes' }).tap();
    assert.equal(await page.getByRole('treeitem').count(), 3);
    await tap('Open all folders');
    await page.getByRole('treeitem', { name: 'readme.txt' }).tap();
    await page.getByText('notes/readme.txt: 44 bytes').waitFor();
    // Phones have no folders to choose.
    await choose('album/01 fifth.wav', 'album/02 third.wav', 'album/notes/readme.txt');
    await page.getByText('Complete: 39.2 KiB').waitFor();
    await page.getByLabel('Comment').fill('on a phone');
    assert.equal((await download('Download the edited torrent')).comment, 'on a phone');
    await page.goBack();
    await choose('film.torrent', 'downloads/film.mkv');
    await page.getByText('Complete: 1000 B').waitFor();
    await tap('Start over', 'link');
    await choose('album/01 fifth.wav', 'album/02 third.wav');
    await heading(page, 'Create a torrent of 2 files');
    await page.getByLabel('Name').fill('two songs');
    await page.getByLabel('Version').selectOption('v2');
    await page.getByLabel('Private').tap();
    await tap('Create');
    await heading(page, 'two songs');
    const made = await download('Download the torrent');
    assert.deepEqual([made.name, made.torrentVersion, made.info.private], ['two songs', 'v2', true]);
    await tap('Start over', 'link');
    await tap('Open an example torrent');
    await heading(page, 'Example album');
    const slider = page.getByRole('slider');
    await slider.fill('4');
    await page.getByText('Pieces 4 to 7 of 8').waitFor();
    await tap('Start over', 'link');
    await tap('Open an example magnet link');
    await heading(page, 'Magnet link');
    await tap('Copy infohash v1');
    await page.getByText('Copied').waitFor();
    await check('phone');
  },

  async offline({ page, files }) {
    const policy = await page.locator('meta[http-equiv=Content-Security-Policy]').getAttribute('content');
    assert.match(policy, /^default-src 'none';(?!.*(unsafe|connect-src))/);
    await workersAreReady(page);
    await page.context().setOffline(true);
    await page.reload();
    await drop(page, files.file('album.torrent'), files.file('album'));
    await page.getByText('Complete: 39.2 KiB').waitFor();
    // Its scripts are not kept, which Chromium reports.
    page.removeAllListeners('console');
    await page.goto(new URL('/errors.html#unsafe_path', page.url()).href);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.waitForFunction(() => getComputedStyle(document.body).fontFamily.startsWith('system-ui'));
    await page.context().setOffline(false);
  },
};

/** All files of the page, each compressed. */
function sizeOf(site) {
  const files = [...readdirSync(path.join(site, 'inspect')).map((name) => `inspect/${name}`), 'inspect-worker.js'];
  const sizes = files.map((name) => gzipSync(readFileSync(path.join(site, name))).length);
  return sizes.reduce((sum, size) => sum + size, 0);
}

/**
 * Goes through the flows.
 *
 * @param browser Chromium.
 * @param address Where the site is.
 * @param report Called with each problem.
 * @param shots A folder for pictures, if wanted.
 */
export async function checkInspect(browser, { address, report, shots }) {
  const bytes = sizeOf(path.join(root, 'build/site'));
  if (bytes > MOST_BYTES) report(`inspect: ${bytes} bytes compressed`);
  const folder = mkdtempSync(path.join(tmpdir(), 'metainfo-inspect-'));
  if (shots) mkdirSync(shots, { recursive: true });
  const files = await makeFiles(folder);
  for (const [name, flow] of Object.entries(FLOWS)) {
    const device = name === 'phone' ? PHONE : { viewport: SCREENS.screen };
    const context = await browser.newContext({ ...device, reducedMotion: 'reduce' });
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: address });
    await context.addInitScript(holdStreams);
    const say = (text) => report(`inspect, ${name}: ${text}`);
    context.on('request', (request) => {
      if (!request.url().startsWith(address) && !/^(data|blob):/.test(request.url())) say(`asks for ${request.url()}`);
    });
    const page = await context.newPage();
    page.setDefaultTimeout(300_000);
    page.on('pageerror', (error) => say(error.message));
    page.on('console', (message) => message.type() === 'error' && say(message.text()));
    await page.goto(`${address}/inspect/`);
    const check = (state) => checkState(page, { state, say, shots });
    await flow({ page, files, check }).catch((error) => say(error.message));
    if ((await page.title()) === 'hacked') say('a name has run as a script');
    await context.close();
  }
  await checkWorker(browser, (text) => report(`inspect, service worker: ${text}`)).catch((error) =>
    report(error.message),
  );
  rmSync(folder, { recursive: true });
  return bytes;
}

/** Axe finds nothing, and nothing is wider than the screen: wide and narrow, light and dark. */
async function checkState(page, { state, say, shots }) {
  await page.evaluate(axe.source);
  for (const [screen, size] of Object.entries(SCREENS))
    for (const colorScheme of ['light', 'dark']) {
      await page.setViewportSize(size);
      await page.emulateMedia({ colorScheme });
      const { violations } = await page.evaluate(() =>
        globalThis.axe.run({ rules: { 'target-size': { enabled: true } } }),
      );
      for (const { id, nodes } of violations)
        say(`${state}, ${screen}, ${colorScheme}: ${id}: ${nodes[0].html.slice(0, 200)}`);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      if (wide > 0) say(`${state}: ${wide} pixels wider than the ${screen}`);
      if (shots) await page.screenshot({ path: path.join(shots, `inspect-${state}-${screen}-${colorScheme}.png`) });
    }
  await page.setViewportSize(SCREENS.screen);
}
