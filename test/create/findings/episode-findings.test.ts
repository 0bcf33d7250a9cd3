import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SeasonPacks } from '../../../src/create/findings/episode-findings.ts';
import { withinCpu } from '../../support/timing.ts';

function findings(...files: string[]) {
  const packs = new SeasonPacks();
  for (const file of files) packs.add(file.split('/'));
  return packs.finish();
}

const found = (...files: string[]) => findings(...files).map(({ message }) => message);

/** Names of episodes: `{}` stands for the number, with two digits. */
const episodes = (name: string, ...numbers: number[]) =>
  numbers.map((n) => name.replace('{}', String(n).padStart(2, '0')));

describe('SeasonPacks', () => {
  it('finds gaps, in every usual form of names', () => {
    const [finding] = findings(...episodes('Show.Name.S01E{}.720p.mkv', 1, 2, 4));
    assert.deepEqual(
      [finding?.code, finding?.severity, finding?.path, finding?.message],
      ['missing_episodes', 'warning', null, 'Season 1 of "Show Name": episode 3 is missing.'],
    );
    for (const name of [
      'show name s1e{}.mkv',
      'Show Name - S01E{} - Title.mp4',
      'Show Name S01 E{}.avi',
      'show.name.s01ep{}.mkv',
      'Show Name - S01 - E{}.mkv',
      'show_name_1x{}.mkv',
      'Show Name [1x{}].MKV',
      'Show Name - Season 1 Episode {}.mkv',
      'Show.Name.S01E{}.1080p-AB/ab-name.mkv',
    ])
      assert.deepEqual(
        found(...episodes(name, 1, 2, 4)).map((text) => text.slice(-21)),
        ['episode 3 is missing.'],
        name,
      );
    assert.deepEqual(found(...episodes('S01E0{}.mkv', 10, 11, 13)), ['Season 1: episode 12 is missing.']);
  });

  it('says which, in a bounded text', () => {
    assert.deepEqual(found(...episodes('S01E{}.mkv', 1, 2, 91)), ['Season 1: episodes 3 to 90 are missing.']);
    assert.deepEqual(found(...episodes('S01E{}.mkv', 1, 3, 5, 6, 10)), [
      'Season 1: episodes 2, 4 and 7 to 9 are missing.',
    ]);
    const odd = Array.from({ length: 500 }, (_, i) => 2 * i + 1);
    assert.deepEqual(found(...episodes('S01E{}.mkv', ...odd)), [
      'Season 1: episodes 2, 4, 6, 8 and 495 more are missing.',
    ]);
    const [message = ''] = found(...episodes(`${'x'.repeat(100_000)}.S01E{}.mkv`, 1, 2, 4));
    assert.ok(message.length < 200);
  });

  it('misses episode 1 of a pack that begins with 2, and nothing before the second half of a season', () => {
    assert.deepEqual(found(...episodes('S01E{}.mkv', 2, 3, 4)), ['Season 1: episode 1 is missing.']);
    assert.deepEqual(found(...episodes('S01E{}.mkv', 5, 6, 7, 8)), []);
    assert.deepEqual(found(...episodes('S01E{}.mkv', 0, 1, 2, 3)), []);
  });

  it('counts all episodes of a file', () => {
    for (const file of [
      'S01E02-E04',
      'S01E02E03E04',
      'S01E02-04',
      'S01E02-S01E04',
      'S01E02.E03.E04',
      's01e02+e04',
      '1x02-1x04',
      '1x02x03x04',
    ])
      assert.deepEqual(found('S01E01.mkv', `${file}.mkv`, 'S01E05.mkv', 'S01E06.mkv'), [], file);
    assert.deepEqual(found('S01E01E02v2.mkv', 'S01E03v2.mkv', 'S01E04.mkv'), []);
    // These numbers are no episodes.
    for (const rest of ['x264', '-1080p', '.1080p', '-720p.x264', ' - 24'])
      assert.deepEqual(found(`S01E01${rest}.mkv`, `S01E02${rest}.mkv`, `S01E03${rest}.mkv`), [], rest);
  });

  it('takes each season and each show for itself', () => {
    assert.deepEqual(
      found(
        ...episodes('Season 1/Show S01E{}.mkv', 1, 2, 3),
        ...episodes('Season 2/Show S02E{}.mkv', 1, 3, 4),
        ...episodes('Show.S03E{}/Show.S03E01.mkv', 1),
      ),
      ['Season 2 of "Show": episode 2 is missing.'],
    );
    assert.equal(findings(...episodes('A/Season 2/S02E{}.mkv', 1, 2, 4))[0]?.path, 'A/Season 2');
    assert.deepEqual(found(...episodes('A S01E{}.mkv', 1, 2, 3), ...episodes('B S01E{}.mkv', 20, 21, 22)), []);
    assert.deepEqual(found(...episodes('A/S01E{}.mkv', 1, 2, 3), ...episodes('B/S01E{}.mkv', 20, 21, 22)), []);
  });

  it('stays silent about anything but packs, and wherever the missing episode may have another name', () => {
    const silent = [
      ['Show.S01E05.mkv', 'Sample/show.s01e05.sample.mkv', 'Subs/Show.S01E05.srt', 'Show.S01E05.nfo', 'Proof/p.jpg'],
      ['Show.S01E01.mkv', 'Show.S01E05.mkv'],
      // Specials, extras and samples.
      episodes('Show S00E{}.mkv', 1, 5, 9),
      [...episodes('Show S01E{}.mkv', 1, 2, 3), 'Sample/show.s01e09.mkv', 'Extras/Show S01E12.mkv'],
      // Dates, absolute numbers and sizes.
      ['Show.2024.05.01.mkv', 'Show.2024.05.02.mkv', 'Show.2024.05.06.mkv'],
      ['[Group] Show - 01 [1080p].mkv', '[Group] Show - 02 [1080p].mkv', '[Group] Show - 09 [1080p].mkv'],
      ['a 1920x1080.mkv', 'a 640x480.mkv', 'a 4x100m.mkv', 'a 16x9.mkv'],
      ['relay 4x100 a.mp4', 'relay 4x200 a.mp4', 'relay 4x400 a.mp4'],
      // No videos.
      episodes('Show.S01E{}.srt', 1, 2, 9),
      episodes('Show.S01E{}.mp3', 1, 2, 9),
      // The missing one has another name, or is with the extras.
      [...episodes('Show S01E{}.mkv', 1, 2, 4), 'The Show S01E03.mkv'],
      [...episodes('Show S01E{}.mkv', 1, 2, 4), 'Episode 3.mkv'],
      [...episodes('Show S01E{}.mkv', 1, 2, 4), 'Show S01E03 The Sample.mkv'],
      [],
      ['.mkv', 'S01E.mkv', 'E01.mkv', 'mkv'],
    ];
    for (const files of silent) assert.deepEqual(found(...files), [], files[0]);
    // More episodes are missing than videos without a number could be.
    assert.equal(found(...episodes('Show S01E{}.mkv', 1, 2, 5), 'Episode 3.mkv').length, 1);
    // Subtitles do not stand for their episode.
    assert.equal(found(...episodes('Show S01E{}.mkv', 1, 2, 4), 'Show S01E03.srt').length, 1);
  });

  it('finds mixed resolutions, sources and groups', () => {
    const mixed = (...files: string[]) =>
      findings(...files.map((file, i) => file.replace('{}', `S01E0${i + 1}`))).map(
        ({ code, message }) => `${code}: ${message}`,
      );
    const about = 'mixed_releases: Season 1 of "Show" mixes releases:';
    assert.deepEqual(mixed('Show.{}.720p.mkv', 'Show.{}.1080p.mkv', 'Show.{}.720p.mkv'), [`${about} 720p and 1080p.`]);
    assert.deepEqual(
      mixed('Show.{}.720p.WEB-DL.x264-AB.mkv', 'Show.{}.720p.HDTV.x264-AB.mkv', 'show.{}.720p.webrip.x264-ab.mkv'),
      [`${about} WEB and HDTV.`],
    );
    assert.deepEqual(
      mixed('Show.{}.1080p.WEB.H264-ONE.mkv', 'Show.{}.1080p.WEB.H264-TWO.mkv', 'Show.{}.1080p.WEB.H264-one.mkv'),
      [`${about} ONE and TWO.`],
    );
    const five = ['AA', 'BB', 'CC', 'DD', 'EE'].map((group) => `Show.{}.1080p.WEB.H264-${group}.mkv`);
    assert.deepEqual(mixed(...five), [`${about} AA, BB, CC, DD and 1 more.`]);
    assert.deepEqual(mixed('Show.{}.720p.mkv', 'Show.{}.1080p.mkv'), [`${about} 720p and 1080p.`]);
    const folder = (group: string) => `Show.{}.1080p-${group}/show.{}.1080p-${group}.mkv`;
    assert.equal(
      findings(...['AB', 'AB', 'CD'].map((group, i) => folder(group).replaceAll('{}', `S01E0${i + 1}`)))[0]?.code,
      'mixed_releases',
    );
  });

  it('takes no words of titles for properties of a release', () => {
    for (const files of [
      // Hyphens in titles, and files without a group.
      ['Show - S01E01 - X-Ray.mkv', 'Show - S01E02 - Spider-Man.mkv', 'Show - S01E03 - Ant-Man.mkv'],
      ['Show.S01E01.1080p.WEB-DL.mkv', 'Show.S01E02.1080p.WEB-DL.mkv', 'Show.S01E03.1080p.DTS-HD.WEB.mkv'],
      ['Show.S01E01.720p.HDTV.x264-AB.mkv', 'Show.S01E02.720p.HDTV.x264.mkv', 'Show.S01E03.720p.HDTV.x264-CD.mkv'],
      [
        'Show.S01E01.The.Web.720p.HDTV.x264-AB.mkv',
        'Show.S01E02.720p.HDTV.x264-AB.mkv',
        'Show.S01E03.720p.HDTV.x264-AB.mkv',
      ],
      ['Show.S01E01.Web.mkv', 'Show.S01E02.HDTV.mkv', 'Show.S01E03.HDTV.mkv'],
      // A sample, a repack, two folders of one release each.
      ['Show.S01E01.720p.mkv', 'Show.S01E02.720p.REPACK.mkv', 'Show.S01E03.720p.mkv', 'Sample/Show.S01E01.480p.mkv'],
      [...episodes('720p/Show.S01E{}.720p.mkv', 1, 2, 3), ...episodes('1080p/Show.S01E{}.1080p.mkv', 1, 2, 3)],
      // One episode, and parts of it.
      ['Show.S01E01.720p.mkv', 'Show.S01E01.1080p.mkv'],
      ['Show.S01E01a.mkv', 'Show.S01E01b.mkv', 'Show.S01E02.mkv', 'Show.S01E03.mkv'],
    ])
      assert.deepEqual(found(...files), [], files[0]);
  });

  it('lists at most 100 seasons, and takes linear time for hostile names', () => {
    const shows = Array.from({ length: 150 }, (_, i) => episodes(`Show ${i} S01E{}.mkv`, i + 1, i + 2, 9000)).flat();
    assert.deepEqual([findings(...shows).length, findings(...shows).at(-1)?.count], [101, 50]);
    const hostile = ['-', 's', 's01', 'S01E01', '-[', 'e1', '720p', 'x-1', ' ', 'S01E01E', '[-a', 'sample'];
    withinCpu(20, () => {
      for (const text of hostile) found(`${text.repeat(100_000)}.mkv`, `S01E01${text.repeat(100_000)}.mkv`);
      const packs = new SeasonPacks();
      for (let i = 0; i < 100_000; i += 1) packs.add([`Show ${i % 5000} S${i % 90}E${(i * 7) % 9000}.mkv`]);
      packs.finish();
    });
  });
});
