import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { metainfo, workFolder } from './run.ts';

describe('metainfo magnet', () => {
  it('prints the links of many torrents, and goes on after one that fails', async (t) => {
    const cwd = await workFolder(t);
    await metainfo(['create', 'album'], { cwd });
    const one = await metainfo(['magnet', 'album.torrent'], { cwd });
    const many = await metainfo(['magnet', 'album.torrent', 'missing.torrent', 'magnet:?x', 'album.torrent'], { cwd });
    assert.deepEqual([many.code, many.stdout], [1, one.stdout.repeat(2)]);
    assert.match(many.stderr, /^error: missing\.torrent: .*\[ERR_NOT_FOUND\]\nerror: [^\n]*\[ERR_VALIDATION\]\n$/);
  });

  it('makes the link of an infohash, pasted or on standard input', async (t) => {
    const cwd = await workFolder(t);
    const [v1, v2] = ['0123456789ABCDEF'.repeat(3).slice(0, 40), 'fe'.repeat(32)] as const;
    const links = [`magnet:?xt=urn:btih:${v1.toLowerCase()}\n`, `magnet:?xt=urn:btmh:1220${v2}\n`];
    assert.equal((await metainfo(['magnet', v1, v2], { cwd })).stdout, links.join(''));
    assert.equal((await metainfo(['magnet', '-'], { cwd, input: `${v1}\r\n\n${v2}\n` })).stdout, links.join(''));
    const json = JSON.parse((await metainfo(['magnet', v1, '--json'], { cwd })).stdout);
    assert.deepEqual(json, { infohash: { v1: v1.toLowerCase(), v2: null }, magnet: links[0]?.trim() });
    const garbage = await metainfo(['magnet', '-'], { cwd, input: `${v1}\nhello world\n${v2}\n` });
    assert.deepEqual([garbage.code, garbage.stdout], [2, links.join('')]);
    await metainfo(['create', 'album', '-q', '-o', v2], { cwd });
    assert.match((await metainfo(['magnet', v2], { cwd })).stdout, /&dn=album/);
    for (const wrong of [v1.slice(1), `${v1}0`, `x${v1.slice(1)}`])
      assert.equal((await metainfo(['magnet', wrong], { cwd })).code, 1, wrong);
  });

  it('prints the link of a torrent, and decodes a link', async (t) => {
    const cwd = await workFolder(t);
    await metainfo(['create', 'album', '-t', 'udp://t.example:1/x', '-w', 'http://w.example/'], { cwd });
    const { code, stdout, stderr } = await metainfo(['magnet', 'album.torrent'], { cwd });
    assert.deepEqual([code, stderr], [0, '']);
    const link = stdout.trim();
    assert.match(link, /^magnet:\?xt=urn:btih:[0-9a-f]{40}&xt=urn:btmh:1220[0-9a-f]{64}&dn=album&xl=\d+&tr=udp%3A/);
    const bare = await metainfo(['magnet', 'album.torrent', '--no-trackers', '--no-webseeds'], { cwd });
    assert.equal(bare.stdout.trim(), link.replace(/&tr=.*$/, ''));

    const decoded = await metainfo(['magnet', `${link}&x.pe=[::1]:2&so=0,2-3`], { cwd });
    assert.match(decoded.stdout, /^name {9}album\ninfohash v1 {2}[0-9a-f]{40}\n/);
    assert.match(
      decoded.stdout,
      /\ntracker {6}udp:\/\/t\.example:1\/x\nwebseed {6}http:\/\/w\.example\/\npeer {9}\[::1\]:2\nfiles {8}0,2-3\n$/,
    );
    const json = JSON.parse((await metainfo(['magnet', '--json', link], { cwd })).stdout);
    assert.deepEqual([json.displayName, json.trackers], ['album', ['udp://t.example:1/x']]);
    const own = JSON.parse((await metainfo(['magnet', '--json', 'album.torrent'], { cwd })).stdout);
    assert.deepEqual(own, { torrent: 'album.torrent', magnet: link });
  });

  it('omits an infohash of a hybrid, and selects files by path', async (t) => {
    const cwd = await workFolder(t);
    await metainfo(['create', 'album'], { cwd });
    const link = async (...args: string[]) =>
      (await metainfo(['magnet', 'album.torrent', ...args], { cwd })).stdout.trim();
    const both = await link();
    assert.equal(await link('--no-v2'), both.replace(/&xt=urn:btmh:[0-9a-f]+/, ''));
    assert.equal(await link('--no-v1'), both.replace(/xt=urn:btih:[0-9a-f]+&/, ''));
    // Index 0 is a.txt, and index 1 its pad file.
    assert.equal(await link('--select', './b/'), `${both}&so=2`);
    assert.equal(await link('--select', 'b/c.nfo', '--select', 'a.txt'), `${both}&so=0,2`);
    await metainfo(['create', 'album', '-k', 'v1', '-o', 'v1.torrent'], { cwd });
    for (const args of [
      ['v1.torrent', '--no-v1'],
      ['album.torrent', '--no-v1', '--no-v2'],
      ['v1.torrent', '--select', 'x'],
    ]) {
      const { code, stdout, stderr } = await metainfo(['magnet', ...args], { cwd });
      assert.deepEqual([code, stdout], [2, ''], `${args}`);
      assert.match(
        stderr,
        args.includes('--select') ? /no file or folder "x"/ : /--no-v1 would leave the link without an infohash/,
      );
    }
    assert.doesNotMatch((await metainfo(['magnet', 'v1.torrent', '--no-v2'], { cwd })).stdout, /btmh/);
  });

  it('warns of invalid parameters, and refuses them with --strict', async (t) => {
    const cwd = await workFolder(t);
    const link = `magnet:?xt=urn:btih:${'a'.repeat(40)}&dn=Caf%E9&so=5-2`;
    const { code, stdout } = await metainfo(['magnet', link], { cwd });
    assert.equal(code, 0);
    assert.match(stdout, /^name {9}Caf\ufffd\n.*\nwarning {6}dn: expected percent-encoded.*\nwarning {6}so: .*\n$/);
    const json = JSON.parse((await metainfo(['magnet', '--json', link], { cwd })).stdout);
    assert.deepEqual(
      json.warnings.map((issue: { code: string }) => issue.code),
      ['magnet_escape', 'magnet_select'],
    );
    assert.equal((await metainfo(['magnet', '--compat', ` ${link}\n`], { cwd })).code, 0);
    assert.equal((await metainfo(['magnet', '--strict', link], { cwd })).code, 2);
  });

  it('reports every problem of a link, and exits with 2', async (t) => {
    const cwd = await workFolder(t);
    const { code, stdout, stderr } = await metainfo(['magnet', '--strict', 'magnet:?xt=urn:btih:abc&x.pe=h'], { cwd });
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(
      stderr,
      /^error: This magnet link is not valid: xt: expected 40 hexadecimal or 32 base32 characters, .*; x\.pe: expected HOST:PORT/,
    );
    const absent = await metainfo(['magnet', 'absent.torrent'], { cwd });
    assert.equal(absent.code, 1);
  });
});
