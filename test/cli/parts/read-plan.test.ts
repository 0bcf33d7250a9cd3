import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openingOf } from '../../../src/cli/parts/read-plan.ts';
import { noFiles, type TorrentPlan } from '../../../src/parts/plan.ts';
import { parseS3Url } from '../../../src/sources/s3-file.ts';

/** Whether the plan of an object is opened if some hosts are allowed. */
function opens(url: string, ...allowHost: string[]): boolean {
  const plan = { files: { ...noFiles(), objects: { 0: { etag: null, url } } } } as unknown as TorrentPlan;
  try {
    return openingOf(plan, { allowHost }).open !== undefined;
  } catch (error) {
    assert.equal((error as { code: string }).code, 'ERR_PLAN');
    return false;
  }
}

test('--allow-host takes every bucket name that s3:// takes, and no other bucket', () => {
  const names = ['jobs', 'Jobs', 'my_Bucket', 'my.bucket', '127.0.0.1', '1.2', '0x7f', '12', 'a-', 'a..b', 'a--x-s3'];
  for (const name of [...names, `A${'_'.repeat(254)}`]) {
    const url = `s3://${name}/films/my film?#%.mkv`;
    assert.equal(parseS3Url(url).bucket, name);
    assert.ok(opens(url, name), name);
    assert.ok(opens(url, 'other', name), name);
    assert.ok(!opens(url), name);
    assert.ok(!opens(url, 'other', `${name}x`, name.slice(0, -1)), name);
  }
  // They are different buckets.
  assert.ok(!opens('s3://Jobs/a', 'jobs'));
  assert.ok(!opens('s3://jobs/a', 'Jobs'));
});

test('--allow-host takes a host in any of its forms, for all ports or for one', () => {
  const yes: [url: string, host: string][] = [
    ['https://a.example/x', 'A.Example'],
    ['https://a.example/x', 'a.example:443'],
    ['http://a.example:80/x', 'a.example:80'],
    ['http://a.example:8080/x', 'a.example'],
    ['http://a.example:8080/x', 'a.example:8080'],
    ['http://bücher.example/x', 'BÜCHER.example'],
    ['http://bücher.example/x', 'xn--bcher-kva.example'],
    ['http://[::1]:9000/x', '[::1]'],
    ['http://[::1]:9000/x', '[0:0:0:0:0:0:0:1]:9000'],
    ['http://a_b.example./x', 'a_b.example.'],
  ];
  for (const [url, host] of yes) assert.ok(opens(url, host), `${url} ${host}`);
  const no: [url: string, host: string][] = [
    ['https://a.example:8443/x', 'a.example:443'],
    ['http://a.example/x', 'a.example:443'],
    ['https://a.example/x', 'b.example'],
    ['https://a.example/x', 'example'],
    ['https://a.example.evil.example/x', 'a.example'],
    ['https://a.example@evil.example/x', 'a.example'],
    ['https://a.example/x', ''],
    ['https://a.example/x', 'a example'],
    ['s3://a.example/x', 'a.example:443'],
  ];
  for (const [url, host] of no) assert.ok(!opens(url, host), `${url} ${host}`);
});
