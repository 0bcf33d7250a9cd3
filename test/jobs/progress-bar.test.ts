import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type BarState, type BarStream, progressBar } from '../../src/jobs/progress-bar.ts';

const MIB = 2 ** 20;
const CLEAR = '\r\u001b[K';

/** A bar on a stream that records its output. */
function fake(stream: Omit<BarStream, 'write'>) {
  const written: string[] = [];
  const bar = progressBar({ ...stream, write: (text) => written.push(text) });
  const update = (seconds: number, state: Partial<BarState> = {}) =>
    bar.update({ bytes: seconds * MIB, totalBytes: 100 * MIB, file: 'a.bin', seconds, queued: 0, ...state });
  return { bar, update, written };
}

/** The text that a terminal of a hundred columns shows for one state. */
function shown(state: Partial<BarState>, columns = 100): string {
  const { update, written } = fake({ isTTY: true, columns });
  update(25, state);
  const [text = ''] = written;
  assert.equal(written.length, 1);
  assert.ok(text.startsWith(CLEAR));
  return text.slice(CLEAR.length);
}

for (const isTTY of [true, false]) {
  describe(`a progress bar, ${isTTY ? 'on a terminal' : 'elsewhere'}`, () => {
    it('shows nothing for a job that ends within a second', () => {
      const { bar, update, written } = fake({ isTTY });
      for (const seconds of [0, 0.5, 0.999]) update(seconds);
      bar.finish();
      assert.deepEqual(written, []);
    });
  });
}

describe('a progress bar on a terminal', () => {
  it('shows only bytes and rate while the total grows', () => {
    assert.equal(shown({ totalGrows: true }), '25 MiB  1 MiB/s  a.bin');
    assert.equal(shown({ totalGrows: true, queued: 1 }), '25 MiB  waiting for another job  a.bin');
  });

  it('shows the bytes that have arrived, which may be more than the hashed ones', () => {
    assert.equal(shown({ totalGrows: true, arrivedBytes: 50 * MIB }), '50 MiB  2 MiB/s  a.bin');
    assert.match(shown({ arrivedBytes: 50 * MIB }), /50 % {2}50 MiB of 100 MiB {2}2 MiB\/s/);
  });

  it('shows that it waits for other jobs, instead of a rate', () => {
    assert.match(shown({ queued: 1 }), /25 % {2}25 MiB of 100 MiB {2}waiting for another job {2}/);
    assert.match(shown({ queued: 12 }), / {2}waiting for 12 other jobs {2}/);
    assert.doesNotMatch(shown({ queued: 0 }), /waiting/);
  });

  it('says that a file is read again, and when', () => {
    const retrying = { path: '/a.bin', code: 'ESTALE', attempt: 2, seconds: 2 };
    const { update, written } = fake({ isTTY: true, columns: 100 });
    update(25, { retrying });
    assert.match(written[1] ?? '', /25 MiB of 100 MiB {2}ESTALE: reading again in 2 s {2}/);
  });

  it('writes each attempt to read a file again above itself, once', () => {
    const { update, written } = fake({ isTTY: true, columns: 60 });
    const retrying = { path: '/mnt/\u001b.bin', code: 'EIO', attempt: 1, seconds: 1 };
    for (const seconds of [1, 2]) update(seconds);
    for (const seconds of [3, 4]) update(seconds, { retrying });
    update(5, { retrying: { ...retrying, attempt: 2, seconds: 2 } });
    const lines = written.filter((text) => text.endsWith('\n'));
    assert.deepEqual(lines, [
      `${CLEAR}/mnt/\\x1b.bin: EIO, reading again in 1 s (attempt 1 of 3)\n`,
      `${CLEAR}/mnt/\\x1b.bin: EIO, reading again in 2 s (attempt 2 of 3)\n`,
    ]);
  });

  it('shows the rate of the last ten seconds, and the time left at that rate', () => {
    const { update, written } = fake({ isTTY: true, columns: 60 });
    for (let seconds = 1; seconds <= 30; seconds += 1) update(seconds, { bytes: Math.min(seconds, 10) * 4 * MIB });
    for (let seconds = 31; seconds <= 40; seconds += 1) update(seconds, { bytes: (seconds + 10) * MIB });
    assert.match(written.at(-1) ?? '', / {2}50 MiB of 100 MiB {2}1 MiB\/s {2}50 s left$/);
    assert.match(written[9] ?? '', /40 MiB of 100 MiB {2}4 MiB\/s {2}15 s left$/);
  });

  it('says that no data comes, since when and in which file, also where there is little room', () => {
    const { update, written } = fake({ isTTY: true, columns: 80 });
    const state = { bytes: 20 * MIB, file: 'b/f2.bin' };
    for (const seconds of [1, 2, 6.9, 14]) update(seconds, seconds < 2 ? { ...state, bytes: MIB } : state);
    assert.doesNotMatch(written[2] ?? '', /no data/);
    assert.match(written[3] ?? '', /20 MiB of 100 MiB {2}no data for 12 s: b\/f2\.bin$/);
    assert.equal(shown({ bytes: 0, file: 'folder/b/f2.bin' }, 41), '  0 %  no data for 25 s: folder/b/f2.bin');
    assert.ok(!shown({ bytes: 0, queued: 1 }).includes('no data'));
    assert.ok(!shown({ bytes: 0, totalBytes: 0 }).includes('no data'));
  });

  it('does not count what an earlier run has done', () => {
    const { update, written } = fake({ isTTY: true, columns: 60 });
    update(0, { bytes: 50 * MIB });
    update(5, { bytes: 55 * MIB });
    assert.match(written[0] ?? '', / 1 MiB\/s {2}45 s left$/);
  });

  it('drops the bar and the total first where there is no room', () => {
    assert.equal(shown({}, 54), ' 25 %  25 MiB of 100 MiB  1 MiB/s  1:15 left');
    assert.equal(shown({}, 40), ' 25 %  25 MiB  1 MiB/s  1:15 left');
    assert.equal(shown({}, 30), ' 25 %  25 MiB  1:15 left');
    assert.equal(shown({}, 20), ' 25 %  1:15 left');
    assert.equal(shown({}, 10), ' 25 %');
  });

  it('keeps the time left in 40 columns, however many jobs there are', () => {
    const jobs = { ended: 123_456, failed: 1234, count: 1_234_567 };
    assert.equal(shown({ jobs }, 40), '123456 of 1234567 done  1:15 left');
    assert.match(shown({ jobs, totalBytes: 2 ** 40, queued: 12 }, 40), / {2}\d+:\d\d:\d\d left$/);
  });

  it('is as wide as COLUMNS says, but never wider than the terminal', (t) => {
    const before = process.env['COLUMNS'];
    t.after(() => {
      if (before === undefined) delete process.env['COLUMNS'];
      else process.env['COLUMNS'] = before;
    });
    process.env['COLUMNS'] = '40';
    assert.equal(shown({}), ' 25 %  25 MiB  1 MiB/s  1:15 left');
    assert.equal(shown({}, 20), ' 25 %  1:15 left');
    for (const columns of ['', '0', 'x', '-1']) {
      process.env['COLUMNS'] = columns;
      assert.match(shown({}), /^█{6}.* a\.bin$/);
    }
  });

  it('counts jobs instead of a percentage', () => {
    const jobs = { ended: 12, failed: 0, count: 40 };
    const file = 'lib/album: track.flac';
    assert.equal(
      shown({ jobs, file }, 80),
      '██░░░░░░  12 of 40 done  25 MiB of 100 MiB  1 MiB/s  1:15 left  …um: track.flac',
    );
    assert.equal(shown({ jobs, file }, 40), '12 of 40 done  25 MiB  1:15 left');
    assert.match(
      shown({ jobs: { ...jobs, failed: 2 }, file }, 160),
      /^█{6}░{18} {2}12 of 40 done {2}2 failed {2}25 MiB of/,
    );
    const likely = shown({ jobs, totalBytes: null, likelyBytes: 50 * MIB }, 70);
    assert.equal(likely, '████░░░░  12 of 40 done  25 MiB  1 MiB/s  25 s left  a.bin');
    assert.equal(shown({ jobs: { ...jobs, count: null }, totalBytes: null, file: '' }), '12 done  25 MiB  1 MiB/s');
  });

  it('shows the share, rate, time left and file', () => {
    assert.equal(shown({}), `${'█'.repeat(6)}${'░'.repeat(18)}   25 %  25 MiB of 100 MiB  1 MiB/s  1:15 left  a.bin`);
  });

  it('redraws itself at every update, and removes itself once', () => {
    const { bar, update, written } = fake({ isTTY: true, columns: 100 });
    for (const seconds of [1, 1.1, 1.2]) update(seconds);
    assert.equal(written.length, 3);
    for (const text of written) assert.ok(text.startsWith(CLEAR) && !text.includes('\n'));
    bar.finish();
    bar.finish();
    assert.deepEqual(written.slice(3), [CLEAR]);
  });

  it('fills with the progress, and rounds the percentage down', () => {
    assert.match(shown({ bytes: 0 }), /^░{24} {4}0 %/);
    assert.match(shown({ bytes: 99.99 * MIB }), /^█{24} {3}99 %/);
    assert.match(shown({ bytes: 100 * MIB }), /^█{24} {2}100 % .*\b0 s left/);
  });

  it('shows no rate and no remaining time before the first byte', () => {
    assert.equal(shown({ bytes: 0, seconds: 2 }), `${'░'.repeat(24)}    0 %  0 B of 100 MiB  a.bin`);
  });

  it('shows no rate of less than one KiB a second', () => {
    assert.doesNotMatch(shown({ bytes: 1, totalBytes: 1, seconds: 2 }), /B\/s/);
    assert.match(shown({ bytes: 2048, totalBytes: 2048, seconds: 2 }), / 1 KiB\/s /);
  });

  it('is full when there is nothing to do', () => {
    assert.match(shown({ bytes: 0, totalBytes: 0 }), /^█{24} {2}100 %/);
  });

  it('escapes a hostile name', () => {
    const text = shown({ file: 'a\u001b[2J\n\u202e' }, 120);
    assert.ok(text.endsWith('  a\\x1b[2J\\x0a\\u202e'), text);
  });

  it('cuts a long name at its beginning, and omits it if there is no room', () => {
    const file = `${'folder/'.repeat(20)}end.bin`;
    assert.match(shown({ file }), /left {2}…[^ ]*folder\/end\.bin$/);
    assert.match(shown({ file }, 64), /^█.*left$/);
  });

  it('assumes 80 columns if the terminal does not tell', () => {
    const { update, written } = fake({ isTTY: true });
    update(25, { file: 'x'.repeat(200) });
    assert.ok((written[0]?.length ?? 0) - CLEAR.length < 80);
  });

  const state = fc.record({
    bytes: fc.nat(100 * MIB),
    file: fc.string({ unit: 'grapheme-ascii', maxLength: 200 }),
    seconds: fc.integer({ min: 1, max: 100_000 }),
    totalBytes: fc.option(fc.nat(2 ** 50)),
    jobs: fc.option(fc.record({ ended: fc.nat(1e7), failed: fc.nat(1e7), count: fc.option(fc.nat(1e7)) }), {
      nil: undefined,
    }),
  });
  it('never reaches the last column, so that no line wraps', () => {
    fc.assert(
      fc.property(state, fc.integer({ min: 2, max: 200 }), (given, columns) => {
        assert.ok(shown(given, columns).length < columns);
      }),
    );
  });

  it('counts two columns for a wide character', () => {
    const text = shown({ file: '日本語'.repeat(30) }, 120);
    assert.ok(text.length + (text.match(/[日本語]/g)?.length ?? 0) < 120, text);
  });

  it('does not cut a character in two', () => {
    for (const columns of [100, 101]) assert.ok(shown({ file: '😀'.repeat(60) }, columns).isWellFormed());
  });
});

describe('a progress bar elsewhere', () => {
  it('writes a line a minute at most', () => {
    const { bar, update, written } = fake({});
    for (let tenths = 0; tenths <= 1300; tenths += 1) update(tenths / 10);
    bar.finish();
    assert.deepEqual(written, [
      '  1 %  1 MiB of 100 MiB  1 MiB/s  1:39 left\n',
      ' 61 %  61 MiB of 100 MiB  1 MiB/s  39 s left\n',
      '100 %  121 MiB of 100 MiB  1 MiB/s  0 s left\n',
    ]);
  });
});
